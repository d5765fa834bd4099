package convert

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// statistics translates the relations that stand for whole methods of DataFrame, in terms of plain operators.
func (c *Converter) statistics(m *connectpb.Relation) (plan.Node, error) {
	switch k := m.GetRelType().(type) {
	case *connectpb.Relation_FillNa:
		return c.fillNA(k.FillNa)
	case *connectpb.Relation_DropNa:
		return c.dropNA(k.DropNa)
	case *connectpb.Relation_Replace:
		return c.replaceNA(k.Replace)
	case *connectpb.Relation_Summary:
		return c.summary(k.Summary.GetInput(), nil, k.Summary.GetStatistics())
	case *connectpb.Relation_Describe:
		return c.summary(k.Describe.GetInput(), k.Describe.GetCols(), []string{"count", "mean", "stddev", "min", "max"})
	case *connectpb.Relation_Cov:
		return c.pairStatistic(k.Cov.GetInput(), "Cov", "covar_samp", "cov", k.Cov.GetCol1(), k.Cov.GetCol2())
	case *connectpb.Relation_Corr:
		if me := k.Corr.GetMethod(); k.Corr.Method != nil && me != "pearson" {
			return nil, unsupported("the correlation " + me)
		}
		return c.pairStatistic(k.Corr.GetInput(), "Corr", "corr", "corr", k.Corr.GetCol1(), k.Corr.GetCol2())
	case *connectpb.Relation_ApproxQuantile:
		return c.quantiles(k.ApproxQuantile)
	case *connectpb.Relation_Crosstab:
		return c.crosstab(k.Crosstab)
	case *connectpb.Relation_FreqItems:
		return c.freqItems(k.FreqItems)
	case *connectpb.Relation_SampleBy:
		return c.sampleBy(k.SampleBy)
	case *connectpb.Relation_Parse:
		return c.parse(k.Parse)
	case *connectpb.Relation_Transpose:
		return c.transpose(k.Transpose)
	case *connectpb.Relation_GroupMap, *connectpb.Relation_CoGroupMap, *connectpb.Relation_MapPartitions,
		*connectpb.Relation_ApplyInPandasWithState, *connectpb.Relation_CommonInlineUserDefinedTableFunction,
		*connectpb.Relation_CommonInlineUserDefinedDataSource:
		return nil, errclass.New("UNSUPPORTED_FEATURE.PYTHON_FUNCTION", "functionName", choiceName(m.GetRelType()))
	}
	return nil, unsupported(choiceName(m.GetRelType()))
}

// defaultStatistics are those of summary() without arguments.
var defaultStatistics = []string{"count", "mean", "stddev", "min", "25%", "50%", "75%", "max"}

// summary gives a row for each statistic, with the values of all columns as text.
func (c *Converter) summary(input *connectpb.Relation, cols, statistics []string) (plan.Node, error) {
	in, err := c.input(input, "StatSummary")
	if err != nil {
		return nil, err
	}
	if len(statistics) == 0 {
		statistics = defaultStatistics
	}
	st, picked, err := c.fields(in, cols)
	if err != nil {
		return nil, err
	}
	var fields []types.Field
	if len(cols) > 0 {
		for _, name := range cols {
			fields = append(fields, st.Fields[st.IndexFold(name)])
		}
	} else {
		for i, f := range st.Fields {
			if picked[i] && (types.IsNumeric(f.Type) || types.IsString(f.Type)) {
				fields = append(fields, f)
			}
		}
	}
	u := &plan.Union{}
	for _, name := range statistics {
		row := []plan.Expr{&plan.Alias{Child: lit(name, types.String), Name: "summary"}}
		for _, f := range fields {
			v, err := statistic(name, f)
			if err != nil {
				return nil, err
			}
			row = append(row, &plan.Alias{Child: &plan.Cast{Child: v, To: types.String}, Name: f.Name})
		}
		u.Inputs = append(u.Inputs, &plan.Aggregate{Aggs: row, Child: in})
	}
	if len(u.Inputs) == 1 {
		return u.Inputs[0], nil
	}
	return u, nil
}

// statistic is a statistic's expression for a column; null where it makes no sense.
func statistic(name string, f types.Field) (plan.Expr, error) {
	col := plan.Expr(column(f.Name))
	number := col
	if types.IsString(f.Type) {
		number = &plan.Cast{Child: col, To: types.Double, Mode: plan.CastTry}
	}
	switch strings.ToLower(name) {
	case "count", "min", "max", "count_distinct", "approx_count_distinct":
		if n := strings.ToLower(name); n != "count_distinct" {
			return call(n, col), nil
		}
		return &plan.Func{Name: []string{"count"}, Args: []plan.Expr{col}, Distinct: true}, nil
	case "mean", "stddev":
		if name == "mean" {
			name = "avg"
		}
		return call(name, number), nil
	}
	percent, ok := strings.CutSuffix(name, "%")
	if p, err := strconv.ParseFloat(percent, 64); ok && err == nil && p >= 0 && p <= 100 {
		return call("percentile_approx", number, lit(p/100, types.Double), lit(int32(10000), types.Integer)), nil
	}
	return nil, errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", name+" is no statistic of summary")
}

// pairStatistic is one number about two columns.
func (c *Converter) pairStatistic(input *connectpb.Relation, of, fn, name, col1, col2 string) (plan.Node, error) {
	in, err := c.input(input, of)
	if err != nil {
		return nil, err
	}
	st, _, err := c.fields(in, []string{col1, col2})
	if err != nil {
		return nil, err
	}
	args := make([]plan.Expr, 2)
	for i, n := range []string{col1, col2} {
		f := st.Fields[st.IndexFold(n)]
		if !types.IsNumeric(f.Type) {
			return nil, errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason",
				"the "+of+" of the column "+n+" cannot be computed: its type is "+f.Type.SQL())
		}
		args[i] = &plan.Cast{Child: column(n), To: types.Double}
	}
	return &plan.Aggregate{Aggs: []plan.Expr{&plan.Alias{Child: call(fn, args...), Name: name}}, Child: in}, nil
}

func (c *Converter) quantiles(m *connectpb.StatApproxQuantile) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "StatApproxQuantile")
	if err != nil {
		return nil, err
	}
	accuracy := int32(10000)
	if e := m.GetRelativeError(); e > 1e-9 {
		accuracy = int32(max(1, min(1/e, 1e9)))
	}
	ps := make([]any, len(m.GetProbabilities()))
	for i, p := range m.GetProbabilities() {
		ps[i] = p
	}
	probabilities := lit(ps, types.ArrayType{Element: types.Double})
	var all []plan.Expr
	for _, name := range m.GetCols() {
		q := call("percentile_approx", &plan.Cast{Child: column(name), To: types.Double}, probabilities, lit(accuracy, types.Integer))
		all = append(all, call("coalesce", q, lit([]any{}, types.ArrayType{Element: types.Double})))
	}
	return &plan.Aggregate{Aggs: []plan.Expr{&plan.Alias{Child: call("array", all...), Name: "approx_quantile"}}, Child: in}, nil
}

// crosstab counts pairs of values: a pivot whose missing counts are zero.
func (c *Converter) crosstab(m *connectpb.StatCrosstab) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "StatCrosstab")
	if err != nil {
		return nil, err
	}
	key := m.GetCol1() + "_" + m.GetCol2()
	text := func(name string) plan.Expr {
		return call("coalesce", &plan.Cast{Child: column(name), To: types.String}, lit("null", types.String))
	}
	pairs := &plan.Project{Child: in, Cols: []plan.Expr{
		&plan.Alias{Child: text(m.GetCol1()), Name: key}, &plan.Alias{Child: text(m.GetCol2()), Name: "value"},
	}}
	p := &plan.Aggregate{Keys: []plan.Expr{column(key)}, Child: pairs, KeysInOutput: true, Aggs: []plan.Expr{call("count", lit(int32(1), types.Integer))}}
	a := &connectpb.Aggregate_Pivot{Col: &connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedAttribute_{
		UnresolvedAttribute: &connectpb.Expression_UnresolvedAttribute{UnparsedIdentifier: "value"},
	}}}
	if err := c.pivot(p, a); err != nil {
		return nil, err
	}
	st, err := c.s.Schema(c.ctx, p)
	if err != nil {
		return nil, err
	}
	cols := []plan.Expr{column(st.Fields[0].Name)}
	for _, f := range st.Fields[1:] {
		cols = append(cols, &plan.Alias{Child: call("coalesce", column(f.Name), lit(int64(0), types.Long)), Name: f.Name})
	}
	return &plan.Project{Cols: cols, Child: p}, nil
}

// freqItems finds the values that make up at least a share of a column's rows. Unlike Spark's the answer has no others among them.
func (c *Converter) freqItems(m *connectpb.StatFreqItems) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "StatFreqItems")
	if err != nil {
		return nil, err
	}
	support := 0.01
	if m.Support != nil {
		support = m.GetSupport()
	}
	if !(support >= 1e-4 && support <= 1) {
		return nil, malformed("the support of freqItems must be between 0.0001 and 1")
	}
	st, _, err := c.fields(in, m.GetCols())
	if err != nil {
		return nil, err
	}
	batches, _, err := c.s.Batches(c.ctx, &plan.Project{Cols: columns(m.GetCols()), Child: in}, "freqItems")
	if err != nil {
		return nil, err
	}
	row := make(types.Row, len(m.GetCols()))
	out := types.StructType{}
	for i, name := range m.GetCols() {
		f := st.Fields[st.IndexFold(name)]
		out.Fields = append(out.Fields, types.NewField(name+"_freqItems", types.ArrayOf(f.Type)))
		row[i] = frequent(batches, i, support)
	}
	return plan.LocalRows(out, []types.Row{row})
}

func columns(names []string) []plan.Expr {
	out := make([]plan.Expr, len(names))
	for i, n := range names {
		out[i] = column(n)
	}
	return out
}

func (c *Converter) sampleBy(m *connectpb.StatSampleBy) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "StatSampleBy")
	if err != nil {
		return nil, err
	}
	key, err := c.Expr(m.GetCol())
	if err != nil {
		return nil, err
	}
	seed := m.GetSeed()
	if m.Seed == nil {
		seed = rand.Int64()
	}
	var args []plan.Expr
	for _, f := range m.GetFractions() {
		l, err := Literal(f.GetStratum())
		if err != nil {
			return nil, err
		}
		if f.GetFraction() < 0 || f.GetFraction() > 1 {
			return nil, malformed("a fraction of sampleBy must be between 0 and 1")
		}
		args = append(args, call("<=>", key, l), lit(f.GetFraction(), types.Double))
	}
	if len(args) == 0 {
		return &plan.Filter{Cond: lit(false, types.Boolean), Child: in}, nil
	}
	share := call("when", append(args, lit(0.0, types.Double))...)
	return &plan.Filter{Cond: call("<", call("rand", lit(seed, types.Long)), share), Child: in}, nil
}
