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
	id  int64 // by which columns refer to it
	rel *connectpb.Relation
	err error
}

// newDataFrame numbers a relation, so that columns can refer to it.
func newDataFrame(s *Session, rel *connectpb.Relation, errs ...error) *DataFrame {
	id := s.nextPlanID()
	rel.Common = &connectpb.RelationCommon{PlanId: &id}
	return &DataFrame{s: s, id: id, rel: s.withSubqueries(rel), err: firstError(errs...)}
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
	if name == "*" {
		e := star("")
		e.GetUnresolvedStar().PlanId = &d.id
		return Column{expr: e}
	}
	return Column{expr: placedAt(attribute(name, &d.id))}
}

// MetadataCol is a column of this DataFrame that Select("*") leaves out, such as _metadata of files.
func (d *DataFrame) MetadataCol(name string) Column {
	e := attribute(name, &d.id)
	e.GetUnresolvedAttribute().IsMetadataColumn = proto.Bool(true)
	return Column{expr: placedAt(e)}
}

// ColRegex is the columns of this DataFrame whose whole names fit a regular expression in Java's form, in back quotes: "`(id|ts)_.*`".
func (d *DataFrame) ColRegex(pattern string) Column {
	return Column{expr: placedAt(&connectpb.Expression{ExprType: &connectpb.Expression_UnresolvedRegex_{
		UnresolvedRegex: &connectpb.Expression_UnresolvedRegex{ColName: pattern, PlanId: &d.id},
	}})}
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
	return d.WithColumnsRenamed(map[string]string{from: to})
}

// WithColumnsRenamed renames columns, from the keys to the values. Names that do not exist are no error.
func (d *DataFrame) WithColumnsRenamed(names map[string]string) *DataFrame {
	m := &connectpb.WithColumnsRenamed{Input: d.rel}
	for _, from := range sortedKeys(names) {
		m.Renames = append(m.Renames, &connectpb.WithColumnsRenamed_Rename{ColName: from, NewColName: names[from]})
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_WithColumnsRenamed{WithColumnsRenamed: m}})
}

// WithMetadata gives a column metadata, a JSON object.
func (d *DataFrame) WithMetadata(name, metadata string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_WithColumns{WithColumns: &connectpb.WithColumns{
		Input: d.rel, Aliases: []*connectpb.Expression_Alias{{Expr: d.Col(name).expr, Name: []string{name}, Metadata: &metadata}},
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

// RepartitionByRange spreads the rows over n partitions, so that each has a range of the values of columns, which may say Column.Desc and
// its like. n = 0 leaves the number to the engine.
func (d *DataFrame) RepartitionByRange(n int, cols ...any) *DataFrame {
	m := &connectpb.RepartitionByExpression{Input: d.rel}
	orders, err := order(columns(cols))
	for _, o := range orders {
		m.PartitionExprs = append(m.PartitionExprs, &connectpb.Expression{ExprType: &connectpb.Expression_SortOrder_{SortOrder: o}})
	}
	if n != 0 {
		m.NumPartitions = new(int32)
		err = firstError(err, toInt32("n", n, m.NumPartitions))
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_RepartitionByExpression{RepartitionByExpression: m}}, err)
}

// RepartitionByID spreads the rows over n partitions: a column of INT tells which one, modulo n.
func (d *DataFrame) RepartitionByID(n int, id any) *DataFrame {
	m := &connectpb.RepartitionByExpression{Input: d.rel, NumPartitions: new(int32)}
	exprs, err := expressions(columns([]any{id}))
	for _, e := range exprs {
		m.PartitionExprs = append(m.PartitionExprs, &connectpb.Expression{ExprType: &connectpb.Expression_DirectShufflePartitionId{
			DirectShufflePartitionId: &connectpb.Expression_DirectShufflePartitionID{Child: e},
		}})
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_RepartitionByExpression{RepartitionByExpression: m}}, err, toInt32("n", n, m.NumPartitions))
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

// Transform applies a function, so that steps of a program read from left to right.
func (d *DataFrame) Transform(f func(*DataFrame) *DataFrame) *DataFrame { return f(d) }

// Unpivot turns columns into rows: for each row and each of the values' columns there is a row with the ids, the name of the column and its
// value. Without values all columns but the ids are turned. It is also called melt.
func (d *DataFrame) Unpivot(ids, values []any, nameColumn, valueColumn string) *DataFrame {
	m := &connectpb.Unpivot{Input: d.rel, VariableColumnName: nameColumn, ValueColumnName: valueColumn}
	var err1, err2 error
	m.Ids, err1 = expressions(columns(ids))
	if values != nil {
		m.Values = &connectpb.Unpivot_Values{}
		m.Values.Values, err2 = expressions(columns(values))
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Unpivot{Unpivot: m}}, err1, err2)
}

// Transpose turns rows into columns, named by the values of an index column: the one given, or the first.
func (d *DataFrame) Transpose(index ...any) *DataFrame {
	exprs, err := expressions(columns(index))
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Transpose{Transpose: &connectpb.Transpose{Input: d.rel, IndexColumns: exprs}}}, err)
}

// ToJSON makes a JSON object of each row, as the column value.
func (d *DataFrame) ToJSON() *DataFrame {
	return d.Select(Call("to_json", Call("struct", Col("*"))).As("value"))
}

// ZipWithIndex adds a column that numbers the rows from 0.
func (d *DataFrame) ZipWithIndex(name string) *DataFrame {
	return d.Select(Col("*"), Call("distributed_sequence_id").As(name))
}
