package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/types"
)

// A change is one file that is replaced or removed, durably, so a crash leaves what was there before or what there is after. Four changes
// have more to do than that, and write into the table's file first what they are about:
//
//   - a table that is filled before it is to be seen is doomed until it is full,
//   - a managed table that is dropped is doomed before its files go,
//   - a table that is renamed has its new name, in its old file, before its files move,
//   - a table that is replaced says where the new rows are being written; when they are there, that they are its rows, which one write
//     does; and only then the old ones go.
//
// Who reads a warehouse passes over the doomed, finds the files of a table at either place, and changes nothing: another process may
// be at work. Who changes it first tidies up what a crash has left.

// stored is a table as its file has it.
type stored struct {
	Table
	Schema json.RawMessage `json:"schema"`
	// Doomed is set while the table is not full, or no longer: then it is none.
	Doomed bool `json:"doomed,omitempty"`
	// From is where the files lie when they are not at Location yet.
	From string `json:"from,omitempty"`
	// Leftover is a folder that has to go: new rows that nobody has waited for, or the old rows of a table that has new ones. When it
	// is the Location, the files at From take its place.
	Leftover string `json:"leftover,omitempty"`
}

func storedAs(t Table) stored { return stored{Table: t, Schema: json.RawMessage(types.JSON(t.Schema))} }

// remains are what a crash has left: a file or folder that is to be renamed, or removed when there is no name for it, and before that the
// folder files. Or else the file of a table that is there, with a folder that has to go.
type remains struct {
	file, name, files string
	table             *stored
}

// loadTable reads the file of a table.
func (c *Catalog) loadTable(db, file string) error {
	b, err := fs.ReadFile(c.fsys, file)
	if err != nil {
		return err
	}
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s.Doomed {
		r := remains{file: file}
		if s.Kind == Managed {
			r.files = s.Location
		}
		c.unsettled = append(c.unsettled, r)
		return nil
	}
	schema, err := types.ParseJSON(s.Schema)
	if err != nil {
		return err
	}
	if st, ok := schema.(types.StructType); ok {
		s.Table.Schema = st
	}
	if s.Leftover != "" {
		left := s
		c.unsettled = append(c.unsettled, remains{file: file, table: &left})
	}
	if s.From != "" {
		switch _, err := c.fsys.Stat(s.From); {
		case err == nil:
			s.Location = s.From
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	if name := c.tableFile(db, s.Name); name != file {
		c.unsettled = append(c.unsettled, remains{file: file, name: name})
	}
	c.tables[db][key(s.Name)] = s.Table
	return nil
}

// ready is what comes before every change: the files are read, and what a crash has left is tidied up. The lock is held.
func (c *Catalog) ready() error {
	if err := c.load(); err != nil {
		return err
	}
	return c.settle()
}

// settle tidies up before the first change. The lock is held.
func (c *Catalog) settle() error {
	for len(c.unsettled) > 0 {
		r := c.unsettled[0]
		if r.table != nil {
			if err := c.clear(r.file, *r.table); err != nil {
				return err
			}
			c.unsettled = c.unsettled[1:]
			continue
		}
		if r.files != "" {
			if err := c.removeFiles(r.files); err != nil {
				return err
			}
		}
		var err error
		if r.name != "" {
			err = c.fsys.Rename(r.file, r.name)
		} else {
			err = c.fsys.RemoveAll(r.file)
		}
		if err == nil {
			err = c.fsys.SyncDir(filepath.Dir(r.file))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		c.unsettled = c.unsettled[1:]
	}
	return nil
}

// Create adds a table, or replaces one of its name.
func (c *Catalog) Create(t Table, replace bool) error { return c.create(t, replace, false) }

// Begin adds a table whose rows are still to come: it is there for this process, and for others from the Create on that replaces it.
func (c *Catalog) Begin(t Table) error { return c.create(t, false, true) }

func (c *Catalog) create(t Table, replace, doomed bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ready(); err != nil {
		return err
	}
	db, k := key(t.Database), key(t.Name)
	tables, ok := c.tables[db]
	if !ok {
		return errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(Name, t.Database))
	}
	file := c.tableFile(db, k)
	if _, taken := tables[k]; taken && !replace || c.leaving[file] {
		return alreadyExists(t)
	}
	s := storedAs(t)
	s.Doomed, s.Leftover = doomed, c.beside[file]
	if err := c.write(file, s); err != nil {
		return err
	}
	tables[k] = t
	return nil
}

func alreadyExists(t Table) error {
	return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(Name, t.Database, t.Name))
}

// Vacant tells, as an error, that a new managed table would find files of something else at its place.
func (c *Catalog) Vacant(t Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ready(); err != nil {
		return err
	}
	entries, err := c.fsys.ReadDir(t.Location)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(entries) > 0 {
		err = errclass.New("LOCATION_ALREADY_EXISTS", "identifier", errclass.Ident(Name, t.Database, t.Name), "location", "'"+fs.ShortURI(t.Location)+"'")
	}
	return err
}

// Drop removes a table and returns it. The files of a managed table go with it.
func (c *Catalog) Drop(db, name string) (t Table, ok bool, err error) {
	file := c.tableFile(db, name)
	if t, ok, err = c.doom(db, name); err != nil || !ok {
		return t, ok, err
	}
	// Files may be many: meanwhile others can use the catalog.
	if t.Kind == Managed {
		err = c.removeFiles(t.Location)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.leaving, file)
	if err == nil {
		err = c.remove(file)
	}
	if err != nil && t.Kind != Managed {
		c.tables[key(db)][key(name)] = t // nothing has come of it
	}
	return t, true, err
}

// doom makes a table unknown.
func (c *Catalog) doom(db, name string) (t Table, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ready(); err != nil {
		return t, false, err
	}
	if t, ok = c.tables[key(db)][key(name)]; !ok {
		return t, false, nil
	}
	file := c.tableFile(db, name)
	if t.Kind == Managed {
		s := storedAs(t)
		s.Doomed = true
		if err := c.write(file, s); err != nil {
			return t, false, err
		}
	}
	delete(c.tables[key(db)], key(name))
	c.leaving[file] = true
	return t, true, nil
}

// Rename puts a changed table in the place of one of another name. Its files move when its location is another.
func (c *Catalog) Rename(db, name string, t Table) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.ready(); err != nil {
		return err
	}
	tables, from, to := c.tables[key(db)], c.tableFile(db, name), c.tableFile(db, t.Name)
	old, ok := tables[key(name)]
	if !ok {
		return errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(Name, db, name))
	}
	if _, taken := tables[key(t.Name)]; from != to && (taken || c.leaving[to]) {
		return alreadyExists(t)
	}
	s := storedAs(t)
	var moving error
	if old.Location != t.Location {
		s.From = old.Location
		if err := c.write(from, s); err != nil {
			return err
		}
		var moved bool
		if moved, moving = c.move(old.Location, t.Location); !moved {
			return errors.Join(moving, c.write(from, storedAs(old)))
		}
		s.From = ""
	}
	// Nothing that fails from here on undoes the new name.
	err := c.write(from, s)
	if err != nil && old.Location == t.Location {
		return err
	}
	delete(tables, key(name))
	tables[key(t.Name)] = t
	if from != to {
		c.unsettled = append(c.unsettled, remains{file: from, name: to})
	}
	return errors.Join(moving, err, c.settle())
}

// move moves a folder, if it is there. It may have done so although there is an error.
func (c *Catalog) move(from, to string) (moved bool, err error) {
	if err := c.fsys.Rename(from, to); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		return false, err
	}
	for _, dir := range slices.Compact([]string{filepath.Dir(to), filepath.Dir(from)}) {
		if err := c.fsys.SyncDir(dir); err != nil {
			return true, err
		}
	}
	return true, nil
}

// removeFiles removes the folder of a table, durably: without the table's file nobody would know whose it is.
func (c *Catalog) removeFiles(folder string) error {
	if err := c.fsys.RemoveAll(folder); err != nil {
		return err
	}
	if err := c.fsys.SyncDir(filepath.Dir(folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// write makes what is known durable.
func (c *Catalog) write(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := fs.MakeDirs(c.fsys, filepath.Dir(name)); err != nil {
		return err
	}
	return fs.Replace(context.Background(), c.fsys, name, append(b, '\n'))
}

// remove removes a file, if it is there, durably.
func (c *Catalog) remove(name string) error {
	if err := c.fsys.Remove(name); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return c.fsys.SyncDir(filepath.Dir(name))
}
