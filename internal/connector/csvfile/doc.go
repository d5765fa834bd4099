// Package csvfile is the file format csv.
//
// It owns how options, files and package csvrow come together. Listing and streams are those of package files, what becomes of
// written files is filesink's.
//
// It is tested with real files through the interfaces of packages source and sink.
package csvfile
