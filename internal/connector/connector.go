package connector

import (
	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/connector/jsonfile"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/source"
)

// RegisterAll makes the connectors known, over the local file system.
func RegisterAll() { Register(fs.Local()) }

// Register makes the connectors known, with files on fsys.
func Register(fsys fs.FS) {
	source.Register("json", files.Format{Kind: jsonfile.Kind{}, FS: fsys})
}
