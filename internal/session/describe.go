package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

// detail is a fact about a table: its title and text in lists, its key and value in JSON.
type detail struct {
	title, text string
	key         string // "" for none in JSON
	value       any
}

const createdTime = "Mon Jan 02 15:04:05 MST 2006"

// details are the facts about a table that DESCRIBE EXTENDED and SHOW TABLE EXTENDED tell, in Spark's order.
func (s *Session) details(t catalog.Table) []detail {
	out := []detail{
		{title: "Catalog", text: catalog.Name},
		{title: "Database", text: t.Database},
		{title: "Table", text: t.Name},
		{"Created Time", t.Created.In(s.Zone()).Format(createdTime), "created_time", t.Created.UTC().Format("2006-01-02T15:04:05Z")},
		{"Last Access", "UNKNOWN", "last_access", "UNKNOWN"},
		{"Created By", "Spark " + Version, "created_by", "Spark " + Version},
		{"Type", string(t.Kind), "type", string(t.Kind)},
	}
	add := func(title, text, key string, value any) { out = append(out, detail{title, text, key, value}) }
	if t.Format != "" {
		add("Provider", t.Format, "provider", t.Format)
	}
	for _, row := range bucketRows(t.Buckets) {
		add(row[0].(string), row[1].(string), "", nil)
	}
	if t.Comment != "" {
		add("Comment", t.Comment, "comment", t.Comment)
	}
	if t.Collation != "" {
		add("Collation", t.Collation, "", nil)
	}
	if t.Kind == catalog.View {
		mode := orDefault(t.SchemaMode, "COMPENSATION")
		add("View Text", t.Text, "view_text", t.Text)
		add("View Original Text", t.Text, "view_original_text", t.Text)
		add("View Schema Mode", mode, "view_schema_mode", mode)
		add("View Catalog and Namespace", t.Home(), "view_catalog_and_namespace", t.Home())
		add("View Query Output Columns", bracketed(t.QueryColumns), "view_query_output_columns", t.QueryColumns)
	}
	properties := maps.Clone(t.Properties)
	if len(t.ClusterBy) > 0 {
		if properties == nil {
			properties = map[string]string{}
		}
		properties["clusteringColumns"] = clusteringText(t.ClusterBy)
	}
	if len(properties) > 0 {
		add("Table Properties", propertyText(properties), "table_properties", properties)
	}
	if t.Statistics != nil {
		add("Statistics", statisticsText(t.Statistics), "", nil)
	}
	if t.Location != "" {
		add("Location", fs.Location(t.Location), "location", fs.Location(t.Location))
	}
	if storage := t.Storage(); len(storage) > 0 {
		add("Storage Properties", propertyText(storage), "storage_properties", storage)
	}
	if len(t.PartitionBy) > 0 {
		add("Partition Provider", "Catalog", "partition_provider", "Catalog")
		add("Partition Columns", bracketed(t.PartitionBy), "partition_columns", t.PartitionBy)
	}
	return out
}

// clusteringText is how the columns of CLUSTER BY are kept among the properties.
func clusteringText(columns [][]string) string {
	b, _ := json.Marshal(columns) // texts always encode
	return string(b)
}

func bracketed(names []string) string { return "[" + errclass.Idents(names) + "]" }

func propertyText(m map[string]string) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+m[k])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func (s *Session) describeTable(ctx context.Context, st *plan.DescribeTable) (plan.Node, error) {
	n, err := s.relationAt(ctx, st.Table, st.Origin)
	if err != nil {
		return nil, err
	}
	schema := plan.Schema(n)
	var t catalog.Table
	temp := s.isTemp(st.Table)
	if !temp {
		byPath := false
		if t, byPath, err = s.deltaPathTable(ctx, st.Table); !byPath {
			if t, err = s.table(st.Table); errclass.Has(err, "TABLE_OR_VIEW_NOT_FOUND") { // a file by its path has no table
				err = nil
			}
		}
		if err == nil {
			t, err = s.described(ctx, t)
		}
		if err != nil {
			return nil, err
		}
	}
	if t.Name != "" && len(t.Schema.Fields) > 0 {
		schema = t.Schema
	}
	switch {
	case st.JSON && !st.Extended:
		return nil, errclass.New("DESCRIBE_JSON_NOT_EXTENDED", "tableName", st.Table[len(st.Table)-1])
	case len(st.Column) > 0 && st.JSON:
		return nil, errclass.New("UNSUPPORTED_FEATURE.DESC_TABLE_COLUMN_JSON")
	case len(st.Column) > 0:
		return s.describeColumn(t, schema, st)
	case len(st.Partition) > 0 && t.Kind == catalog.View, len(st.Partition) > 0 && temp:
		return nil, errclass.New("FORBIDDEN_OPERATION", "statement", "DESC PARTITION", "objectType", "VIEW", "objectName", errclass.Ident(st.Table[len(st.Table)-1]))
	case len(st.Partition) > 0:
		return s.describePartition(ctx, t, st)
	case st.JSON:
		return s.describeJSON(st.Table, t, schema)
	}
	rows := describedRows(t, schema)
	if st.Extended && t.Name != "" {
		rows = append(rows, types.Row{"", "", ""}, types.Row{"# Detailed Table Information", "", ""})
		for _, d := range s.details(t) {
			if d.title != "Partition Columns" {
				rows = append(rows, types.Row{d.title, d.text, ""})
			}
		}
	}
	return plan.LocalRows(describedColumns, append(rows, defaultRows(schema)...))
}

// describedRows are the columns of a table, and those that it is partitioned or clustered by.
func describedRows(t catalog.Table, schema types.StructType) []types.Row {
	rows := columnRows(schema)
	head := types.Row{"# col_name", "data_type", "comment"}
	if len(t.PartitionBy) > 0 {
		rows = append(rows, types.Row{"# Partition Information", "", ""}, head)
		for _, name := range t.PartitionBy {
			if i := schema.IndexFold(name); i >= 0 {
				rows = append(rows, columnRows(types.StructType{Fields: schema.Fields[i : i+1]})...)
			}
		}
	}
	if len(t.ClusterBy) > 0 {
		rows = append(rows, types.Row{"# Clustering Information", "", ""}, head)
		for _, path := range t.ClusterBy {
			if i := schema.IndexFold(path[0]); i >= 0 {
				rows = append(rows, columnRows(types.StructType{Fields: schema.Fields[i : i+1]})...)
			}
		}
	}
	return rows
}

// defaultRows lists the columns that have a default.
func defaultRows(schema types.StructType) []types.Row {
	var rows []types.Row
	for _, f := range schema.Fields {
		if text, ok := columnDefault(f); ok {
			if rows == nil {
				rows = append(rows, types.Row{"", "", ""}, types.Row{"# Column Default Values", "", ""})
			}
			rows = append(rows, types.Row{f.Name, f.Type.SimpleString(), text})
		}
	}
	return rows
}

func (s *Session) describeColumn(t catalog.Table, schema types.StructType, st *plan.DescribeTable) (plan.Node, error) {
	i := schema.IndexFold(st.Column[0])
	switch {
	case i < 0:
		return nil, errclass.New("COLUMN_NOT_FOUND", "colName", errclass.Ident(st.Column...), "caseSensitiveConfig", errclass.Conf(setting.CaseSensitive))
	case len(st.Column) > 1:
		return nil, errclass.New("_LEGACY_ERROR_TEMP_1060", "command", "DESC TABLE COLUMN", "column", strings.Join(st.Column, "."))
	}
	f := schema.Fields[i]
	comment, ok := f.Comment()
	if !ok {
		comment = "NULL"
	}
	rows := []types.Row{{"col_name", f.Name}, {"data_type", f.Type.SimpleString()}, {"comment", comment}}
	if st.Extended {
		for _, fact := range []string{"min", "max", "num_nulls", "distinct_count", "avg_col_len", "max_col_len", "histogram"} {
			rows = append(rows, types.Row{fact, "NULL"})
		}
		if text, ok := columnDefault(f); ok {
			rows = append(rows, types.Row{"default", text})
		}
	}
	_ = t
	return plan.LocalRows(types.Struct(text1("info_name"), text1("info_value")), rows)
}

// ordered is a JSON object whose members keep their order.
type ordered []struct {
	key   string
	value any
}

func (o *ordered) add(key string, value any) {
	*o = append(*o, struct {
		key   string
		value any
	}{key, value})
}

// MarshalJSON implements json.Marshaler.
func (o ordered) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := plainJSON(m.key)
		if err != nil {
			return nil, err
		}
		value, err := plainJSON(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

// plainJSON encodes without the escapes that HTML would want.
func plainJSON(v any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return []byte(strings.TrimSuffix(b.String(), "\n")), err
}

// describeJSON is DESCRIBE EXTENDED ... AS JSON.
func (s *Session) describeJSON(name []string, t catalog.Table, schema types.StructType) (plan.Node, error) {
	var o ordered
	cat, ns := catalog.Name, t.Database
	if t.Name == "" {
		t.Name, cat, ns = name[len(name)-1], "system", "session"
	}
	o.add("table_name", t.Name)
	o.add("catalog_name", cat)
	o.add("namespace", []string{ns})
	o.add("schema_name", ns)
	o.add("columns", jsonColumns(schema))
	facts := s.details(t)
	if cat != catalog.Name {
		facts = nil
		o.add("type", string(catalog.View))
	}
	for _, early := range []string{"location", "storage_properties"} {
		for _, d := range facts {
			if d.key == early {
				o.add(d.key, d.value)
			}
		}
	}
	for _, d := range facts {
		if d.key != "" && d.key != "location" && d.key != "storage_properties" {
			o.add(d.key, d.value)
		}
	}
	o.add("collation", orDefault(t.Collation, "UTF8_BINARY"))
	b, err := plainJSON(o)
	if err != nil {
		return nil, errclass.Internal(err)
	}
	return plan.LocalRows(types.Struct(text1("json_metadata")), []types.Row{{string(b)}})
}

func jsonColumns(st types.StructType) []ordered {
	out := []ordered{}
	for _, f := range st.Fields {
		var o ordered
		o.add("name", f.Name)
		o.add("type", jsonType(f.Type))
		o.add("nullable", f.Nullable)
		if c, ok := f.Comment(); ok {
			o.add("comment", c)
		}
		if d, ok := columnDefault(f); ok {
			o.add("default", d)
		}
		out = append(out, o)
	}
	return out
}

// jsonType is a type as DESCRIBE ... AS JSON writes it.
func jsonType(t types.DataType) ordered {
	var o ordered
	switch t := t.(type) {
	case types.StringType:
		o.add("name", "string")
		o.add("collation", orDefault(t.Collation, "UTF8_BINARY"))
	case types.CharType, types.VarcharType:
		o.add("name", "string")
		o.add("collation", "UTF8_BINARY")
	case types.ArrayType:
		o.add("name", "array")
		o.add("element_type", jsonType(t.Element))
		o.add("element_nullable", t.ContainsNull)
	case types.MapType:
		o.add("name", "map")
		o.add("key_type", jsonType(t.Key))
		o.add("value_type", jsonType(t.Value))
		o.add("value_nullable", t.ValueContainsNull)
	case types.StructType:
		o.add("name", "struct")
		o.add("fields", jsonColumns(t))
	case types.DecimalType:
		o.add("name", "decimal")
		o.add("precision", t.Precision)
		o.add("scale", t.Scale)
	default:
		name := t.SimpleString()
		if t == types.Timestamp {
			name = "timestamp_ltz"
		}
		o.add("name", name)
	}
	return o
}

// showExtended is SHOW TABLE EXTENDED.
func (s *Session) showExtended(ctx context.Context, st *plan.ShowTables) (plan.Node, error) {
	columns := types.Struct(text1("namespace"), text1("tableName"), yesNo("isTemporary"), text1("information"))
	rows, err := s.listed(st.Namespace, st.Pattern, false)
	if err != nil {
		return nil, err
	}
	if len(st.Partition) > 0 {
		ns, err := s.namespaceName(st.Namespace)
		if err != nil {
			return nil, err
		}
		t, err := s.table([]string{ns, st.Pattern})
		if err != nil {
			return nil, err
		}
		facts, err := s.partitionDetails(ctx, t, st.Partition, "SHOW TABLE EXTENDED")
		if err != nil {
			return nil, err
		}
		return plan.LocalRows(columns, []types.Row{{t.Database, t.Name, false, factText(facts)}})
	}
	for i, r := range rows {
		info := "Table: " + r[1].(string) + "\nType: VIEW\n"
		var schema types.StructType
		if r[2].(bool) {
			parts := []string{r[1].(string)}
			if r[0] != "" {
				parts = []string{r[0].(string), r[1].(string)}
			}
			n, err := s.relation(ctx, parts)
			if err != nil {
				return nil, err
			}
			schema = plan.Schema(n)
		} else {
			t, err := s.table([]string{r[0].(string), r[1].(string)})
			if err != nil {
				return nil, err
			}
			info, schema = factText(s.details(t)), t.Schema
		}
		rows[i] = append(r, info+"Schema: "+schema.TreeString(0)+"\n")
	}
	return plan.LocalRows(columns, rows)
}

func factText(facts []detail) string {
	var b strings.Builder
	for _, d := range facts {
		fmt.Fprintf(&b, "%s: %s\n", d.title, d.text)
	}
	return b.String()
}

func (s *Session) describeNamespace(st *plan.DescribeNamespace) (plan.Node, error) {
	if len(st.Name) > 2 || len(st.Name) == 2 && !strings.EqualFold(st.Name[0], catalog.Name) {
		return nil, errclass.New("_LEGACY_ERROR_TEMP_1126", "catalog", strings.Join(st.Name, "."))
	}
	name, err := s.namespaceName(st.Name)
	if err != nil {
		return nil, err
	}
	d, err := s.server.tables.Database(name)
	if err != nil {
		return nil, err
	}
	rows := []types.Row{
		{"Catalog Name", catalog.Name},
		{"Namespace Name", d.Name},
		{"Comment", d.Comment},
		{"Location", fs.Location(d.Location)},
		{"Owner", s.known(setting.CurrentUser)},
	}
	if st.Extended {
		var parts []string
		for _, k := range slices.Sorted(maps.Keys(d.Properties)) {
			parts = append(parts, "("+k+","+d.Properties[k]+")")
		}
		text := ""
		if len(parts) > 0 {
			text = "(" + strings.Join(parts, ", ") + ")"
		}
		rows = append(rows, types.Row{"Properties", text})
	}
	return plan.LocalRows(types.Struct(text1("info_name"), maybe("info_value")), rows)
}
