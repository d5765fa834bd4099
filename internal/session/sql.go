package session

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// SQLResult is what a SQL text stands for.
type SQLResult struct {
	// Plan is the query, or the rows that a statement has given.
	Plan plan.Node
	// Ran is set when the text was a statement with an effect, which has happened.
	Ran bool
}

// SQL reads a text. A query is given back as its plan; any other statement is run at once.
func (s *Session) SQL(ctx context.Context, text string, named map[string]plan.Expr, positional []plan.Expr) (SQLResult, error) {
	opts := s.SQLOptions()
	opts.Named, opts.Positional = named, positional
	opts.Constant = s.constant(ctx)
	st, err := sql.ParseStatement(text, opts)
	if err != nil {
		return SQLResult{}, err
	}
	if q, ok := st.(*plan.Query); ok {
		return SQLResult{Plan: q.Plan}, nil
	}
	n, err := s.Run(ctx, st)
	return SQLResult{Plan: n, Ran: true}, err
}

// Columns of the results of statements.

func text1(name string) types.Field { return types.Field{Name: name, Type: types.String} }

func yesNo(name string) types.Field { return types.Field{Name: name, Type: types.Boolean} }

var noRows = types.StructType{}

func nothing() (plan.Node, error) { return plan.LocalRows(noRows, nil) }

// Run runs a statement that is no query and gives its rows.
func (s *Session) Run(ctx context.Context, st plan.Statement) (plan.Node, error) {
	switch st := st.(type) {
	case *plan.Query:
		return st.Plan, nil
	case *plan.CreateView:
		return s.runCreateView(ctx, st)
	case *plan.CreateViewUsing:
		return s.runCreateViewUsing(ctx, st)
	case *plan.DropView:
		return s.runDropView(ctx, st)
	case *plan.SetConf:
		key := settingOf(st.Key)
		if err := s.Conf.Set(key, st.Value); err != nil {
			return nil, err
		}
		return plan.LocalRows(keyValue, []types.Row{{key, st.Value}})
	case *plan.ShowConf:
		return s.runShowConf(st)
	case *plan.ResetConf:
		if st.Key == "" {
			s.Conf.Reset()
		} else if err := s.Conf.Unset(st.Key); err != nil {
			return nil, err
		}
		return nothing()
	case *plan.SetTimeZone:
		return s.runSetTimeZone(st)
	case *plan.DeclareVariable:
		return after(s.declareVariable(ctx, st))
	case *plan.SetVariable:
		return after(s.setVariables(ctx, st))
	case *plan.DropVariable:
		return after(s.dropVariable(st))
	case *plan.Script:
		return s.runScript(ctx, st)
	case *plan.ExecuteImmediate:
		return s.executeImmediate(ctx, st)
	case *plan.CreateFunction:
		return after(s.createFunction(ctx, st))
	case *plan.DropFunction:
		return after(s.dropFunction(st))
	case *plan.Explain:
		return s.runExplain(ctx, st)
	case *plan.DescribeQuery:
		schema, err := s.Schema(ctx, st.Query)
		if err != nil {
			return nil, err
		}
		return describeColumns(schema)
	case *plan.CacheTable:
		return after(s.cacheTable(ctx, st))
	case *plan.UncacheTable:
		return after(s.uncacheTable(ctx, st))
	case *plan.ClearCache:
		return after(s.ClearCache())
	case *plan.RefreshPath:
		return after(s.RefreshPath(st.Path))
	case *plan.RefreshTable:
		return after(s.refreshTable(ctx, st))
	case *plan.RefreshFunction:
		return after(s.refreshFunction(st))
	case *plan.AddResource:
		return after(s.addResource(st))
	case *plan.ListResources:
		return s.listResources(st)
	case *plan.ShowCollations:
		return s.showCollations(st)
	}
	changed := s.changes(ctx, st)
	n, err := s.runCatalog(ctx, st)
	if err == nil && changed != nil {
		err = changed()
	}
	return n, err
}

var keyValue = types.Struct(text1("key"), text1("value"))

func (s *Session) runCreateView(ctx context.Context, st *plan.CreateView) (plan.Node, error) {
	if !st.Temp {
		return s.createPersistentView(ctx, st)
	}
	name, err := viewName(st.Name, st.Global)
	if err != nil {
		return nil, err
	}
	n, err := s.Analyze(ctx, st.Query)
	if err != nil {
		return nil, err
	}
	if st.Columns != nil {
		if n, err = s.namedColumns(ctx, name, n, st.Columns); err != nil {
			return nil, err
		}
	}
	if err := s.PutView(name, n, st.Global, st.Replace); err != nil {
		return nil, err
	}
	return nothing()
}

// namedColumns gives a view's query the column names and comments of its definition.
func (s *Session) namedColumns(ctx context.Context, name string, n plan.Node, columns []plan.ViewColumn) (plan.Node, error) {
	out := n.Output()
	if len(out) != len(columns) {
		names := make([]string, len(columns))
		for i, c := range columns {
			names[i] = errclass.Ident(c.Name)
		}
		data := make([]string, len(out))
		for i, a := range out {
			data[i] = errclass.Ident(a.Name)
		}
		want, have := strings.Join(names, ", "), strings.Join(data, ", ")
		if len(out) > len(columns) {
			return nil, errclass.New("CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
				"viewName", errclass.Ident(name), "viewColumns", want, "dataColumns", have)
		}
		return nil, errclass.New("CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS",
			"viewName", errclass.Ident(name), "viewColumns", want, "dataColumns", have)
	}
	cols := make([]plan.Expr, len(out))
	for i, c := range columns {
		a := plan.NewAlias(out[i], c.Name)
		if c.Comment != "" {
			a.Metadata = types.Field{Metadata: out[i].Metadata}.WithMetadata("comment", c.Comment).Metadata
		}
		cols[i] = a
	}
	return s.Analyze(ctx, &plan.Project{Cols: cols, Child: n})
}

func (s *Session) runCreateViewUsing(ctx context.Context, st *plan.CreateViewUsing) (plan.Node, error) {
	name, err := viewName(st.Name, st.Global)
	if err != nil {
		return nil, err
	}
	r := &plan.Read{Format: st.Format, Options: st.Options, ID: plan.NewID()}
	if st.Schema != nil {
		r.Schema = types.JSON(*st.Schema)
	}
	if err := s.CreateView(ctx, name, r, st.Global, st.Replace); err != nil {
		return nil, err
	}
	return nothing()
}

func (s *Session) runDropView(ctx context.Context, st *plan.DropView) (plan.Node, error) {
	dropped := false
	switch {
	case len(st.Name) == 1:
		dropped = s.DropView(st.Name[0], false)
	case len(st.Name) == 2 && strings.EqualFold(st.Name[0], globalNamespace):
		dropped = s.DropView(st.Name[1], true)
	}
	if !dropped {
		var err error
		if dropped, err = s.dropPersistentView(ctx, st.Name); err != nil {
			return nil, err
		}
	}
	if !dropped && !st.IfExists {
		return nil, s.notFound(st.Name)
	}
	return nothing()
}

// settingOf is the setting that SET means by a name: two names of Hadoop stand for the number of partitions.
func settingOf(name string) string {
	if name == "mapred.reduce.tasks" || name == "mapreduce.job.reduces" {
		return setting.ShufflePartitions
	}
	return name
}

func (s *Session) runShowConf(st *plan.ShowConf) (plan.Node, error) {
	var rows []types.Row
	switch {
	case st.Verbose:
		for _, c := range s.Conf.Listed() {
			rows = append(rows, types.Row{c.Key, c.Value, "", c.Since})
		}
		return plan.LocalRows(types.Struct(text1("key"), text1("value"), text1("meaning"), text1("Since version")), rows)
	case st.Key != "":
		key := settingOf(st.Key)
		v, ok := s.Conf.Lookup(key)
		if !ok {
			v = setting.Undefined
		} else if _, _, err := s.Conf.Get(key); err != nil {
			return nil, err
		}
		rows = append(rows, types.Row{key, v})
	default:
		for _, p := range s.Conf.All() {
			rows = append(rows, types.Row{p.Key, p.Value})
		}
	}
	return plan.LocalRows(keyValue, rows)
}

func (s *Session) runSetTimeZone(st *plan.SetTimeZone) (plan.Node, error) {
	zone := st.Zone
	switch {
	case st.Offset != nil:
		zone = offsetZone(int64(*st.Offset) / 1e6)
	case strings.EqualFold(zone, "LOCAL"):
		if err := s.Conf.Unset(setting.TimeZone); err != nil {
			return nil, err
		}
		zone = s.Conf.Value(setting.TimeZone)
	}
	if err := s.Conf.Set(setting.TimeZone, zone); err != nil {
		return nil, err
	}
	return plan.LocalRows(keyValue, []types.Row{{setting.TimeZone, zone}})
}

// offsetZone is the name of the zone that is some seconds away from UTC.
func offsetZone(seconds int64) string {
	if seconds == 0 {
		return "Z"
	}
	sign := "+"
	if seconds < 0 {
		sign, seconds = "-", -seconds
	}
	name := fmt.Sprintf("%s%02d:%02d", sign, seconds/3600, seconds/60%60)
	if seconds%60 != 0 {
		name += fmt.Sprintf(":%02d", seconds%60)
	}
	return name
}

func (s *Session) runExplain(ctx context.Context, st *plan.Explain) (plan.Node, error) {
	mode, ok := ExplainModeOf(st.Mode)
	if !ok {
		mode = ExplainSimple
	}
	text := ""
	if q, ok := st.Statement.(*plan.Query); ok {
		var err error
		if text, err = s.Explain(ctx, q.Plan, mode); err != nil {
			// As in Spark the text of the error is the answer, line by line.
			rows := []types.Row{{"Error occurred during query planning: "}}
			for line := range strings.Lines(err.Error()) {
				rows = append(rows, types.Row{strings.TrimSuffix(line, "\n")})
			}
			return plan.LocalRows(types.Struct(types.NewField("plan", types.String)), rows)
		}
	} else {
		text = fmt.Sprintf("== Physical Plan ==\nExecute %s\n", strings.TrimPrefix(fmt.Sprintf("%T", st.Statement), "*plan."))
	}
	return plan.LocalRows(types.Struct(types.NewField("plan", types.String)), []types.Row{{text}})
}

// relation resolves a table or view by its name.
func (s *Session) relation(ctx context.Context, parts []string) (plan.Node, error) {
	return s.Analyze(ctx, &plan.Named{Parts: parts})
}

// describeColumns is the answer of DESCRIBE.
func describeColumns(st types.StructType) (plan.Node, error) {
	return plan.LocalRows(describedColumns, columnRows(st))
}

func columnRows(st types.StructType) []types.Row {
	rows := make([]types.Row, len(st.Fields))
	for i, f := range st.Fields {
		rows[i] = types.Row{f.Name, f.Type.SimpleString(), nil}
		if c, ok := f.Comment(); ok {
			rows[i][2] = c
		}
	}
	return rows
}

var describedColumns = types.Struct(text1("col_name"), text1("data_type"), types.NewField("comment", types.String))

// like tells whether a name fits a pattern of SHOW, in which * is any text and | separates alternatives.
func like(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	name = strings.ToLower(name)
	return slices.ContainsFunc(strings.Split(pattern, "|"), func(alt string) bool {
		return glob(strings.ToLower(strings.TrimSpace(alt)), name)
	})
}

func glob(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	for i := len(first); i <= len(s); i++ {
		if glob(rest, s[i:]) {
			return true
		}
	}
	return false
}
