package millrace

import (
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// DataFrame is a plan for rows, bounded or a stream. Methods without a context only extend the plan: they do no I/O and never fail. What is
// wrong with a plan is returned by the first call that takes a context.
//
// Arguments of type any are Columns, names of columns, or slices of those.
type DataFrame struct {
	s   *Session
	rel *connectpb.Relation
	err error
}

// newDataFrame numbers a relation, so that columns can refer to it.
func newDataFrame(s *Session, rel *connectpb.Relation, errs ...error) *DataFrame {
	rel.Common = &connectpb.RelationCommon{PlanId: proto.Int64(s.nextPlanID())}
	return &DataFrame{s: s, rel: rel, err: firstError(errs...)}
}

// then is the DataFrame of a relation over this one.
func (d *DataFrame) then(rel *connectpb.Relation, errs ...error) *DataFrame {
	return newDataFrame(d.s, rel, append([]error{d.err}, errs...)...)
}

// plan is what the server is asked to run or to analyse.
func (d *DataFrame) plan() *connectpb.Plan {
	return &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: d.rel}}
}

// Session is the session that the DataFrame belongs to.
func (d *DataFrame) Session() *Session { return d.s }

// Col is a column of this very DataFrame: it stays apart from columns of the same name on the other side of a join.
func (d *DataFrame) Col(name string) Column {
	id := d.rel.GetCommon().PlanId
	if name == "*" {
		e := star("")
		e.GetUnresolvedStar().PlanId = id
		return Column{expr: e}
	}
	return Column{expr: placedAt(attribute(name, id))}
}

// Select computes columns.
func (d *DataFrame) Select(cols ...any) *DataFrame {
	exprs, err := expressions(columns(cols))
	return d.project(exprs, err)
}

// SelectExpr computes columns given as SQL expressions, each with or without "AS name".
func (d *DataFrame) SelectExpr(sql ...string) *DataFrame {
	exprs := make([]*connectpb.Expression, len(sql))
	for i, text := range sql {
		exprs[i] = Expr(text).expr
	}
	return d.project(exprs, nil)
}

func (d *DataFrame) project(exprs []*connectpb.Expression, err error) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Project{Project: &connectpb.Project{Input: d.rel, Expressions: exprs}}}, err)
}

// Where keeps the rows for which a condition is true: a Column, or a string in SQL.
func (d *DataFrame) Where(condition any) *DataFrame {
	var c Column
	switch v := condition.(type) {
	case Column:
		c = v
	case string:
		c = Expr(v)
	default:
		c.err = mistake(errclass.New("NOT_COLUMN_OR_STR", "argName", "The condition", "argType", fmt.Sprintf("%T", v)))
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Filter{Filter: &connectpb.Filter{Input: d.rel, Condition: c.expr}}}, c.use())
}

// Filter is Where.
func (d *DataFrame) Filter(condition any) *DataFrame { return d.Where(condition) }

// WithColumn adds a column, or replaces the one of that name.
func (d *DataFrame) WithColumn(name string, c Column) *DataFrame {
	return d.WithColumns(NamedColumn{name, c})
}

// NamedColumn is a Column under a name.
type NamedColumn struct {
	Name   string
	Column Column
}

// WithColumns is WithColumn for several columns, which do not see each other.
func (d *DataFrame) WithColumns(cols ...NamedColumn) *DataFrame {
	m := &connectpb.WithColumns{Input: d.rel}
	var err error
	for _, c := range cols {
		err = firstError(err, c.Column.use())
		m.Aliases = append(m.Aliases, &connectpb.Expression_Alias{Expr: c.Column.expr, Name: []string{c.Name}})
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_WithColumns{WithColumns: m}}, err)
}

// WithColumnRenamed renames a column. A name that does not exist is no error.
func (d *DataFrame) WithColumnRenamed(from, to string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_WithColumnsRenamed{WithColumnsRenamed: &connectpb.WithColumnsRenamed{
		Input: d.rel, Renames: []*connectpb.WithColumnsRenamed_Rename{{ColName: from, NewColName: to}},
	}}})
}

// Drop leaves columns out. A name that does not exist is no error.
func (d *DataFrame) Drop(cols ...any) *DataFrame {
	m := &connectpb.Drop{Input: d.rel}
	var err error
	for _, c := range cols {
		switch c := c.(type) {
		case string: // a name here may hold dots
			m.ColumnNames = append(m.ColumnNames, c)
		case []string:
			m.ColumnNames = append(m.ColumnNames, c...)
		default:
			exprs, e := expressions(columns([]any{c}))
			m.Columns, err = append(m.Columns, exprs...), firstError(err, e)
		}
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Drop{Drop: m}}, err)
}

// ToDF names all columns anew.
func (d *DataFrame) ToDF(names ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_ToDf{ToDf: &connectpb.ToDF{Input: d.rel, ColumnNames: names}}})
}

// Alias names the DataFrame, for columns such as "a.id".
func (d *DataFrame) Alias(name string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_SubqueryAlias{SubqueryAlias: &connectpb.SubqueryAlias{Input: d.rel, Alias: name}}})
}

// Distinct drops rows that are equal to another one.
func (d *DataFrame) Distinct() *DataFrame { return d.deduplicate(nil, false) }

// DropDuplicates keeps one of the rows that are equal in some columns, or in all if none is named.
func (d *DataFrame) DropDuplicates(cols ...string) *DataFrame { return d.deduplicate(cols, false) }

// DropDuplicatesWithinWatermark is DropDuplicates of a stream that forgets a row when the watermark has passed it.
func (d *DataFrame) DropDuplicatesWithinWatermark(cols ...string) *DataFrame {
	return d.deduplicate(cols, true)
}

func (d *DataFrame) deduplicate(cols []string, within bool) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Deduplicate{Deduplicate: &connectpb.Deduplicate{
		Input: d.rel, ColumnNames: cols, AllColumnsAsKeys: proto.Bool(len(cols) == 0), WithinWatermark: &within,
	}}})
}

// OrderBy sorts all rows. Use Column.Desc and its like for other than ascending order.
func (d *DataFrame) OrderBy(cols ...any) *DataFrame { return d.sort(cols, true) }

// Sort is OrderBy.
func (d *DataFrame) Sort(cols ...any) *DataFrame { return d.sort(cols, true) }

// SortWithinPartitions sorts the rows of each partition.
func (d *DataFrame) SortWithinPartitions(cols ...any) *DataFrame { return d.sort(cols, false) }

func (d *DataFrame) sort(cols []any, global bool) *DataFrame {
	orders, err := order(columns(cols))
	if len(orders) == 0 && err == nil {
		err = mistake(errclass.New("CANNOT_BE_EMPTY", "item", "column"))
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Sort{Sort: &connectpb.Sort{Input: d.rel, Order: orders, IsGlobal: &global}}}, err)
}

// Limit keeps the first n rows.
func (d *DataFrame) Limit(n int) *DataFrame {
	m := &connectpb.Limit{Input: d.rel}
	err := toInt32("n", n, &m.Limit)
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Limit{Limit: m}}, err)
}

// Offset drops the first n rows.
func (d *DataFrame) Offset(n int) *DataFrame {
	m := &connectpb.Offset{Input: d.rel}
	err := toInt32("n", n, &m.Offset)
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Offset{Offset: m}}, err)
}

// Tail keeps the last n rows.
func (d *DataFrame) Tail(n int) *DataFrame {
	m := &connectpb.Tail{Input: d.rel}
	err := toInt32("n", n, &m.Limit)
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Tail{Tail: m}}, err)
}

// toInt32 sets a field of a message; what does not fit is a mistake of the program. Negative numbers are the server's to refuse.
func toInt32(name string, n int, field *int32) error {
	if n < math.MinInt32 || n > math.MaxInt32 {
		return mistake(errclass.New("VALUE_NOT_BETWEEN", "argName", name, "min", "0", "max", strconv.Itoa(math.MaxInt32), "value", strconv.Itoa(n)))
	}
	*field = int32(n)
	return nil
}

// Sample keeps about a fraction of the rows, chosen by a seed; with replacement a row can be kept several times.
func (d *DataFrame) Sample(withReplacement bool, fraction float64, seed int64) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Sample{Sample: &connectpb.Sample{
		Input: d.rel, UpperBound: fraction, WithReplacement: &withReplacement, Seed: &seed,
	}}})
}

// Repartition spreads the rows over n partitions, by the values of columns if some are given. n = 0 leaves the number to the engine.
func (d *DataFrame) Repartition(n int, cols ...any) *DataFrame {
	var parts int32
	exprs, err := expressions(columns(cols))
	err = firstError(err, toInt32("n", n, &parts))
	if len(exprs) == 0 && n != 0 {
		return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Repartition{Repartition: &connectpb.Repartition{
			Input: d.rel, NumPartitions: parts, Shuffle: proto.Bool(true),
		}}}, err)
	}
	m := &connectpb.RepartitionByExpression{Input: d.rel, PartitionExprs: exprs}
	if n != 0 {
		m.NumPartitions = &parts
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_RepartitionByExpression{RepartitionByExpression: m}}, err)
}

// Coalesce puts partitions together until there are n.
func (d *DataFrame) Coalesce(n int) *DataFrame {
	m := &connectpb.Repartition{Input: d.rel, Shuffle: proto.Bool(false)}
	err := toInt32("n", n, &m.NumPartitions)
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Repartition{Repartition: m}}, err)
}

// Hint adds a hint such as "broadcast". Parameters are literals or Columns.
func (d *DataFrame) Hint(name string, params ...any) *DataFrame {
	m := &connectpb.Hint{Input: d.rel, Name: name}
	var err error
	for _, p := range params {
		l := Lit(p)
		m.Parameters, err = append(m.Parameters, l.expr), firstError(err, l.use())
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Hint{Hint: m}}, err)
}

// WithWatermark declares the column of event time, and how late rows may be behind the latest one seen: "5 minutes".
func (d *DataFrame) WithWatermark(eventTime, delay string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_WithWatermark{WithWatermark: &connectpb.WithWatermark{
		Input: d.rel, EventTime: eventTime, DelayThreshold: delay,
	}}})
}

// To makes rows of a schema: columns are put in its order, by name, and converted.
func (d *DataFrame) To(schema types.StructType) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_ToSchema{ToSchema: &connectpb.ToSchema{
		Input: d.rel, Schema: typepb.Message(schema),
	}}})
}

// FillNA replaces nulls by a value in the columns named, or in all columns of a fitting type.
func (d *DataFrame) FillNA(value any, cols ...string) *DataFrame {
	m := &connectpb.NAFill{Input: d.rel, Cols: cols}
	l := Lit(value)
	lit := l.expr.GetLiteral()
	if n, ok := lit.GetLiteralType().(*connectpb.Expression_Literal_Integer); ok { // the protocol takes BIGINT, DOUBLE, STRING and BOOLEAN
		lit = Lit(int64(n.Integer)).expr.GetLiteral()
	}
	m.Values = []*connectpb.Expression_Literal{lit}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_FillNa{FillNa: m}}, l.use())
}

// DropNA drops rows with a null in one of the columns named, or in any column if none is.
func (d *DataFrame) DropNA(cols ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_DropNa{DropNa: &connectpb.NADrop{Input: d.rel, Cols: cols}}})
}

// Describe computes count, mean, stddev, min and max of columns, or of all that are numbers or strings.
func (d *DataFrame) Describe(cols ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Describe{Describe: &connectpb.StatDescribe{Input: d.rel, Cols: cols}}})
}

// Transform applies a function, so that steps of a program read from left to right.
func (d *DataFrame) Transform(f func(*DataFrame) *DataFrame) *DataFrame { return f(d) }
