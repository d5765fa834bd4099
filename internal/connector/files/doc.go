// Package files is what all file formats have in common as sources: which files a table consists of, in batch and as a stream, how
// they are cut into splits, and the columns that come from a file's name rather than its content.
//
// It owns listing (globs, hidden names, partition directories, the logs of file sinks), the file stream source with its log,
// compression by file extension, and cutting text into pieces of whole lines. A format adds a Kind: how one piece of one file is
// read. The package knows no format.
//
// It is tested with real files in temporary directories, and with faulty file systems.
package files
