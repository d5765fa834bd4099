package analyze

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr/agg"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/source"
)

// Catalog finds what has a name in a session.
type Catalog interface {
	// LookupView finds a temporary or global temporary view. Its plan may be resolved or not.
	LookupView(parts []string) (plan.Node, bool)
	// LookupTable finds a table or a persistent view. The result is a relation to be resolved (usually a *plan.Read or a
	// *plan.Scan) or nil when there is no such table.
	LookupTable(ctx context.Context, t *plan.Named) (plan.Node, error)
	// LookupRemote finds a relation that was parked on the server, by its id.
	LookupRemote(id string) (plan.Node, bool)
}

// Functions is implemented by catalogs with functions of their own.
type Functions interface {
	LookupFunction(name string) *fn.Function
	LookupAggregate(name string) *agg.Function
}

// Conf are the settings that the analysis depends on.
type Conf struct {
	ANSI          bool
	CaseSensitive bool
	Zone          *time.Location
	// Get answers any other session setting, "" when it is unset. It may be nil.
	Get func(key string) string
}

func (c Conf) get(key string) string {
	if c.Get == nil {
		return ""
	}
	return c.Get(key)
}

// flag is a boolean setting that is on unless it says false.
func (c Conf) flag(key string) bool { return !strings.EqualFold(c.get(key), "false") }

// Analyzer resolves plans for one session.
type Analyzer struct {
	cat  Catalog
	conf Conf
	env  source.Env
}

// New returns an analyser. env is what connectors get.
func New(cat Catalog, conf Conf, env source.Env) *Analyzer {
	if conf.Zone == nil {
		conf.Zone = time.UTC
	}
	return &Analyzer{cat: cat, conf: conf, env: env}
}

// Resolve resolves a plan.
func (a *Analyzer) Resolve(ctx context.Context, n plan.Node) (plan.Node, error) {
	r := &resolver{Analyzer: a, ctx: ctx, opened: map[plan.ID]source.Table{}, streams: map[plan.ID]*plan.Scan{}}
	if err := r.routinesExist(n); err != nil {
		return nil, err
	}
	n, err := r.node(n)
	if err != nil {
		return nil, err
	}
	if err := check(n); err != nil {
		return nil, err
	}
	if n, err = r.unnest(n); err != nil {
		return nil, err
	}
	if n, err = r.special(n); err != nil {
		return nil, err
	}
	return finish(n)
}

// finish removes what only the analysis needs: plan ids and hidden columns.
func finish(n plan.Node) (plan.Node, error) {
	return plan.TransformUp(n, func(n plan.Node) (plan.Node, error) {
		if t, ok := n.(*plan.Tagged); ok {
			return t.Child, nil
		}
		if p, ok := n.(*plan.Project); ok && p.Hidden != nil {
			n = &plan.Project{Cols: p.Cols, Child: p.Child}
		}
		return n, nil
	})
}

// maxDepth bounds the nesting of plans and expressions, so that a hostile one ends in an error and not in a huge stack.
const maxDepth = 20000

// resolver is one analysis.
type resolver struct {
	*Analyzer
	ctx context.Context
	// ctes are the common table expressions in force, the innermost first.
	ctes *cte
	// outer is the scope around the subquery that is being resolved, or nil, and used what the subquery uses of it.
	outer *scope
	used  *[]plan.Expr
	// sameLevel is set in the body of a table function: references among its arguments are references of the body.
	sameLevel bool
	// opened are the tables of reads by the read's identity.
	opened map[plan.ID]source.Table
	// streams are the streams of reads: all uses of one have its columns, so that a join sees that its sides share them.
	streams map[plan.ID]*plan.Scan
	depth   int
	// views are the names of views being expanded, against recursion.
	views []string
}

// node resolves a relation. A mistake that concerns it as a whole gets its place.
func (r *resolver) node(n plan.Node) (plan.Node, error) {
	out, err := r.relation(n)
	if e, ok := errors.AsType[*errclass.Error](err); ok && len(e.Context) == 0 && concerns(n, e.Class) {
		err = at(err, originOf(n))
	}
	return out, err
}

// concerns tells whether a mistake is one of a relation as a whole, rather than of an expression in it.
func concerns(n plan.Node, class string) bool {
	switch n := n.(type) {
	case *plan.Filter:
		return class == "INVALID_WHERE_CONDITION" || class == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"
	case *plan.Aggregate:
		if n.Kind == plan.GroupPivot { // what makes the values of its column
			return class != "PIVOT_VALUE_DATA_TYPE_MISMATCH" && class != "NON_LITERAL_PIVOT_VALUES"
		}
		return class == "MISSING_GROUP_BY"
	case *plan.Having:
		return class == "MISSING_GROUP_BY" || class == "UNSUPPORTED_EXPR_FOR_OPERATOR"
	case *plan.Project:
		return class == "MISSING_GROUP_BY"
	case *plan.Unpivot:
		return class == "DATATYPE_MISMATCH.DATA_DIFF_TYPES"
	case *plan.Union, *plan.SetOp, *plan.Distinct:
		switch class {
		case "NUM_COLUMNS_MISMATCH", "INCOMPATIBLE_COLUMN_TYPE", "UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE":
			return true
		}
	case *plan.Join:
		switch class {
		case "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "UNSUPPORTED_EXPR_FOR_OPERATOR", "INVALID_NON_DETERMINISTIC_EXPRESSIONS":
			return true
		}
	case *plan.Generate:
		switch class {
		case "UNSUPPORTED_GENERATOR.NOT_GENERATOR", "UDTF_ALIAS_NUMBER_MISMATCH", "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE":
			return true
		}
	case *plan.Sort:
		return class == "UNSUPPORTED_EXPR_FOR_OPERATOR"
	case *plan.Limit, *plan.Offset:
		return strings.HasPrefix(class, "INVALID_LIMIT_LIKE_EXPRESSION.")
	}
	return false
}

func originOf(n plan.Node) plan.Origin {
	switch n := n.(type) {
	case *plan.Filter:
		return n.Origin
	case *plan.Project:
		return n.Origin
	case *plan.Aggregate:
		return n.Origin
	case *plan.Having:
		return n.Origin
	case *plan.Union:
		return n.Origin
	case *plan.SetOp:
		return n.Origin
	case *plan.Distinct:
		return n.Origin
	case *plan.Join:
		return n.Origin
	case *plan.Generate:
		return n.Origin
	case *plan.Sort:
		return n.Origin
	case *plan.Limit:
		return n.Origin
	case *plan.Offset:
		return n.Origin
	case *plan.Unpivot:
		return n.Origin
	}
	return plan.Origin{}
}

// relation resolves a relation.
func (r *resolver) relation(n plan.Node) (plan.Node, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, tooDeep()
	}
	defer func() { r.depth-- }()
	if err := r.ctx.Err(); err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.Named:
		return r.named(n)
	case *plan.Read:
		return r.read(n)
	case *plan.TableFunc:
		return r.tableFunc(n)
	case *plan.CachedRemote:
		return r.remote(n)
	case *plan.With:
		return r.with(n)
	case *plan.Having:
		return r.having(n)
	case *plan.Qualify:
		return r.qualify(n)
	case *plan.Join:
		return r.join(n)
	case *plan.NearestJoin:
		return r.nearest(n)
	case *plan.Values:
		return r.values(n)
	}
	n, err := plan.MapChildren(n, r.node)
	if err != nil {
		return nil, err
	}
	switch n := n.(type) {
	case *plan.Project:
		return r.project(n)
	case *plan.WithColumns:
		return r.withColumns(n)
	case *plan.Rename:
		return r.rename(n)
	case *plan.Drop:
		return r.drop(n)
	case *plan.ToNames:
		return r.toNames(n)
	case *plan.ToSchema:
		return r.toSchema(n)
	case *plan.Filter:
		return r.filter(n)
	case *plan.Aggregate:
		return r.aggregate(n)
	case *plan.Sort:
		return r.sort(n)
	case *plan.Limit:
		return r.limit(n)
	case *plan.Offset:
		return r.offset(n)
	case *plan.Dedup:
		return r.dedup(n)
	case *plan.Aliased:
		return r.aliased(n)
	case *plan.Watermark:
		return r.watermark(n)
	case *plan.TransformGroups:
		return r.transform(n)
	case *plan.Generate:
		return r.generate(n, false)
	case *plan.Repartition:
		return r.repartition(n)
	case *plan.Hint:
		return r.hint(n)
	case *plan.Sample:
		return sample(n), nil
	case *plan.Observe:
		return r.observe(n)
	case *plan.Distinct:
		if err := noMaps(n); err != nil {
			return nil, err
		}
		return n, nil
	case *plan.Unpivot:
		return r.unpivot(n)
	case *plan.SetOp:
		return r.setOp(n)
	case *plan.Union:
		return r.union(n)
	}
	return n, nil // nothing to resolve, or resolved before
}

func tooDeep() error {
	return errclass.New("FAILED_TO_PARSE_TOO_COMPLEX")
}

// at adds the place where an expression was written to an error.
func at(err error, o plan.Origin) error {
	if e, ok := errors.AsType[*errclass.Error](err); ok && o.Context != nil && len(e.Context) == 0 {
		e.WithContext(*o.Context)
	}
	return err
}
