package catalog

import (
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

// Elsewhere says of a table whose rows are not in files at Location, but with a system that its options name, who knows its columns.
type Elsewhere string

// The kinds of Elsewhere; that of tables in files is "".
const (
	Told  Elsewhere = "told"  // the source told them when the table was made, and tells them again when it is read
	Given Elsewhere = "given" // CREATE TABLE has them
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
	Elsewhere   Elsewhere         `json:"elsewhere,omitempty"`
	PartitionBy []string          `json:"partitionBy,omitempty"`
	Options     map[string]string `json:"options,omitempty"`
	Properties  map[string]string `json:"properties,omitempty"`
	Comment     string            `json:"comment,omitempty"`
	Created     time.Time         `json:"created"`
	Buckets     *Buckets          `json:"buckets,omitempty"`
	// Unknown are the partitions, as directories below Location, that were there before the table was made and are not its own yet.
	Unknown []string `json:"unknown,omitempty"`
	// Statistics are those that ANALYZE TABLE has found; nil when it has not, or rows have come or gone since.
	Statistics *Statistics `json:"statistics,omitempty"`
	Collation  string      `json:"collation,omitempty"` // of the texts of its columns, unless they have their own
	ClusterBy  [][]string  `json:"clusterBy,omitempty"`
	// Text is a view's query, whose names mean what they do in the database Namespace and whose columns are QueryColumns.
	Text         string   `json:"text,omitempty"`
	Namespace    string   `json:"namespace,omitempty"`
	QueryColumns []string `json:"queryColumns,omitempty"`
	SchemaMode   string   `json:"schemaMode,omitempty"`
}

// Home is the catalog and the database in which a view's names are looked up.
func (t Table) Home() string {
	if t.Namespace == "" {
		return Name + "." + t.Database
	}
	return Name + "." + t.Namespace
}

// Storage are the options of a table's files but for their place.
func (t Table) Storage() map[string]string {
	out := map[string]string{}
	for k, v := range t.Options {
		if !strings.EqualFold(k, "path") {
			out[k] = v
		}
	}
	return out
}

// Buckets says how the rows of a table are dealt out to files: by a hash of some columns, and sorted by others within a file.
type Buckets struct {
	N      int      `json:"n"`
	By     []string `json:"by"`
	SortBy []string `json:"sortBy,omitempty"`
}

// Statistics is what was found out about a table's rows.
type Statistics struct {
	Bytes   int64                       `json:"bytes"`
	Rows    int64                       `json:"rows"`
	Columns map[string]ColumnStatistics `json:"columns,omitempty"`
}

// ColumnStatistics is what was found out about the values of a column. Min and Max are texts, "" for none.
type ColumnStatistics struct {
	Min      string `json:"min,omitempty"`
	Max      string `json:"max,omitempty"`
	Nulls    int64  `json:"nulls"`
	Distinct int64  `json:"distinct"`
	AvgLen   int64  `json:"avgLen"`
	MaxLen   int64  `json:"maxLen"`
}

// Catalog is the databases and tables of a warehouse. It is safe for use by several goroutines.
type Catalog struct {
	fsys fs.FS
	root string

	mu        sync.Mutex
	loaded    bool
	databases map[string]Database         // by lower-case name
	tables    map[string]map[string]Table // by lower-case database and name
	unsettled []remains
	leaving   map[string]bool   // files of tables that are being removed
	beside    map[string]string // folders that are being filled for tables, by the tables' files
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
	c.unsettled, c.leaving, c.beside = nil, map[string]bool{}, map[string]string{}
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
	switch b, err := fs.ReadFile(c.fsys, filepath.Join(dir, databaseFile)); {
	case err == nil:
		var d Database
		if err := json.Unmarshal(b, &d); err != nil {
			return err
		}
		c.databases[db] = d
	case !errors.Is(err, fs.ErrNotExist):
		return err
	case db != Default:
		c.unsettled = append(c.unsettled, remains{file: dir})
		return nil
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
		if err := c.loadTable(db, filepath.Join(dir, f.Name())); err != nil {
			return err
		}
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
	if err := c.settle(); err != nil {
		return err
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

// AlterDatabase keeps a changed database.
func (c *Catalog) AlterDatabase(d Database) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return err
	}
	k := key(d.Name)
	if _, ok := c.databases[k]; !ok {
		return errclass.New("SCHEMA_NOT_FOUND", "schemaName", errclass.Ident(Name, d.Name))
	}
	if err := c.write(filepath.Join(c.dir(k), databaseFile), d); err != nil {
		return err
	}
	c.databases[k] = d
	return nil
}

// DropDatabase removes a database, with its tables when cascade is set.
func (c *Catalog) DropDatabase(name string, cascade bool) error {
	tables, err := c.droppable(name, cascade)
	if err != nil {
		return err
	}
	for _, t := range tables {
		if _, _, err := c.Drop(t.Database, t.Name); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	k := key(name)
	if len(c.tables[k]) > 0 {
		return errclass.New("SCHEMA_NOT_EMPTY", "schemaName", errclass.Ident(name))
	}
	// Without its file there is no database, whatever else is left of its folder.
	if err := c.remove(filepath.Join(c.dir(k), databaseFile)); err != nil {
		return err
	}
	delete(c.databases, k)
	delete(c.tables, k)
	return c.fsys.RemoveAll(c.dir(k))
}

// droppable gives the tables that go with a database.
func (c *Catalog) droppable(name string, cascade bool) ([]Table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.load(); err != nil {
		return nil, err
	}
	k := key(name)
	if k == Default {
		return nil, errclass.New("UNSUPPORTED_FEATURE.DROP_DATABASE", "database", errclass.Ident(Name, Default))
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

// Place is where the files of a new managed table are to lie. What a crash has left there is gone.
func (c *Catalog) Place(db, name string) (string, error) {
	d, err := c.Database(db)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return filepath.Join(d.Location, fileName(name)), c.settle()
}
