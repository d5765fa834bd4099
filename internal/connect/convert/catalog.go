package convert

import (
	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/session"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// catalog runs a call of spark.catalog, whose answer is a relation.
func (c *Converter) catalog(m *connectpb.Catalog) (plan.Node, error) {
	switch k := m.GetCatType().(type) {
	case *connectpb.Catalog_CurrentDatabase:
		return textRow(c.s.Namespace())
	case *connectpb.Catalog_SetCurrentDatabase:
		return done(c.run(&plan.UseNamespace{Name: []string{k.SetCurrentDatabase.GetDbName()}}))
	case *connectpb.Catalog_ListDatabases:
		return c.s.ListDatabases(k.ListDatabases.GetPattern())
	case *connectpb.Catalog_ListTables:
		return c.s.ListTables(c.ctx, k.ListTables.GetDbName(), k.ListTables.GetPattern())
	case *connectpb.Catalog_ListFunctions:
		return c.s.ListFunctions(k.ListFunctions.GetDbName(), k.ListFunctions.GetPattern())
	case *connectpb.Catalog_ListColumns:
		return on(k.ListColumns.GetTableName(), k.ListColumns.DbName, func(name []string) (plan.Node, error) {
			return c.s.ListColumns(c.ctx, name)
		})
	case *connectpb.Catalog_GetDatabase:
		return c.s.GetDatabase(k.GetDatabase.GetDbName())
	case *connectpb.Catalog_GetTable:
		return on(k.GetTable.GetTableName(), k.GetTable.DbName, func(name []string) (plan.Node, error) {
			return c.s.GetTable(c.ctx, name)
		})
	case *connectpb.Catalog_GetFunction:
		return on(k.GetFunction.GetFunctionName(), k.GetFunction.DbName, c.s.GetFunction)
	case *connectpb.Catalog_DatabaseExists:
		return truth(c.s.DatabaseExists(k.DatabaseExists.GetDbName()), nil)
	case *connectpb.Catalog_TableExists:
		return on(k.TableExists.GetTableName(), k.TableExists.DbName, func(name []string) (plan.Node, error) {
			return truth(c.s.TableExists(c.ctx, name))
		})
	case *connectpb.Catalog_FunctionExists:
		return on(k.FunctionExists.GetFunctionName(), k.FunctionExists.DbName, func(name []string) (plan.Node, error) {
			return truth(c.s.RoutineExists(name), nil)
		})
	case *connectpb.Catalog_DropTempView:
		return truth(c.s.DropView(k.DropTempView.GetViewName(), false), nil)
	case *connectpb.Catalog_DropGlobalTempView:
		return truth(c.s.DropView(k.DropGlobalTempView.GetViewName(), true), nil)
	case *connectpb.Catalog_IsCached:
		n, err := c.named(k.IsCached.GetTableName())
		if err != nil {
			return nil, err
		}
		_, kept, err := c.s.StorageLevelOf(c.ctx, n)
		return truth(kept, err)
	case *connectpb.Catalog_CacheTable:
		n, err := c.named(k.CacheTable.GetTableName())
		if err != nil {
			return nil, err
		}
		level := StorageLevel(k.CacheTable.GetStorageLevel())
		return done(c.s.Persist(c.ctx, n, level))
	case *connectpb.Catalog_UncacheTable:
		n, err := c.named(k.UncacheTable.GetTableName())
		if err != nil {
			return nil, err
		}
		return done(c.s.Uncache(c.ctx, n))
	case *connectpb.Catalog_ClearCache:
		return done(c.s.ClearCache())
	case *connectpb.Catalog_RefreshTable:
		return c.change(k.RefreshTable.GetTableName(), func(name []string) plan.Statement {
			return &plan.RefreshTable{Name: name}
		})
	case *connectpb.Catalog_RefreshByPath:
		return done(c.s.RefreshPath(k.RefreshByPath.GetPath()))
	case *connectpb.Catalog_CurrentCatalog:
		return textRow(catalog.Name)
	case *connectpb.Catalog_SetCurrentCatalog:
		return done(c.run(&plan.SetCatalog{Name: k.SetCurrentCatalog.GetCatalogName()}))
	case *connectpb.Catalog_ListCatalogs:
		return c.s.ListCatalogs(k.ListCatalogs.GetPattern())
	case *connectpb.Catalog_CreateTable:
		return c.createTable(k.CreateTable.GetTableName(), k.CreateTable)
	case *connectpb.Catalog_CreateExternalTable:
		e := k.CreateExternalTable
		return c.createTable(e.GetTableName(), &connectpb.CreateTable{
			Path: e.Path, Source: e.Source, Schema: e.Schema, Options: e.GetOptions(),
		})
	case *connectpb.Catalog_DropTable:
		return c.change(k.DropTable.GetTableName(), func(name []string) plan.Statement {
			return &plan.DropTable{Name: name, IfExists: k.DropTable.GetIfExists(), Purge: k.DropTable.GetPurge()}
		})
	case *connectpb.Catalog_DropView:
		return c.change(k.DropView.GetViewName(), func(name []string) plan.Statement {
			return &plan.DropView{Name: name, IfExists: k.DropView.GetIfExists()}
		})
	case *connectpb.Catalog_CreateDatabase:
		return done(c.run(&plan.CreateNamespace{
			Name: []string{k.CreateDatabase.GetDbName()}, IfNotExists: k.CreateDatabase.GetIfNotExists(),
			Properties: k.CreateDatabase.GetProperties(),
		}))
	case *connectpb.Catalog_DropDatabase:
		return done(c.run(&plan.DropNamespace{
			Name: []string{k.DropDatabase.GetDbName()}, IfExists: k.DropDatabase.GetIfExists(), Cascade: k.DropDatabase.GetCascade(),
		}))
	case *connectpb.Catalog_TruncateTable:
		return c.change(k.TruncateTable.GetTableName(), func(name []string) plan.Statement { return &plan.Truncate{Table: name} })
	case *connectpb.Catalog_ListViews:
		return c.s.ListViews(k.ListViews.GetDbName(), k.ListViews.GetPattern())
	case *connectpb.Catalog_GetTableProperties:
		return on(k.GetTableProperties.GetTableName(), nil, func(name []string) (plan.Node, error) {
			return c.s.Run(c.ctx, &plan.ShowProperties{Table: name})
		})
	case *connectpb.Catalog_GetCreateTableString:
		return on(k.GetCreateTableString.GetTableName(), nil, func(name []string) (plan.Node, error) {
			return c.s.Run(c.ctx, &plan.ShowCreateTable{Table: name})
		})
	case *connectpb.Catalog_ListPartitions:
		return on(k.ListPartitions.GetTableName(), nil, func(name []string) (plan.Node, error) { return c.s.ListPartitions(c.ctx, name) })
	case *connectpb.Catalog_RecoverPartitions:
		return on(k.RecoverPartitions.GetTableName(), nil, func(name []string) (plan.Node, error) {
			return done(c.s.RecoverPartitions(name))
		})
	case *connectpb.Catalog_AnalyzeTable:
		return c.change(k.AnalyzeTable.GetTableName(), func(name []string) plan.Statement {
			return &plan.AnalyzeTable{Name: name, NoScan: k.AnalyzeTable.GetNoScan()}
		})
	case nil:
		return nil, notSet("spark.connect.Catalog", "cat_type")
	}
	return nil, unsupported("spark.catalog: " + choiceName(m.GetCatType()))
}

func (c *Converter) run(st plan.Statement) error {
	_, err := c.s.Run(c.ctx, st)
	return err
}

func (c *Converter) named(name string) (plan.Node, error) {
	parts, err := sql.ParseIdentifier(name)
	return &plan.Named{Parts: parts}, err
}

func (c *Converter) createTable(name string, m *connectpb.CreateTable) (plan.Node, error) {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return nil, err
	}
	st := &plan.CreateTable{
		Name: parts, Format: m.GetSource(), Options: m.GetOptions(), Location: m.GetPath(), Comment: m.GetDescription(),
		External: m.Path != nil,
	}
	if m.GetSchema() != nil {
		schema, err := typepb.Schema(m.GetSchema())
		if err != nil {
			return nil, err
		}
		for _, f := range schema.Fields {
			st.Columns = append(st.Columns, plan.ColumnDef{Field: f})
		}
	}
	if err := c.run(st); err != nil {
		return nil, err
	}
	return c.named(name)
}

// on calls f with a name, which may be qualified itself or by a database beside it.
func on(name string, db *string, f func(name []string) (plan.Node, error)) (plan.Node, error) {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return nil, err
	}
	if db != nil {
		parts = append([]string{*db}, parts...)
	}
	return f(parts)
}

// change runs a statement about a name.
func (c *Converter) change(name string, f func(name []string) plan.Statement) (plan.Node, error) {
	return on(name, nil, func(name []string) (plan.Node, error) { return done(c.run(f(name))) })
}

// StorageLevel translates the level of a kept relation; absent means memory and disk.
func StorageLevel(m *connectpb.StorageLevel) session.StorageLevel {
	if m == nil {
		return session.StorageLevel{Disk: true, Memory: true, Deserialized: true, Replication: 1}
	}
	return session.StorageLevel{
		Disk: m.GetUseDisk(), Memory: m.GetUseMemory(), OffHeap: m.GetUseOffHeap(), Deserialized: m.GetDeserialized(),
		Replication: m.GetReplication(),
	}
}

// done is the answer of a call without one.
func done(err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(types.Field{Name: "value", Type: types.String}), nil)
}

func textRow(v string) (plan.Node, error) {
	return plan.LocalRows(types.Struct(types.NewField("value", types.String)), []types.Row{{v}})
}

func truth(v bool, err error) (plan.Node, error) {
	if err != nil {
		return nil, err
	}
	return plan.LocalRows(types.Struct(types.Field{Name: "value", Type: types.Boolean}), []types.Row{{v}})
}
