package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

func (s *Session) showProperties(ctx context.Context, st *plan.ShowProperties) (plan.Node, error) {
	if s.isTemp(st.Table) {
		return plan.LocalRows(keyValue, nil)
	}
	t, byPath, err := s.deltaPathTable(ctx, st.Table)
	if !byPath {
		if t, err = s.tableAt(st.Table, st.Origin); err == nil {
			t, err = s.described(ctx, t)
		}
	}
	if err != nil {
		return nil, err
	}
	properties := map[string]string{}
	maps.Copy(properties, t.Properties)
	for k, v := range t.Options {
		properties["option."+k] = v
	}
	if len(t.ClusterBy) > 0 {
		properties["clusteringColumns"] = clusteringText(t.ClusterBy)
	}
	if st.Key != "" {
		v, ok := properties[st.Key]
		if !ok {
			v = "Table " + catalog.Name + "." + t.Database + "." + t.Name + " does not have property: " + st.Key
		}
		return plan.LocalRows(keyValue, []types.Row{{st.Key, v}})
	}
	var rows []types.Row
	for _, k := range slices.Sorted(maps.Keys(properties)) {
		rows = append(rows, types.Row{k, properties[k]})
	}
	return plan.LocalRows(keyValue, rows)
}

// showCreateTable gives the statement that makes a table or view.
func (s *Session) showCreateTable(st *plan.ShowCreateTable) (plan.Node, error) {
	if s.isTemp(st.Table) {
		return nil, placed(errclass.New("EXPECT_PERMANENT_VIEW_NOT_TEMP", "viewName", errclass.Ident(st.Table...), "operation", "SHOW CREATE TABLE"), st.Origin)
	}
	if _, byPath := s.deltaPath(st.Table); byPath {
		return nil, noShowCreate()
	}
	t, err := s.tableAt(st.Table, st.Origin)
	if err != nil {
		return nil, err
	}
	if deltatable.Is(t.Format) {
		return nil, noShowCreate()
	}
	if st.Serde {
		return nil, errclass.New("UNSUPPORTED_SHOW_CREATE_TABLE.ON_DATA_SOURCE_TABLE_WITH_AS_SERDE", "tableName", tableIdent(t))
	}
	var b strings.Builder
	if t.Kind == catalog.View {
		writeView(&b, t)
	} else {
		writeTable(&b, t)
	}
	return plan.LocalRows(types.Struct(text1("createtab_stmt")), []types.Row{{b.String()}})
}

func noShowCreate() error {
	return errclass.New("DELTA_OPERATION_NOT_ALLOWED", "operation", "SHOW CREATE TABLE")
}

func writeView(b *strings.Builder, t catalog.Table) {
	var cols []string
	for _, f := range t.Schema.Fields {
		cols = append(cols, bareIdent(f.Name)+commentClause(f))
	}
	fmt.Fprintf(b, "CREATE VIEW %s (\n  %s)\n", bareIdent(t.Database)+"."+bareIdent(t.Name), strings.Join(cols, ",\n  "))
	if t.Comment != "" {
		fmt.Fprintf(b, "COMMENT %s\n", errclass.Text(t.Comment))
	}
	if t.Collation != "" {
		fmt.Fprintf(b, "DEFAULT COLLATION %s\n", t.Collation)
	}
	writeProperties(b, "TBLPROPERTIES", t.Properties)
	fmt.Fprintf(b, "WITH SCHEMA %s\nAS %s\n", orDefault(t.SchemaMode, "COMPENSATION"), t.Text)
}

func writeTable(b *strings.Builder, t catalog.Table) {
	var cols []string
	for _, f := range t.Schema.Fields {
		text := bareIdent(f.Name) + " " + collatedSQL(f.Type)
		if d, ok := columnDefault(f); ok {
			text += " DEFAULT " + d
		}
		cols = append(cols, text+commentClause(f))
	}
	fmt.Fprintf(b, "CREATE TABLE %s.%s.%s (\n  %s)\nUSING %s\n", catalog.Name, bareIdent(t.Database), bareIdent(t.Name), strings.Join(cols, ",\n  "), t.Format)
	writeProperties(b, "OPTIONS", t.Options)
	properties := maps.Clone(t.Properties)
	by := make([]string, 0, len(t.PartitionBy))
	for _, p := range t.PartitionBy {
		by = append(by, bareIdent(p))
	}
	if len(t.ClusterBy) > 0 {
		var paths []string
		for _, p := range t.ClusterBy {
			paths = append(paths, strings.Join(p, "."))
		}
		by = append(by, "cluster_by("+strings.Join(paths, ", ")+")")
		if properties == nil {
			properties = map[string]string{}
		}
		properties["clusteringColumns"] = clusteringText(t.ClusterBy)
	}
	if len(by) > 0 {
		fmt.Fprintf(b, "PARTITIONED BY (%s)\n", strings.Join(by, ", "))
	}
	if t.Buckets != nil {
		fmt.Fprintf(b, "CLUSTERED BY (%s)\n", strings.Join(t.Buckets.By, ", "))
		if len(t.Buckets.SortBy) > 0 {
			fmt.Fprintf(b, "SORTED BY (%s)\n", strings.Join(t.Buckets.SortBy, ", "))
		}
		fmt.Fprintf(b, "INTO %d BUCKETS\n", t.Buckets.N)
	}
	if t.Comment != "" {
		fmt.Fprintf(b, "COMMENT %s\n", errclass.Text(t.Comment))
	}
	if t.Collation != "" {
		fmt.Fprintf(b, "DEFAULT COLLATION %s\n", t.Collation)
	}
	if t.Kind == catalog.External {
		fmt.Fprintf(b, "LOCATION %s\n", errclass.Text(fs.Location(t.Location)))
	}
	writeProperties(b, "TBLPROPERTIES", properties)
}

func writeProperties(b *strings.Builder, clause string, m map[string]string) {
	if len(m) == 0 {
		return
	}
	var lines []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		lines = append(lines, "  "+errclass.Text(k)+" = "+errclass.Text(m[k]))
	}
	fmt.Fprintf(b, "%s (\n%s)\n", clause, strings.Join(lines, ",\n"))
}

func commentClause(f types.Field) string {
	if c, ok := f.Comment(); ok {
		return " COMMENT " + errclass.Text(c)
	}
	return ""
}

// bareIdent quotes a name only if it needs quotes.
func bareIdent(name string) string {
	letter := false
	for _, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') {
			return errclass.Ident(name)
		}
		letter = letter || r < '0' || r > '9'
	}
	if !letter {
		return errclass.Ident(name)
	}
	return name
}

// collatedSQL prints a type with the collation of every text in it.
func collatedSQL(t types.DataType) string {
	const binary = " COLLATE UTF8_BINARY"
	switch t := t.(type) {
	case types.StringType:
		if t.Collation == "" {
			return "STRING" + binary
		}
	case types.CharType, types.VarcharType:
		return t.SQL() + binary
	case types.ArrayType:
		return "ARRAY<" + collatedSQL(t.Element) + ">"
	case types.MapType:
		return "MAP<" + collatedSQL(t.Key) + ", " + collatedSQL(t.Value) + ">"
	case types.StructType:
		var parts []string
		for _, f := range t.Fields {
			text := bareIdent(f.Name) + ": " + collatedSQL(f.Type)
			if !f.Nullable {
				text += " NOT NULL"
			}
			parts = append(parts, text+commentClause(f))
		}
		return "STRUCT<" + strings.Join(parts, ", ") + ">"
	}
	return t.SQL()
}
