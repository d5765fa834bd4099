package session

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// fill writes a resolved plan, whose columns are those of the table, into a table's files.
func (s *Session) fill(ctx context.Context, t catalog.Table, n plan.Node, mode sink.Mode, options map[string]string) ([]Observation, error) {
	n, err := s.inOrder(ctx, t, n)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for k, v := range t.Options {
		all[k] = v
	}
	for k, v := range options {
		all[k] = v
	}
	delete(all, "path")
	return s.Write(ctx, Write{Plan: n, Format: t.Format, Path: t.Location, Mode: mode, Options: all, PartitionBy: t.PartitionBy})
}

// inOrder picks columns by name in the order of the table.
func (s *Session) inOrder(ctx context.Context, t catalog.Table, n plan.Node) (plan.Node, error) {
	out := n.Output()
	same := len(out) == len(t.Schema.Fields)
	for i := 0; same && i < len(out); i++ {
		same = out[i].Name == t.Schema.Fields[i].Name
	}
	if same {
		return n, nil
	}
	p := &plan.Project{Child: n}
	for _, f := range t.Schema.Fields {
		p.Cols = append(p.Cols, &plan.Column{Parts: []string{f.Name}, PlanID: -1})
	}
	return s.Analyze(ctx, p)
}

// insert runs INSERT.
func (s *Session) insert(ctx context.Context, st *plan.Insert) error {
	named, ok := st.Table.(*plan.Named)
	if !ok || st.ReplaceWhere != nil || st.IfNotExists {
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "INSERT with REPLACE WHERE or IF NOT EXISTS")
	}
	t, err := s.table(named.Parts)
	if err != nil {
		return err
	}
	if t.Kind == catalog.View {
		return errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(t.Name), "operation", "INSERT")
	}
	n, err := s.Analyze(ctx, st.Query)
	if err != nil {
		return err
	}
	fixed := map[string]plan.Expr{}
	for _, p := range st.Partition {
		if p.Value != nil {
			fixed[strings.ToLower(p.Name)] = p.Value
		}
	}
	if n, err = s.asTable(ctx, t, n, st.Columns, st.ByName, fixed); err != nil {
		return err
	}
	mode := sink.Append
	options := named.Options
	if st.Overwrite {
		mode = sink.Overwrite
		if len(st.Partition) > 0 {
			options = map[string]string{"partitionOverwriteMode": "dynamic"}
			for k, v := range named.Options {
				options[k] = v
			}
		}
	}
	_, err = s.fill(ctx, t, n, mode, options)
	return err
}

// asTable makes the rows of a query rows of a table: columns by position or by name, cast to the table's types. columns are those
// that the statement lists, fixed the partition columns whose values stand in the statement.
func (s *Session) asTable(ctx context.Context, t catalog.Table, n plan.Node, columns []string, byName bool, fixed map[string]plan.Expr) (plan.Node, error) {
	out := n.Output()
	if columns == nil {
		for _, f := range t.Schema.Fields {
			if _, ok := fixed[strings.ToLower(f.Name)]; !ok {
				columns = append(columns, f.Name)
			}
		}
		if byName {
			columns = nil
			for _, a := range out {
				columns = append(columns, a.Name)
			}
		}
	}
	if len(columns) != len(out) {
		return nil, s.arity(t, out, columns)
	}
	from := map[string]plan.Expr{}
	for i, name := range columns {
		k := strings.ToLower(name)
		if t.Schema.IndexFold(name) < 0 {
			if byName {
				return nil, errclass.New("INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS", "tableName", tableIdent(t), "extraColumns", errclass.Ident(name))
			}
			return nil, errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(name), "proposal", identList(t.Schema.Names()))
		}
		if from[k] != nil {
			return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(name))
		}
		from[k] = out[i]
	}
	p := &plan.Project{Child: n}
	for _, f := range t.Schema.Fields {
		k := strings.ToLower(f.Name)
		e := from[k]
		if e == nil {
			e = fixed[k]
		}
		if e == nil {
			e = &plan.Literal{T: types.Null}
		}
		if typed, ok := e.(plan.Typed); ok && !storable(typed.Type(), f.Type) && strings.EqualFold(s.Conf.Value("spark.sql.storeAssignmentPolicy"), "ANSI") {
			return nil, errclass.New("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "tableName", tableIdent(t), "colName", errclass.Ident(f.Name),
				"srcType", errclass.Expr(typed.Type().SQL()), "targetType", errclass.Expr(f.Type.SQL()))
		}
		p.Cols = append(p.Cols, &plan.Alias{Child: &plan.Cast{Child: e, To: f.Type}, Name: f.Name, Metadata: plan.NoMetadata})
	}
	return s.Analyze(ctx, p)
}

func tableIdent(t catalog.Table) string { return errclass.Ident(catalog.Name, t.Database, t.Name) }

func identList(names []string) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = errclass.Ident(n)
	}
	return strings.Join(parts, ", ")
}

func (s *Session) arity(t catalog.Table, out []*plan.Attr, columns []string) error {
	data := make([]string, len(out))
	for i, a := range out {
		data[i] = a.Name
	}
	if len(out) > len(columns) {
		return errclass.New("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
			"tableName", tableIdent(t), "tableColumns", identList(columns), "dataColumns", identList(data))
	}
	return errclass.New("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
		"tableName", tableIdent(t), "tableColumns", identList(columns), "dataColumns", identList(data))
}

// storable tells whether values of a type may be stored in a column of another without the user having written a cast.
func storable(from, to types.DataType) bool {
	switch {
	case types.SameShape(from, to), from == types.Null, types.IsString(to) && !types.IsNested(from):
		return true
	case types.IsNumeric(from) && types.IsNumeric(to), types.IsDatetime(from) && types.IsDatetime(to):
		return true
	}
	switch x := from.(type) {
	case types.ArrayType:
		y, ok := to.(types.ArrayType)
		return ok && storable(x.Element, y.Element)
	case types.MapType:
		y, ok := to.(types.MapType)
		return ok && storable(x.Key, y.Key) && storable(x.Value, y.Value)
	case types.StructType:
		y, ok := to.(types.StructType)
		if !ok || len(x.Fields) != len(y.Fields) {
			return false
		}
		for i := range x.Fields {
			if !storable(x.Fields[i].Type, y.Fields[i].Type) {
				return false
			}
		}
		return true
	}
	return false
}

// WriteTable writes a plan's rows to a table, by DataFrameWriter: saveAsTable, or insertInto when insert is set. It returns the
// observed metrics of the plan.
func (s *Session) WriteTable(ctx context.Context, name string, w Write, insert bool) ([]Observation, error) {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return nil, err
	}
	n, err := s.Analyze(ctx, w.Plan)
	if err != nil {
		return nil, err
	}
	if n.Streaming() {
		return nil, errclass.New("CALL_ON_STREAMING_DATASET_UNSUPPORTED", "methodName", errclass.Ident("write"))
	}
	db, table, err := s.tableName(parts)
	if err != nil {
		return nil, err
	}
	old, exists, err := s.server.tables.Find(db, table)
	if err != nil {
		return nil, err
	}
	if insert {
		if !exists {
			return nil, errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(parts...))
		}
		mode := w.Mode
		if mode != sink.Overwrite {
			mode = sink.Append
		}
		if n, err = s.asTable(ctx, old, n, nil, false, nil); err != nil {
			return nil, err
		}
		return s.fill(ctx, old, n, mode, w.Options)
	}
	if exists {
		switch w.Mode {
		case sink.Ignore:
			return nil, nil
		case sink.Append:
			if n, err = s.asTable(ctx, old, n, nil, true, nil); err != nil {
				return nil, err
			}
			return s.fill(ctx, old, n, sink.Append, w.Options)
		case sink.Overwrite:
		default:
			return nil, errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, db, table))
		}
	}
	t := catalog.Table{Database: db, Name: table, Format: w.Format, Schema: plan.Schema(n), PartitionBy: w.PartitionBy, Location: w.Path}
	if p, ok := sink.Options(w.Options).Get("path"); ok {
		t.Location = p
	}
	if !exists {
		if t, err = s.newTable(t, false); err != nil {
			return nil, err
		}
		observed, err := s.fill(ctx, t, n, sink.Append, w.Options)
		return observed, s.orUndo(t, err)
	}
	// The plan may read the table that it overwrites: it is computed before anything of the table goes.
	q, err := s.PrepareResolved(n, "saveAsTable")
	if err != nil {
		return nil, err
	}
	rows, err := q.Collect(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.dropFiles(old); err != nil {
		return nil, err
	}
	if t, err = s.newTable(t, true); err != nil {
		return nil, err
	}
	_, err = s.fill(ctx, t, &plan.Local{Out: n.Output(), Rows: rows}, sink.Append, w.Options)
	return q.Observed(), s.orUndo(t, err)
}

// TableSink is the sink of a stream that is written to a table, which is made if it is not there. format is what the writer asked
// for, or "". A new table is where the option path says.
func (s *Session) TableSink(name, format string, schema types.StructType, partitionBy []string, options map[string]string) (sink.Format, error) {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return nil, err
	}
	if _, ok := (lookup{s}).LookupView(parts); ok {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.TABLE_IS_VIEW", "viewName", errclass.Ident(parts...))
	}
	db, table, err := s.tableName(parts)
	if err != nil {
		return nil, err
	}
	t, exists, err := s.server.tables.Find(db, table)
	if err != nil {
		return nil, err
	}
	if exists && t.Kind == catalog.View {
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.TABLE_IS_VIEW", "viewName", errclass.Ident(parts...))
	}
	asked := format
	if asked == "" {
		asked = s.Conf.Value(KeySource)
	}
	switch {
	case exists && !strings.EqualFold(asked, t.Format): // as in Spark, where a writer always has a format
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.TABLE_FORMAT", "tableName", errclass.Ident(parts...), "stored", t.Format, "format", asked)
	case !exists && strings.EqualFold(format, "memory"): // it has tables of its own
		return nil, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", format)
	case !exists:
		path, _ := sink.Options(options).Get("path")
		t, err = s.newTable(catalog.Table{Database: db, Name: table, Format: format, Schema: schema, PartitionBy: partitionBy, Location: path}, false)
		if err != nil {
			return nil, err
		}
	}
	_, f, err := s.SinkFormat(t.Format)
	if err != nil {
		return nil, err
	}
	return tableSink{f, t}, nil
}

// tableSink opens the sink of a table's format at the table's place.
type tableSink struct {
	sink.Format
	t catalog.Table
}

// Open implements sink.Format.
func (f tableSink) Open(ctx context.Context, req sink.Request) (sink.Sink, error) {
	req.Format, req.Path, req.PartitionBy = f.t.Format, f.t.Location, f.t.PartitionBy
	options := sink.Options{}
	for k, v := range f.t.Options {
		options[k] = v
	}
	for k, v := range req.Options {
		options[k] = v
	}
	req.Options = options
	return f.Format.Open(ctx, req)
}
