package catalog

import (
	"errors"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Beside makes a folder for rows that are to take the place of a table's. It is followed by Replace or by Abandon; after a crash the table
// is what it was, and the folder goes.
func (c *Catalog) Beside(t Table) (folder string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ready(); err != nil {
		return "", err
	}
	old, ok := c.tables[key(t.Database)][key(t.Name)]
	if !ok {
		return "", errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(Name, t.Database, t.Name))
	}
	file := c.tableFile(t.Database, t.Name)
	folder = filepath.Join(filepath.Dir(t.Location), "."+fileName(t.Name)+"-"+uuid.NewString())
	s := storedAs(old)
	s.Leftover = folder
	if err := c.write(file, s); err != nil {
		return "", err
	}
	c.beside[file] = folder
	return folder, fs.MakeDirs(c.fsys, folder)
}

// Replace puts a table in the place of that of its name. Files that lie in a folder of Beside become those of the new table; an empty folder
// says that they are where they belong. Files of the old table go, when they were its own.
func (c *Catalog) Replace(t Table, folder string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	file := c.tableFile(t.Database, t.Name)
	tables := c.tables[key(t.Database)]
	old := tables[key(t.Name)]
	s := storedAs(t)
	switch {
	case folder != "":
		s.From, s.Leftover = folder, t.Location
	case old.Kind == Managed && old.Location != t.Location:
		s.Leftover = old.Location
	}
	if err := c.write(file, s); err != nil {
		return err
	}
	// From here on the table is the new one, whatever fails.
	delete(c.beside, file)
	tables[key(t.Name)] = t
	if s.Leftover == "" {
		return nil
	}
	if err := c.clear(file, s); err != nil {
		if _, serr := c.fsys.Stat(folder); folder != "" && serr == nil { // the files have not moved
			t.Location = folder
			tables[key(t.Name)] = t
		}
		c.unsettled = append(c.unsettled, remains{file: file, table: &s})
		return err
	}
	return nil
}

// Abandon gives up a folder of Beside. The table is what it was.
func (c *Catalog) Abandon(t Table, folder string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	file := c.tableFile(t.Database, t.Name)
	if c.beside[file] != folder {
		return nil
	}
	if err := c.removeFiles(folder); err != nil {
		return err
	}
	delete(c.beside, file)
	if now, ok := c.tables[key(t.Database)][key(t.Name)]; ok {
		return c.write(file, storedAs(now))
	}
	return nil
}

// clear removes the folder that a table has left over, and moves the table's files to where they belong when that was there. It may be
// called again after any error. The lock is held.
func (c *Catalog) clear(file string, s stored) error {
	if s.Leftover != s.Location {
		if err := c.removeFiles(s.Leftover); err != nil {
			return err
		}
	} else if _, err := c.fsys.Stat(s.From); err == nil {
		if err := c.removeFiles(s.Leftover); err != nil {
			return err
		}
		if _, err := c.move(s.From, s.Location); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if err := c.fsys.SyncDir(filepath.Dir(s.Location)); err != nil { // they have moved; make sure that they stay
		return err
	}
	s.From, s.Leftover = "", ""
	if err := c.write(file, s); err != nil {
		return err
	}
	c.tables[key(s.Database)][key(s.Name)] = s.Table
	return nil
}
