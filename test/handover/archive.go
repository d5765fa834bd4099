package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// anywhere stands in archives for the folder that they were made of: logs hold absolute paths.
const anywhere = "/@dir@"

// pack makes an archive of a folder, with the times of its files.
func pack(dir, name string) (err error) {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	z := zip.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".crc") {
			return err // checksums would not fit once paths are replaced; Spark does without
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: filepath.ToSlash(rel), Method: zip.Deflate, Modified: info.ModTime().UTC()})
		if err != nil {
			return err
		}
		_, err = w.Write(bytes.ReplaceAll(content, []byte(dir), []byte(anywhere)))
		return err
	})
	return errors.Join(err, z.Close())
}

// unpack makes a folder of an archive.
func unpack(name, dir string) error {
	z, err := zip.OpenReader(name)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		if !filepath.IsLocal(f.Name) {
			return errors.New(f.Name + " lies outside of the archive")
		}
		r, err := f.Open()
		if err != nil {
			return err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		content = bytes.ReplaceAll(content, []byte(anywhere), []byte(filepath.ToSlash(dir)))
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(path, f.Modified, f.Modified); err != nil {
			return err
		}
	}
	return nil
}
