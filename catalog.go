package millrace

import (
	"context"

	"github.com/millrace/millrace/internal/connectpb"
)

// Catalog looks at and drops tables and views.
type Catalog struct{ s *Session }

// Catalog is the session's catalog.
func (s *Session) Catalog() Catalog { return Catalog{s} }

// TableInfo describes a table or view.
type TableInfo struct {
	Name        string
	Catalog     *string
	Namespace   []string
	Description *string
	TableType   string
	IsTemporary bool
}

func (c Catalog) frame(m *connectpb.Catalog) *DataFrame {
	return newDataFrame(c.s, &connectpb.Relation{RelType: &connectpb.Relation_Catalog{Catalog: m}})
}

// only runs a catalog relation whose result is a single value.
func only[T any](ctx context.Context, c Catalog, m *connectpb.Catalog) (T, error) {
	r, err := c.frame(m).single(ctx)
	if err != nil {
		var none T
		return none, err
	}
	return getAt[T](r, 0)
}

// DropTempView drops a temporary view and tells whether there was one.
func (c Catalog) DropTempView(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_DropTempView{DropTempView: &connectpb.DropTempView{ViewName: name}}})
}

// DropGlobalTempView drops a view of all sessions and tells whether there was one.
func (c Catalog) DropGlobalTempView(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{
		CatType: &connectpb.Catalog_DropGlobalTempView{DropGlobalTempView: &connectpb.DropGlobalTempView{ViewName: name}},
	})
}

// ListTables lists the tables of the current database, and the temporary views.
func (c Catalog) ListTables(ctx context.Context) ([]TableInfo, error) {
	return CollectAs[TableInfo](ctx, c.frame(&connectpb.Catalog{CatType: &connectpb.Catalog_ListTables{ListTables: &connectpb.ListTables{}}}))
}

// TableExists tells whether there is a table or view of that name.
func (c Catalog) TableExists(ctx context.Context, name string) (bool, error) {
	return only[bool](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_TableExists{TableExists: &connectpb.TableExists{TableName: name}}})
}

// CurrentDatabase is the database that names without one refer to.
func (c Catalog) CurrentDatabase(ctx context.Context) (string, error) {
	return only[string](ctx, c, &connectpb.Catalog{CatType: &connectpb.Catalog_CurrentDatabase{CurrentDatabase: &connectpb.CurrentDatabase{}}})
}
