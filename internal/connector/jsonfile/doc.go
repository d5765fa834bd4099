// Package jsonfile is the file format json: one record a line, or one document a file.
//
// It owns how options, files and package jsonrow come together. Listing and streams are those of package files.
//
// It is tested with real files through the interfaces of package source.
package jsonfile
