package convert

import (
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
)

// joinNames are the names of joins that some messages have.
var joinNames = map[string]plan.JoinKind{
	"inner": plan.Inner, "cross": plan.Cross, "outer": plan.FullOuter, "full": plan.FullOuter, "fullouter": plan.FullOuter,
	"left": plan.LeftOuter, "leftouter": plan.LeftOuter, "right": plan.RightOuter, "rightouter": plan.RightOuter,
	"semi": plan.LeftSemi, "leftsemi": plan.LeftSemi, "anti": plan.LeftAnti, "leftanti": plan.LeftAnti,
}

func (c *Converter) asOfJoin(m *connectpb.AsOfJoin) (plan.Node, error) {
	left, right, err := c.sides(m.GetLeft(), m.GetRight(), "AsOfJoin")
	if err != nil {
		return nil, err
	}
	kind, ok := joinNames[strings.ReplaceAll(strings.ToLower(m.GetJoinType()), "_", "")]
	switch {
	case m.GetJoinType() == "":
		kind = plan.Inner
	case !ok:
		return nil, errclass.New("UNSUPPORTED_JOIN_TYPE", "typ", m.GetJoinType(), "supported", "'inner', 'left'")
	case kind != plan.Inner && kind != plan.LeftOuter:
		return nil, badArgument("an as-of join is an inner or a left one, not " + m.GetJoinType())
	}
	a := &plan.AsOf{Strict: !m.GetAllowExactMatches(), Using: m.GetUsingColumns()}
	switch strings.ToLower(m.GetDirection()) {
	case "backward":
	case "forward":
		a.Direction = plan.Forward
	case "nearest":
		a.Direction = plan.Nearest
	default:
		return nil, errclass.New("AS_OF_JOIN.UNSUPPORTED_DIRECTION", "direction", m.GetDirection(), "supported", "'forward', 'backward', 'nearest'")
	}
	for to, from := range map[*plan.Expr]*connectpb.Expression{
		&a.Left: m.GetLeftAsOf(), &a.Right: m.GetRightAsOf(), &a.Tolerance: m.GetTolerance(), &a.On: m.GetJoinExpr(),
	} {
		if from == nil {
			continue
		}
		if *to, err = c.Expr(from); err != nil {
			return nil, err
		}
	}
	if a.Left == nil || a.Right == nil {
		return nil, malformed("an as-of join has a column of each side")
	}
	return &plan.NearestJoin{Left: left, Right: right, Outer: kind == plan.LeftOuter, N: 1, AsOf: a}, nil
}

// mostNearest is how many rows a nearest-by join may give each row.
const mostNearest = 100_000

func (c *Converter) nearestByJoin(m *connectpb.NearestByJoin) (plan.Node, error) {
	left, right, err := c.sides(m.GetLeft(), m.GetRight(), "NearestByJoin")
	if err != nil {
		return nil, err
	}
	n := &plan.NearestJoin{Left: left, Right: right, N: int(m.GetNumResults())}
	if n.N < 1 || n.N > mostNearest {
		return nil, errclass.New("NEAREST_BY_JOIN.NUM_RESULTS_OUT_OF_RANGE", "numResults", strconv.Itoa(n.N), "min", "1", "max", strconv.Itoa(mostNearest))
	}
	switch strings.ReplaceAll(strings.ToLower(m.GetJoinType()), "_", "") {
	case "inner", "":
	case "leftouter", "left":
		n.Outer = true
	default:
		return nil, errclass.New("NEAREST_BY_JOIN.UNSUPPORTED_JOIN_TYPE", "joinType", m.GetJoinType(), "supported", "'INNER', 'LEFT OUTER'")
	}
	switch strings.ToLower(m.GetMode()) {
	case "approx", "exact": // whatever is asked for, the answer is exact
	default:
		return nil, errclass.New("NEAREST_BY_JOIN.UNSUPPORTED_MODE", "mode", m.GetMode(), "supported", "'approx', 'exact'")
	}
	switch strings.ToLower(m.GetDirection()) {
	case "distance":
	case "similarity":
		n.Desc = true
	default:
		return nil, errclass.New("NEAREST_BY_JOIN.UNSUPPORTED_DIRECTION", "direction", m.GetDirection(), "supported", "'distance', 'similarity'")
	}
	n.Rank, err = c.Expr(m.GetRankingExpression())
	return n, err
}
