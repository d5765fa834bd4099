package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/types"
)

// Name is the name of the only catalog, Default that of the database which is always there.
const (
	Name    = "spark_catalog"
	Default = "default"
)

// Kind is the kind of a table.
type Kind string

// The kinds. The files of a managed table go with it.
const (
	Managed  Kind = "MANAGED"
	External Kind = "EXTERNAL"
	View     Kind = "VIEW"
)

// Database is a namespace of tables.
type Database struct {
	Name       string            `json:"name"`
	Comment    string            `json:"comment,omitempty"`
	Location   string            `json:"location"`
	Properties map[string]string `json:"properties,omitempty"`
}

// Table is a table or a view.
type Table struct {
	Database    string            `json:"database"`
	Name        string            `json:"name"`
	Kind        Kind              `json:"kind"`
	Schema      types.StructType  `json:"-"`
	Format      string            `json:"format,omitempty"`
	Location    string            `json:"location,omitempty"`
	PartitionBy []string          `json:"partitionBy,omitempty"`
	Options     map[string]string `json:"options,omitempty"`
	Properties  map[string]string `json:"properties,omitempty"`
	Comment     string            `json:"comment,omitempty"`
	Created     time.Time         `json:"created"`
	// Text is a view's query.
	Text string `json:"text,omitempty"`
}

// stored is a table as its file has it.
type stored struct {
	Table
	Schema json.RawMessage `json:"schema"`
}

// Catalog is the databases and tables of a warehouse. It is safe for use by several goroutines.
type Catalog struct {
	fsys fs.FS
	root string

	mu        sync.Mutex
	loaded    bool
	databases map[string]Database         // by lower-case name
	tables    map[string]map[string]Table // by lower-case database and name
}

// Open returns the catalog of a warehouse. Its files are read when they are first needed.
func Open(fsys fs.FS, warehouse string) *Catalog {
	if abs, err := filepath.Abs(warehouse); err == nil {
		warehouse = abs
	}
	return &Catalog{fsys: fsys, root: warehouse}
}

// Warehouse is the directory of the default database.
func (c *Catalog) Warehouse() string { return c.root }

func key(name string) string { return strings.ToLower(name) }

// fileName is the name of the file about a table or database.
func fileName(name string) string { return url.PathEscape(key(name)) }

const databaseFile = "_database.json"

func (c *Catalog) dir(db string) string { return filepath.Join(c.root, "_catalog", fileName(db)) }

func (c *Catalog) tableFile(db, name string) string {
	return filepath.Join(c.dir(db), fileName(name)+".json")
}

// load reads what is there. The lock is held.
func (c *Catalog) load() error {
	if c.loaded {
		return nil
	}
	c.databases = map[string]Database{Default: {Name: Default, Comment: "default database", Location: c.root}}
	c.tables = map[string]map[string]Table{Default: {}}
	dirs, err := c.fsys.ReadDir(filepath.Join(c.root, "_catalog"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, d := range dirs {
		if err := c.loadDatabase(filepath.Join(c.root, "_catalog", d.Name()), d.Name()); err != nil {
			return err
		}
	}
	c.loaded = true
	return nil
}

func (c *Catalog) loadDatabase(dir, escaped string) error {
	db, err := url.PathUnescape(escaped)
	if err != nil {
		return nil // not one of ours
	}
	if b, err := fs.ReadFile(c.fsys, filepath.Join(dir, databaseFile)); err == nil {
		var d Database
		if err := json.Unmarshal(b, &d); err != nil {
			return err
		}
		c.databases[db] = d
	}
	if c.tables[db] == nil {
		c.tables[db] = map[string]Table{}
	}
	files, err := c.fsys.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if f.Name() == databaseFile || !strings.HasSuffix(f.Name(), ".json") {
			continue
		}
		b, err := fs.ReadFile(c.fsys, filepath.Join(dir, f.Name()))
		if err != nil {
			return err
		}
		var s stored
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		t, err := types.ParseJSON(s.Schema)
		if err != nil {
			return err
		}
		if st, ok := t.(types.StructType); ok {
			s.Table.Schema = st
		}
		c.tables[db][key(s.Name)] = s.Table
	}
	return nil
}

// Databases lists the databases by name.
func (c *Catalog) Databases() ([]Database, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return nil, err
	}
	var out []Database
	for _, d := range c.databases {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Database) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Database finds a database in any case of its name.
func (c *Catalog) Database(name string) (Database, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return Database{}, err
	}
	d, ok := c.databases[key(name)]
	if !ok {
		return d, errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(Name, name))
	}
	return d, nil
}

// CreateDatabase makes a database.
func (c *Catalog) CreateDatabase(d Database) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	k := key(d.Name)
	if _, ok := c.databases[k]; ok {
		return errclass.New("SCHEMA_ALREADY_EXISTS", "schemaName", errclass.Ident(Name, d.Name))
	}
	if d.Location == "" {
		d.Location = filepath.Join(c.root, k+".db")
	}
	if err := c.write(filepath.Join(c.dir(k), databaseFile), d); err != nil {
		return err
	}
	c.databases[k], c.tables[k] = d, map[string]Table{}
	return nil
}

// DropDatabase removes a database, with its tables when cascade is set. It returns the tables, whose files are still there.
func (c *Catalog) DropDatabase(name string, cascade bool) ([]Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return nil, err
	}
	k := key(name)
	if k == Default {
		return nil, errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "DROP DATABASE default")
	}
	if _, ok := c.databases[k]; !ok {
		return nil, errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(Name, name))
	}
	if len(c.tables[k]) > 0 && !cascade {
		return nil, errclass.New("SCHEMA_NOT_EMPTY", "schemaName", errclass.Ident(name))
	}
	var tables []Table
	for _, t := range c.tables[k] {
		tables = append(tables, t)
	}
	if err := c.fsys.RemoveAll(c.dir(k)); err != nil {
		return nil, err
	}
	delete(c.databases, k)
	delete(c.tables, k)
	return tables, nil
}

// Find looks a table up; ok is false when there is none. A database that does not exist has no tables.
func (c *Catalog) Find(db, name string) (t Table, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return t, false, err
	}
	t, ok = c.tables[key(db)][key(name)]
	return t, ok, nil
}

// Tables lists the tables and views of a database by name.
func (c *Catalog) Tables(db string) ([]Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return nil, err
	}
	var out []Table
	for _, t := range c.tables[key(db)] {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b Table) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Place is where the files of a managed table lie.
func (c *Catalog) Place(db, name string) (string, error) {
	d, err := c.Database(db)
	if err != nil {
		return "", err
	}
	return filepath.Join(d.Location, fileName(name)), nil
}

// Create adds a table, or replaces one of its name.
func (c *Catalog) Create(t Table, replace bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	db, k := key(t.Database), key(t.Name)
	tables, ok := c.tables[db]
	if !ok {
		return errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(Name, t.Database))
	}
	if _, taken := tables[k]; taken && !replace {
		return errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(Name, t.Database, t.Name))
	}
	if err := c.write(c.tableFile(db, k), stored{t, json.RawMessage(types.JSON(t.Schema))}); err != nil {
		return err
	}
	tables[k] = t
	return nil
}

// Drop removes a table and returns it; its files are still there.
func (c *Catalog) Drop(db, name string) (t Table, ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return t, false, err
	}
	t, ok = c.tables[key(db)][key(name)]
	if !ok {
		return t, false, nil
	}
	if err := c.fsys.Remove(c.tableFile(db, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return t, false, err
	}
	delete(c.tables[key(db)], key(name))
	return t, true, nil
}

// write makes what is known durable.
func (c *Catalog) write(name string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	if err := c.fsys.MkdirAll(filepath.Dir(name)); err != nil {
		return err
	}
	return fs.Replace(context.Background(), c.fsys, name, append(b, '\n'))
}
