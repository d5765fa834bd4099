package convert

import (
	"math/rand/v2"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

const relName = "spark.connect.Relation"

// Relation translates a relation.
func (c *Converter) Relation(m *connectpb.Relation) (plan.Node, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.leave()
	if err := c.ctx.Err(); err != nil {
		return nil, err
	}
	if w := m.GetWithRelations(); w != nil {
		return c.withRelations(w)
	}
	id := planID(m)
	if id != nil {
		if n := c.pinned(*id, m); n != nil {
			return n, nil
		}
	}
	n, err := c.relation(m)
	if err != nil {
		return nil, err
	}
	if id != nil {
		n = &plan.Tagged{PlanID: *id, Child: n}
	}
	return n, nil
}

// pinned is what a relation has meant since its rows are kept; nil for one whose rows are not.
func (c *Converter) pinned(id int64, m *connectpb.Relation) plan.Node {
	message, n, ok := c.s.Pinned(id)
	if !ok {
		return nil
	}
	if was, ok := message.(*connectpb.Relation); !ok || !proto.Equal(was, m) {
		return nil
	}
	return n
}

// planID is the id by which a client refers to a relation, or nil.
func planID(m *connectpb.Relation) *int64 {
	if c := m.GetCommon(); c != nil {
		return c.PlanId
	}
	return nil
}

// input translates the relation that another one reads.
func (c *Converter) input(m *connectpb.Relation, of string) (plan.Node, error) {
	if m == nil || m.GetRelType() == nil {
		return nil, errclass.New("CONNECT_INVALID_PLAN.INPUT_NOT_SET", "relation", of)
	}
	return c.Relation(m)
}

func (c *Converter) relation(m *connectpb.Relation) (plan.Node, error) {
	switch k := m.GetRelType().(type) {
	case *connectpb.Relation_Read:
		return c.read(m, k.Read)
	case *connectpb.Relation_Project:
		return c.project(k.Project)
	case *connectpb.Relation_Filter:
		return c.filter(k.Filter)
	case *connectpb.Relation_Join:
		return c.join(k.Join)
	case *connectpb.Relation_LateralJoin:
		return c.lateralJoin(k.LateralJoin)
	case *connectpb.Relation_AsOfJoin:
		return c.asOfJoin(k.AsOfJoin)
	case *connectpb.Relation_NearestByJoin:
		return c.nearestByJoin(k.NearestByJoin)
	case *connectpb.Relation_SetOp:
		return c.setOp(k.SetOp)
	case *connectpb.Relation_Sort:
		return c.sort(k.Sort)
	case *connectpb.Relation_Limit:
		in, err := c.input(k.Limit.GetInput(), "Limit")
		return &plan.Limit{N: intLiteral(k.Limit.GetLimit()), Child: in}, err
	case *connectpb.Relation_Offset:
		in, err := c.input(k.Offset.GetInput(), "Offset")
		return &plan.Offset{N: intLiteral(k.Offset.GetOffset()), Child: in}, err
	case *connectpb.Relation_Tail:
		in, err := c.input(k.Tail.GetInput(), "Tail")
		return &plan.Tail{N: int64(k.Tail.GetLimit()), Child: in}, err
	case *connectpb.Relation_Aggregate:
		return c.aggregate(k.Aggregate)
	case *connectpb.Relation_Sql:
		return c.sql(k.Sql)
	case *connectpb.Relation_LocalRelation:
		return c.local(k.LocalRelation)
	case *connectpb.Relation_CachedLocalRelation:
		return c.cachedLocal(k.CachedLocalRelation)
	case *connectpb.Relation_ChunkedCachedLocalRelation:
		return c.chunkedLocal(k.ChunkedCachedLocalRelation)
	case *connectpb.Relation_CachedRemoteRelation:
		return &plan.CachedRemote{RelationID: k.CachedRemoteRelation.GetRelationId()}, nil
	case *connectpb.Relation_Sample:
		return c.sample(k.Sample)
	case *connectpb.Relation_Deduplicate:
		return c.deduplicate(k.Deduplicate)
	case *connectpb.Relation_Range:
		return rangeNode(k.Range)
	case *connectpb.Relation_SubqueryAlias:
		in, err := c.input(k.SubqueryAlias.GetInput(), "SubqueryAlias")
		return &plan.Aliased{Name: k.SubqueryAlias.GetAlias(), Child: in}, err
	case *connectpb.Relation_Repartition:
		return c.repartition(k.Repartition)
	case *connectpb.Relation_RepartitionByExpression:
		return c.repartitionBy(k.RepartitionByExpression)
	case *connectpb.Relation_ToDf:
		in, err := c.input(k.ToDf.GetInput(), "ToDF")
		return &plan.ToNames{Names: k.ToDf.GetColumnNames(), Child: in}, err
	case *connectpb.Relation_WithColumnsRenamed:
		return c.rename(k.WithColumnsRenamed)
	case *connectpb.Relation_WithColumns:
		return c.withColumns(k.WithColumns)
	case *connectpb.Relation_Drop:
		return c.drop(k.Drop)
	case *connectpb.Relation_Hint:
		return c.hint(k.Hint)
	case *connectpb.Relation_ToSchema:
		in, err := c.input(k.ToSchema.GetInput(), "ToSchema")
		if err != nil {
			return nil, err
		}
		st, err := typepb.Schema(k.ToSchema.GetSchema())
		return &plan.ToSchema{Schema: st, Child: in}, err
	case *connectpb.Relation_CollectMetrics:
		return c.observe(m, k.CollectMetrics)
	case *connectpb.Relation_WithWatermark:
		return c.watermark(m, k.WithWatermark)
	case *connectpb.Relation_UnresolvedTableValuedFunction:
		args, err := c.exprs(k.UnresolvedTableValuedFunction.GetArguments())
		return &plan.TableFunc{Name: []string{k.UnresolvedTableValuedFunction.GetFunctionName()}, Args: args}, err
	case *connectpb.Relation_Unpivot:
		return c.unpivot(k.Unpivot)
	case *connectpb.Relation_ShowString:
		return c.showString(k.ShowString)
	case *connectpb.Relation_HtmlString:
		return c.htmlString(k.HtmlString)
	case *connectpb.Relation_Catalog:
		return c.catalog(k.Catalog)
	case *connectpb.Relation_Extension:
		return c.extension(k.Extension)
	case *connectpb.Relation_Unknown:
		return nil, malformed("the relation is unknown to its own client")
	case nil:
		return nil, notSet(relName, "rel_type")
	}
	return c.statistics(m)
}

func intLiteral(n int32) plan.Expr { return &plan.Literal{Value: n, T: types.Integer} }

// withRelations makes relations known that subqueries and SQL texts of the root refer to.
func (c *Converter) withRelations(m *connectpb.WithRelations) (plan.Node, error) {
	var names []string
	var plans []plan.Node
	for _, r := range m.GetReferences() {
		id := planID(r)
		if id == nil && r.GetSubqueryAlias() == nil {
			return nil, malformed("a referenced relation has no plan id")
		}
		if id != nil {
			c.refs[*id] = r
		}
		if a := r.GetSubqueryAlias(); a != nil { // a name for the SQL text of the root
			n, err := c.input(a.GetInput(), "SubqueryAlias")
			if err != nil {
				return nil, err
			}
			names, plans = append(names, a.GetAlias()), append(plans, n)
		}
	}
	if m.GetRoot() == nil {
		return nil, errclass.New("CONNECT_INVALID_PLAN.INPUT_NOT_SET", "relation", "WithRelations")
	}
	n, err := c.Relation(m.GetRoot())
	if err != nil || len(names) == 0 {
		return n, err
	}
	return &plan.With{Names: names, Plans: plans, Frames: true, Child: n}, nil
}

func (c *Converter) read(m *connectpb.Relation, r *connectpb.Read) (plan.Node, error) {
	switch k := r.GetReadType().(type) {
	case *connectpb.Read_NamedTable_:
		parts, err := sql.ParseIdentifier(k.NamedTable.GetUnparsedIdentifier())
		if err != nil {
			return nil, err
		}
		return &plan.Named{Parts: parts, Options: k.NamedTable.GetOptions(), Stream: r.GetIsStreaming()}, nil
	case *connectpb.Read_DataSource_:
		d := k.DataSource
		if len(d.GetPredicates()) > 0 {
			return nil, unsupported("reads with predicates")
		}
		if d.SourceName != nil && r.GetIsStreaming() && c.s.Conf.Value(setting.SourceEvolution) != "true" {
			return nil, errclass.New("STREAMING_QUERY_EVOLUTION_ERROR.SOURCE_NAMING_NOT_SUPPORTED", "name", d.GetSourceName())
		}
		format := d.GetFormat()
		if format == "" {
			format = c.s.Conf.Value(setting.Source)
		}
		return &plan.Read{
			Format: format, Schema: d.GetSchema(), Options: d.GetOptions(), Paths: d.GetPaths(), Stream: r.GetIsStreaming(),
			ID: identity(&c.reads, planID(m), m), User: true,
		}, nil
	}
	return nil, notSet("spark.connect.Read", "read_type")
}

func (c *Converter) project(m *connectpb.Project) (plan.Node, error) {
	var in plan.Node = &plan.OneRow{}
	if m.GetInput() != nil {
		var err error
		if in, err = c.Relation(m.GetInput()); err != nil {
			return nil, err
		}
	}
	cols, err := c.exprs(m.GetExpressions())
	if err != nil {
		return nil, err
	}
	return &plan.Project{Cols: cols, Child: in}, nil
}

func (c *Converter) filter(m *connectpb.Filter) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Filter")
	if err != nil {
		return nil, err
	}
	cond, err := c.Expr(m.GetCondition())
	if err != nil {
		return nil, err
	}
	return &plan.Filter{Cond: cond, Child: in}, nil
}

func joinKind(t connectpb.Join_JoinType) (plan.JoinKind, error) {
	switch t {
	case connectpb.Join_JOIN_TYPE_INNER, connectpb.Join_JOIN_TYPE_UNSPECIFIED:
		return plan.Inner, nil
	case connectpb.Join_JOIN_TYPE_FULL_OUTER:
		return plan.FullOuter, nil
	case connectpb.Join_JOIN_TYPE_LEFT_OUTER:
		return plan.LeftOuter, nil
	case connectpb.Join_JOIN_TYPE_RIGHT_OUTER:
		return plan.RightOuter, nil
	case connectpb.Join_JOIN_TYPE_LEFT_ANTI:
		return plan.LeftAnti, nil
	case connectpb.Join_JOIN_TYPE_LEFT_SEMI:
		return plan.LeftSemi, nil
	case connectpb.Join_JOIN_TYPE_CROSS:
		return plan.Cross, nil
	}
	return 0, invalidEnum(t)
}

func (c *Converter) sides(l, r *connectpb.Relation, of string) (left, right plan.Node, err error) {
	if left, err = c.input(l, of); err != nil {
		return nil, nil, err
	}
	right, err = c.input(r, of)
	return left, right, err
}

func (c *Converter) join(m *connectpb.Join) (plan.Node, error) {
	left, right, err := c.sides(m.GetLeft(), m.GetRight(), "Join")
	if err != nil {
		return nil, err
	}
	if m.GetJoinDataType() != nil {
		return nil, unsupported("joinWith")
	}
	kind, err := joinKind(m.GetJoinType())
	if err != nil {
		return nil, err
	}
	j := &plan.Join{Left: left, Right: right, Kind: kind, Using: m.GetUsingColumns()}
	if m.GetJoinCondition() != nil {
		if len(j.Using) > 0 {
			return nil, malformed("a join has either a condition or columns of both sides")
		}
		if j.Cond, err = c.Expr(m.GetJoinCondition()); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (c *Converter) lateralJoin(m *connectpb.LateralJoin) (plan.Node, error) {
	left, right, err := c.sides(m.GetLeft(), m.GetRight(), "LateralJoin")
	if err != nil {
		return nil, err
	}
	kind, err := joinKind(m.GetJoinType())
	if err != nil {
		return nil, err
	}
	j := &plan.Join{Left: left, Right: right, Kind: kind, Lateral: true}
	if m.GetJoinCondition() != nil {
		j.Cond, err = c.Expr(m.GetJoinCondition())
	}
	return j, err
}

func (c *Converter) setOp(m *connectpb.SetOperation) (plan.Node, error) {
	left, right, err := c.sides(m.GetLeftInput(), m.GetRightInput(), "SetOperation")
	if err != nil {
		return nil, err
	}
	all := m.GetIsAll()
	switch m.GetSetOpType() {
	case connectpb.SetOperation_SET_OP_TYPE_UNION:
		var n plan.Node = &plan.Union{
			Inputs: []plan.Node{left, right}, ByName: m.GetByName(), AllowMissing: m.GetAllowMissingColumns(),
		}
		if m.IsAll != nil && !all {
			n = &plan.Distinct{Child: n}
		}
		return n, nil
	case connectpb.SetOperation_SET_OP_TYPE_INTERSECT:
		return &plan.SetOp{Kind: plan.Intersect, All: all, Left: left, Right: right}, nil
	case connectpb.SetOperation_SET_OP_TYPE_EXCEPT:
		return &plan.SetOp{Kind: plan.Except, All: all, Left: left, Right: right}, nil
	}
	return nil, invalidEnum(m.GetSetOpType())
}

func (c *Converter) sort(m *connectpb.Sort) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Sort")
	if err != nil {
		return nil, err
	}
	orders, err := c.sortOrders(m.GetOrder())
	if err != nil {
		return nil, err
	}
	return &plan.Sort{Orders: orders, Global: m.GetIsGlobal(), Child: in}, nil
}

// sql is a SQL text where a relation stands. A statement with an effect is run at once, as some clients send those this way.
func (c *Converter) sql(m *connectpb.SQL) (plan.Node, error) {
	named, positional, err := c.sqlArgs(m)
	if err != nil {
		return nil, err
	}
	r, err := c.s.SQL(c.ctx, m.GetQuery(), named, positional)
	if err != nil {
		return nil, err
	}
	return r.Plan, nil
}

// sqlArgs are the values of a statement's parameters, from the fields of today's and of older clients.
func (c *Converter) sqlArgs(m *connectpb.SQL) (named map[string]plan.Expr, positional []plan.Expr, err error) {
	if named, positional, err = literalArgs(m); err != nil {
		return nil, nil, err
	}
	for k, e := range m.GetNamedArguments() {
		if named == nil {
			named = map[string]plan.Expr{}
		}
		if named[k], err = c.Expr(e); err != nil {
			return nil, nil, err
		}
	}
	for _, a := range m.GetPosArguments() {
		e, err := c.Expr(a)
		if err != nil {
			return nil, nil, err
		}
		positional = append(positional, e)
	}
	return named, positional, nil
}

func (c *Converter) sample(m *connectpb.Sample) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Sample")
	if err != nil {
		return nil, err
	}
	seed := m.GetSeed()
	if m.Seed == nil {
		seed = rand.Int64()
	}
	if !(m.GetLowerBound() >= 0 && m.GetUpperBound() >= m.GetLowerBound()) || !m.GetWithReplacement() && m.GetUpperBound() > 1+1e-6 {
		return nil, badArgument("a sampling fraction must be between 0 and 1")
	}
	return &plan.Sample{
		Lo: m.GetLowerBound(), Hi: m.GetUpperBound(), WithReplacement: m.GetWithReplacement(), Ordered: m.GetDeterministicOrder(), Seed: seed, Child: in,
	}, nil
}

func (c *Converter) deduplicate(m *connectpb.Deduplicate) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Deduplicate")
	if err != nil {
		return nil, err
	}
	d := &plan.Dedup{AllColumns: m.GetAllColumnsAsKeys(), WithinWatermark: m.GetWithinWatermark(), Child: in}
	if !d.AllColumns && len(m.GetColumnNames()) == 0 {
		return nil, errclass.New("CONNECT_INVALID_PLAN.DEDUPLICATE_REQUIRES_COLUMNS_OR_ALL")
	}
	for _, name := range m.GetColumnNames() {
		d.Keys = append(d.Keys, column(name))
	}
	return d, nil
}

// column is a column by its whole name, dots and all.
func column(name string) *plan.Column { return &plan.Column{Parts: []string{name}, PlanID: -1} }

func rangeNode(m *connectpb.Range) (plan.Node, error) {
	r := &plan.Range{Start: m.GetStart(), End: m.GetEnd(), Step: m.GetStep(), Parts: int(m.GetNumPartitions())}
	if m.GetStep() == 0 {
		return nil, badArgument("the step of a range cannot be 0")
	}
	r.Out = []*plan.Attr{{ID: plan.NewID(), Name: "id", T: types.Long}}
	return r, nil
}

func (c *Converter) repartition(m *connectpb.Repartition) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Repartition")
	if err != nil {
		return nil, err
	}
	if m.GetNumPartitions() <= 0 {
		return nil, malformed("the number of partitions must be positive")
	}
	return &plan.Repartition{N: int(m.GetNumPartitions()), Shuffle: m.GetShuffle(), Child: in}, nil
}

func (c *Converter) repartitionBy(m *connectpb.RepartitionByExpression) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "RepartitionByExpression")
	if err != nil {
		return nil, err
	}
	r := &plan.Repartition{N: int(m.GetNumPartitions()), Shuffle: true, Child: in}
	list := m.GetPartitionExprs()
	if len(list) == 1 && list[0].GetDirectShufflePartitionId() != nil {
		r.ByNumber, list = true, []*connectpb.Expression{list[0].GetDirectShufflePartitionId().GetChild()}
	}
	r.Keys, err = c.exprs(list)
	return r, err
}

func (c *Converter) rename(m *connectpb.WithColumnsRenamed) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "WithColumnsRenamed")
	if err != nil {
		return nil, err
	}
	r := &plan.Rename{Child: in}
	for from, to := range renameMap(m) {
		r.From, r.To = append(r.From, from), append(r.To, to)
	}
	for _, x := range m.GetRenames() {
		r.From, r.To = append(r.From, x.GetColName()), append(r.To, x.GetNewColName())
	}
	return r, nil
}

func (c *Converter) withColumns(m *connectpb.WithColumns) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "WithColumns")
	if err != nil {
		return nil, err
	}
	w := &plan.WithColumns{Child: in}
	for _, a := range m.GetAliases() {
		e, err := c.alias(a)
		if err != nil {
			return nil, err
		}
		al, ok := e.(*plan.Alias)
		if !ok || al.Names != nil {
			return nil, malformed("a new column has exactly one name")
		}
		w.Cols = append(w.Cols, al)
	}
	return w, nil
}

func (c *Converter) drop(m *connectpb.Drop) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Drop")
	if err != nil {
		return nil, err
	}
	cols, err := c.exprs(m.GetColumns())
	if err != nil {
		return nil, err
	}
	return &plan.Drop{Cols: cols, Names: m.GetColumnNames(), Child: in}, nil
}

func (c *Converter) hint(m *connectpb.Hint) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "Hint")
	if err != nil {
		return nil, err
	}
	args, err := c.exprs(m.GetParameters())
	return &plan.Hint{Name: m.GetName(), Args: args, Child: in}, err
}

func (c *Converter) observe(rel *connectpb.Relation, m *connectpb.CollectMetrics) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "CollectMetrics")
	if err != nil {
		return nil, err
	}
	aggs, err := c.exprs(m.GetMetrics())
	if err != nil {
		return nil, err
	}
	c.observed[m.GetName()] = rel.GetCommon().GetPlanId()
	return &plan.Observe{Name: m.GetName(), Aggs: aggs, Child: in}, nil
}

func (c *Converter) watermark(rel *connectpb.Relation, m *connectpb.WithWatermark) (plan.Node, error) {
	in, err := c.input(m.GetInput(), "WithWatermark")
	if err != nil {
		return nil, err
	}
	parts, err := sql.ParseIdentifier(m.GetEventTime())
	if err != nil {
		return nil, err
	}
	delay, err := interval.ParseCalendar(m.GetDelayThreshold())
	if err != nil {
		return nil, err
	}
	return &plan.Watermark{
		Col:   &plan.Column{Parts: parts, PlanID: -1},
		Delay: types.Interval(delay), DelayText: strings.TrimSpace(m.GetDelayThreshold()), Child: in,
		ID: identity(&c.marks, planID(rel), rel),
	}, nil
}
