package session

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/connector/filesink"
	"github.com/millrace/millrace/internal/deltatable"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/query"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/types"
)

// fill writes a resolved plan, whose columns are those of the table, into a table's files.
func (s *Session) fill(ctx context.Context, t catalog.Table, n plan.Node, mode sink.Mode, options map[string]string) ([]query.Observation, error) {
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
	by := t.PartitionBy
	if t.Buckets != nil {
		if n, err = s.bucketed(ctx, t, n); err != nil {
			return nil, err
		}
		by = slices.Concat(by, []string{filesink.BucketColumn})
	}
	written := s.writtenTo(t)
	observed, err := s.Write(ctx, Write{Plan: n, Format: t.Format, Path: t.Location, Mode: mode, Options: all, PartitionBy: by})
	if err != nil {
		return nil, err
	}
	return observed, written()
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
	if location, ok := s.insertsDelta(st); ok {
		return s.insertDelta(ctx, st, location)
	}
	named, ok := st.Table.(*plan.Named)
	if !ok {
		return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "INSERT into what is no table")
	}
	if s.isTemp(named.Parts) {
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", errclass.Ident(named.Parts...), "operation", "INSERT"), named.Origin)
	}
	t, err := s.tableAt(named.Parts, named.Origin)
	if err != nil {
		return err
	}
	if t.Kind == catalog.View {
		return placed(errclass.New("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", "viewName", tableIdent(t), "operation", "INSERT"), named.Origin)
	}
	if t.Elsewhere == catalog.Told {
		return placed(errclass.New("UNSUPPORTED_INSERT.NOT_ALLOWED", "relationId", tableIdent(t)), named.Origin)
	}
	if st.ReplaceWhere != nil {
		return placed(errclass.New("_LEGACY_ERROR_TEMP_1012", "identifier", tableIdent(t)), st.Origin)
	}
	if err := checkInsertPartition(t, st); err != nil {
		return err
	}
	static, err := s.partitionSpec(ctx, t, st.Partition, st.Origin)
	if err != nil {
		return err
	}
	if st.IfNotExists {
		if found, err := s.partitionsOf(t, static); err != nil || len(found) > 0 {
			return err
		}
	}
	query, err := s.withDefaults(t, st)
	if err != nil {
		return err
	}
	n, err := s.Analyze(ctx, query)
	if err != nil {
		return err
	}
	fixed := map[string]plan.Expr{}
	for _, p := range st.Partition {
		if p.Value != nil {
			fixed[strings.ToLower(p.Name)] = p.Value
		}
	}
	if n, err = s.asTable(ctx, t, n, st.Columns, st.ByName, fixed, st.Origin); err != nil {
		return err
	}
	return s.insertRows(ctx, t, n, st, static, named.Options)
}

// insertRows writes the rows of an INSERT. OVERWRITE replaces the partitions that its PARTITION clause names, all of them if there is
// none, or in the mode dynamic those that get rows.
func (s *Session) insertRows(ctx context.Context, t catalog.Table, n plan.Node, st *plan.Insert, static []partitionValue, given map[string]string) error {
	if !st.Overwrite {
		_, err := s.fill(ctx, t, n, sink.Append, given)
		return err
	}
	options := map[string]string{}
	for k, v := range given {
		options[k] = v
	}
	mode, ok := sink.Options(options).Get("partitionOverwriteMode")
	if !ok {
		mode = s.Conf.Value(setting.OverwriteMode)
	}
	if len(static) == len(t.PartitionBy) && len(static) > 0 || len(t.PartitionBy) > 0 && strings.EqualFold(mode, "dynamic") {
		options["partitionOverwriteMode"] = "dynamic"
		if len(static) == len(t.PartitionBy) { // the partition is replaced even if there are no rows for it
			return s.replacePartitions(ctx, t, n, static, options)
		}
		_, err := s.fill(ctx, t, n, sink.Overwrite, options)
		return err
	}
	if len(static) > 0 {
		return s.replacePartitions(ctx, t, n, static, options)
	}
	options["partitionOverwriteMode"] = "static"
	_, err := s.fill(ctx, t, n, sink.Overwrite, options)
	return err
}

// replacePartitions removes the partitions with some values and writes rows in their place. The rows are computed before anything
// goes, as they may come from the table itself.
func (s *Session) replacePartitions(ctx context.Context, t catalog.Table, n plan.Node, static []partitionValue, options map[string]string) error {
	q, err := s.PrepareResolved(n, "insert")
	if err != nil {
		return err
	}
	rows, err := q.Collect(ctx)
	if err != nil {
		return err
	}
	found, err := s.partitionsOf(t, static)
	if err != nil {
		return err
	}
	for _, dir := range found {
		if err := s.removePartition(t, dir); err != nil {
			return err
		}
	}
	if len(rows) == 0 && len(static) == len(t.PartitionBy) {
		return nil
	}
	delete(options, "partitionOverwriteMode")
	_, err = s.fill(ctx, t, &plan.Local{Out: n.Output(), Rows: rows}, sink.Append, options)
	return err
}

// checkInsertPartition checks the columns of INSERT ... PARTITION.
func checkInsertPartition(t catalog.Table, st *plan.Insert) error {
	if len(st.Partition) == 0 {
		return nil
	}
	var unknown []string
	names := map[string]bool{}
	dynamic := false
	order := true
	for _, v := range st.Partition {
		names[strings.ToLower(v.Name)] = true
		if !slices.ContainsFunc(t.PartitionBy, func(p string) bool { return strings.EqualFold(p, v.Name) }) {
			unknown = append(unknown, errclass.Ident(v.Name))
		}
	}
	for _, p := range t.PartitionBy { // as the table has them, those with a value must come first
		for _, v := range st.Partition {
			if strings.EqualFold(v.Name, p) {
				order = order && (v.Value == nil || !dynamic)
				dynamic = dynamic || v.Value == nil
			}
		}
	}
	switch {
	case len(unknown) > 0:
		return errclass.New("PARTITIONS_NOT_FOUND", "partitionList", strings.Join(unknown, ", "), "tableName", tableIdent(t))
	case len(names) < len(t.PartitionBy):
		var given []string
		for _, v := range st.Partition {
			given = append(given, v.Name)
		}
		return errclass.New("_LEGACY_ERROR_TEMP_1169", "tableName", tableIdent(t), "normalizedPartSpec", strings.Join(given, ","), "partColNames", strings.Join(t.PartitionBy, ","))
	case !order:
		return errclass.New("_LEGACY_ERROR_TEMP_1147", "partColumns", "["+strings.Join(t.PartitionBy, ",")+"]")
	}
	return nil
}

// withDefaults is the query of an INSERT with the columns' defaults in the place of DEFAULT.
func (s *Session) withDefaults(t catalog.Table, st *plan.Insert) (plan.Node, error) {
	var columns []types.Field
	fixed := map[string]bool{}
	for _, p := range st.Partition {
		fixed[strings.ToLower(p.Name)] = p.Value != nil
	}
	for _, f := range t.Schema.Fields {
		if !fixed[strings.ToLower(f.Name)] {
			columns = append(columns, f)
		}
	}
	if st.Columns != nil {
		columns = columns[:0:0]
		for _, name := range st.Columns {
			i := t.Schema.IndexFold(name)
			if i < 0 {
				return st.Query, nil // reported where the columns are matched
			}
			columns = append(columns, t.Schema.Fields[i])
		}
	}
	replace := func(row []plan.Expr) ([]plan.Expr, error) {
		out := slices.Clone(row)
		for i, e := range row {
			if i >= len(columns) {
				break
			}
			if isDefault(e) {
				d, err := s.defaultExpr(columns[i])
				if err != nil {
					return nil, err
				}
				out[i] = d
			} else if st.Query != nil && plan.Exists(e, isDefault) {
				return nil, errclass.New("DEFAULT_PLACEMENT_INVALID")
			}
		}
		return out, nil
	}
	switch q := st.Query.(type) {
	case *plan.Values:
		rows := make([][]plan.Expr, len(q.Rows))
		for i, row := range q.Rows {
			var err error
			if rows[i], err = replace(row); err != nil {
				return nil, err
			}
		}
		v := *q
		v.Rows = rows
		return &v, nil
	case *plan.Project:
		cols, err := replace(q.Cols)
		if err != nil {
			return nil, err
		}
		p := *q
		p.Cols = cols
		return &p, nil
	}
	return st.Query, nil
}

// isDefault tells whether an expression is the word DEFAULT.
func isDefault(e plan.Expr) bool {
	c, ok := plan.Trim(e).(*plan.Column)
	return ok && len(c.Parts) == 1 && strings.EqualFold(c.Parts[0], "DEFAULT")
}

// asTable makes the rows of a query rows of a table: columns by position or by name, cast to the table's types. columns are those
// that the statement lists, fixed the partition columns whose values stand in the statement.
func (s *Session) asTable(ctx context.Context, t catalog.Table, n plan.Node, columns []string, byName bool, fixed map[string]plan.Expr, o plan.Origin) (plan.Node, error) {
	out := n.Output()
	listed := columns != nil
	if !listed {
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
	seen := map[string]bool{}
	var extra []string
	for _, name := range columns {
		k := strings.ToLower(name)
		switch {
		case seen[k] && byName:
			return nil, errclass.New("INCOMPATIBLE_DATA_FOR_TABLE.AMBIGUOUS_COLUMN_NAME", "tableName", tableIdent(t), "colName", errclass.Ident(name))
		case seen[k]:
			return nil, errclass.New("COLUMN_ALREADY_EXISTS", "columnName", errclass.Ident(k))
		case t.Schema.IndexFold(name) < 0 && byName:
			extra = append(extra, errclass.Ident(name))
		case t.Schema.IndexFold(name) < 0:
			return nil, placed(errclass.New("UNRESOLVED_COLUMN.WITH_SUGGESTION", "objectName", errclass.Ident(name), "proposal", errclass.Idents(t.Schema.Names())), o)
		}
		seen[k] = true
	}
	if extra != nil {
		return nil, errclass.New("INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS", "tableName", tableIdent(t), "extraColumns", strings.Join(extra, ", "))
	}
	if len(columns) != len(out) {
		return nil, s.arity(t, out, columns, fixed)
	}
	from := map[string]plan.Expr{}
	for i, name := range columns {
		from[strings.ToLower(name)] = out[i]
	}
	policy := strings.ToUpper(s.Conf.Value(setting.StorePolicy))
	p := &plan.Project{Child: n}
	for _, f := range t.Schema.Fields {
		k := strings.ToLower(f.Name)
		e := from[k]
		if e == nil {
			e = fixed[k]
		}
		if e == nil {
			var err error
			if e, err = s.defaultExpr(f); err != nil {
				return nil, err
			}
		}
		if typed, ok := e.(plan.Typed); ok && fixed[k] == nil && !s.storable(typed.Type(), f.Type, policy) {
			return nil, errclass.New("INCOMPATIBLE_DATA_FOR_TABLE.CANNOT_SAFELY_CAST", "tableName", tableIdent(t), "colName", errclass.Ident(f.Name),
				"srcType", errclass.Expr(typed.Type().SQL()), "targetType", errclass.Expr(f.Type.SQL()))
		}
		cast := &plan.Cast{Child: e, To: f.Type}
		if policy == "LEGACY" {
			cast.Mode = plan.CastLegacy
		}
		p.Cols = append(p.Cols, &plan.Alias{Child: cast, Name: f.Name, Metadata: writtenMetadata(t, f)})
	}
	n, err := s.Analyze(ctx, p)
	if err != nil {
		return nil, err
	}
	return n, nil
}

// writtenMetadata is what those who write the files of a table should know of a column: that nulls of JSON must not be left out, where
// they would be read as a default.
func writtenMetadata(t catalog.Table, f types.Field) string {
	if text := plan.MetadataText(f, types.ExistsDefaultKey); text != "" && strings.EqualFold(t.Format, "json") {
		return types.Field{}.WithMetadata(types.ExistsDefaultKey, text).Metadata
	}
	return plan.NoMetadata
}

// storable tells whether values of a type may be stored in a column of another under a policy.
func (s *Session) storable(from, to types.DataType, policy string) bool {
	switch policy {
	case "LEGACY":
		return true
	case "STRICT":
		return types.SameShape(from, to) || from == types.Null || widens(from, to)
	}
	return storable(from, to)
}

// widens tells whether every value of a type is one of another.
func widens(from, to types.DataType) bool {
	rank := func(t types.DataType) int {
		return slices.Index([]types.DataType{types.Byte, types.Short, types.Integer, types.Long, types.Float, types.Double}, t)
	}
	a, b := rank(from), rank(to)
	return a >= 0 && b >= a || from == types.Date && types.IsDatetime(to)
}

func tableIdent(t catalog.Table) string { return errclass.Ident(catalog.Name, t.Database, t.Name) }

func (s *Session) arity(t catalog.Table, out []*plan.Attr, columns []string, fixed map[string]plan.Expr) error {
	data := make([]string, len(out))
	for i, a := range out {
		data[i] = a.Name
	}
	if len(fixed) > 0 {
		var static []string
		for _, p := range t.PartitionBy {
			if fixed[strings.ToLower(p)] != nil {
				static = append(static, p)
			}
		}
		return errclass.New("INSERT_PARTITION_COLUMN_ARITY_MISMATCH", "tableName", tableIdent(t), "tableColumns", errclass.Idents(t.Schema.Names()),
			"dataColumns", errclass.Idents(data), "staticPartCols", errclass.Idents(static), "reason", "there are "+strconv.Itoa(len(out))+" data columns")
	}
	if len(out) > len(columns) {
		return errclass.New("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
			"tableName", tableIdent(t), "tableColumns", errclass.Idents(columns), "dataColumns", errclass.Idents(data))
	}
	return errclass.New("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
		"tableName", tableIdent(t), "tableColumns", errclass.Idents(columns), "dataColumns", errclass.Idents(data))
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
func (s *Session) WriteTable(ctx context.Context, name string, w Write, insert bool) ([]query.Observation, error) {
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
	if exists && deltatable.Is(old.Format) || !exists && !insert && deltatable.Is(orDefault(w.Format, s.Conf.Value(setting.Source))) {
		return s.writeDeltaTable(ctx, db, table, w, insert, old, exists)
	}
	if insert {
		if !exists {
			return nil, errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(parts...))
		}
		mode := w.Mode
		if mode != sink.Overwrite {
			mode = sink.Append
		}
		if n, err = s.asTable(ctx, old, n, nil, w.ByName, nil, plan.Origin{}); err != nil {
			return nil, err
		}
		return s.fill(ctx, old, n, mode, w.Options)
	}
	if exists {
		switch w.Mode {
		case sink.Ignore:
			return nil, nil
		case sink.Append:
			if err := sameBuckets(old, w.Buckets); err != nil {
				return nil, err
			}
			if n, err = s.asTable(ctx, old, n, nil, true, nil, plan.Origin{}); err != nil {
				return nil, err
			}
			return s.fill(ctx, old, n, sink.Append, w.Options)
		case sink.Overwrite:
		default:
			return nil, errclass.New("TABLE_OR_VIEW_ALREADY_EXISTS", "relationName", errclass.Ident(catalog.Name, db, table))
		}
	}
	if !exists && w.MustExist {
		return nil, errclass.New("TABLE_OR_VIEW_NOT_FOUND", "relationName", errclass.Ident(parts...))
	}
	t := catalog.Table{
		Database: db, Name: table, Format: w.Format, Schema: plan.Schema(n), PartitionBy: w.PartitionBy, Buckets: w.Buckets, Location: w.Path, Properties: w.Properties,
	}
	if p, ok := sink.Options(w.Options).Get("path"); ok {
		t.Location = p
	}
	if !exists {
		var observed []query.Observation
		err = s.filledTable(t, func(t catalog.Table) (err error) {
			observed, err = s.fill(ctx, t, n, firstMode(t), w.Options)
			return err
		})
		return observed, err
	}
	var observed []query.Observation
	err = s.replacedTable(old, t, func(t catalog.Table, mode sink.Mode) (err error) {
		observed, err = s.fill(ctx, t, n, mode, w.Options)
		return err
	})
	return observed, err
}

// TableSink is the sink of a stream that is written to a table, which is made if it is not there. format is what the writer asked
// for, or "". A new table is where the option path says.
func (s *Session) TableSink(ctx context.Context, name, format string, schema types.StructType, partitionBy []string, options map[string]string) (sink.Format, error) {
	parts, err := sql.ParseIdentifier(name)
	if err != nil {
		return nil, err
	}
	if _, ok := (lookup{s: s}).LookupView(parts); ok {
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
		asked = s.Conf.Value(setting.Source)
	}
	switch {
	case exists && !strings.EqualFold(asked, t.Format): // as in Spark, where a writer always has a format
		return nil, errclass.New("UNSUPPORTED_STREAMING_OPERATION.TABLE_FORMAT", "tableName", errclass.Ident(parts...), "stored", t.Format, "format", asked)
	case !exists && strings.EqualFold(format, "memory"): // it has tables of its own
		return nil, errclass.New("DATA_SOURCE_NOT_FOUND", "provider", format)
	case !exists:
		path, _ := sink.Options(options).Get("path")
		t = catalog.Table{Database: db, Name: table, Format: format, Schema: schema, PartitionBy: partitionBy, Location: path}
		if deltatable.Is(asked) {
			t, err = s.newDeltaSinkTable(ctx, t)
		} else {
			t, err = s.newTable(t)
		}
		if err == nil && t.Unknown != nil { // a stream's output says itself what belongs to it
			t.Unknown = nil
			err = s.server.tables.Create(t, true)
		}
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
