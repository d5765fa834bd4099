package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/millrace/millrace"
)

// perRequest is how many expressions are asked about at a time.
const perRequest = 8

// zones are those of sessions.
var zones = []string{"America/Los_Angeles", "UTC", "Asia/Kolkata", "Europe/Berlin", "Pacific/Apia"}

// forScalars makes the table of a round of single expressions, and returns where the randomness is then.
func (p *pair) forScalars(ctx context.Context, seed uint64) (r *rand.Rand, settings string, err error) {
	r = rand.New(rand.NewPCG(seed, 1))
	ansi := fmt.Sprint(r.IntN(3) > 0)
	zone := zones[r.IntN(len(zones))]
	if err := p.conf(ctx, "spark.sql.session.timeZone", zone); err != nil {
		return nil, "", err
	}
	p.rows = 1 + r.IntN(10)
	return r, ansi + ", " + zone, p.prepare(ctx, ansi, view(r, "t", p.rows))
}

// scalars is a round of single expressions: calls of every function, casts of everything to everything, and what the grammar has.
func (p *pair) scalars(ctx context.Context, seed uint64, o options) error {
	r, settings, err := p.forScalars(ctx, seed)
	if err != nil {
		return err
	}
	g := &generator{r: r}
	var batch []*node
	for range perRound {
		n := g.scalar()
		if !o.only.MatchString(n.String()) {
			continue
		}
		if batch = append(batch, n); len(batch) == perRequest {
			if err := p.columns(ctx, seed, settings, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return p.columns(ctx, seed, settings, batch)
}

// scalar makes an expression of any kind.
func (g *generator) scalar() *node {
	switch g.r.IntN(10) {
	case 0, 1, 2, 3, 4:
		return g.call(g.r.IntN(2))
	case 5, 6:
		return g.cast(g.r.IntN(2))
	case 7:
		return g.record(g.r.IntN(2))
	}
	return g.expression("any", 1+g.r.IntN(3))
}

// columns compares what both say to a list of expressions.
func (p *pair) columns(ctx context.Context, seed uint64, settings string, list []*node) error {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = n.String()
	}
	diffs, err := p.askColumns(ctx, texts)
	if err != nil {
		return err
	}
	for i, diff := range diffs {
		if diff == "" {
			continue
		}
		n := list[i]
		if n, diff, err = p.smallest(ctx, n, diff); err != nil {
			return err
		}
		if diff, err = p.byRow(ctx, n.String(), diff); err != nil {
			return err
		}
		p.report(seed, settings, n.String(), diff)
	}
	return nil
}

// smallest finds the smallest part of an expression that differs by itself.
func (p *pair) smallest(ctx context.Context, n *node, diff string) (*node, string, error) {
	for _, k := range n.kids {
		if len(k.kids) == 0 {
			continue
		}
		d, err := p.askColumns(ctx, []string{k.String()})
		if err != nil {
			return n, diff, err
		}
		if d[0] != "" {
			return p.smallest(ctx, k, d[0])
		}
	}
	return n, diff, nil
}

// askColumns asks both for expressions over t. Many are asked for in one request, and only those that fail alone.
func (p *pair) askColumns(ctx context.Context, exprs []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ours, theirs := schemas(ctx, p.ours, exprs), schemas(ctx, p.spark, exprs)
	diffs := make([]string, len(exprs))
	var valued []int
	for i := range exprs {
		if diffs[i] = p.compare(ours[i], theirs[i]); diffs[i] == "" && ours[i].err == nil {
			valued = append(valued, i)
		}
	}
	asked := make([]string, len(valued))
	for k, i := range valued {
		asked[k] = exprs[i]
	}
	ours, theirs = values(ctx, p.ours, asked), values(ctx, p.spark, asked)
	for k, i := range valued {
		diffs[i] = p.compare(ours[k], theirs[k])
	}
	p.asked += len(exprs)
	return diffs, ctx.Err()
}

func (p *pair) compare(ours, theirs answer) string {
	if ours.err != nil && theirs.err != nil {
		p.errors++
	}
	diff := differ(ours, theirs)
	if diff == "" && ours.err != nil {
		diff = parameters(ours.err, theirs.err)
	}
	if diff != "" && ours.err != nil {
		diff += "\n    millrace: " + firstLine(ours.err)
	}
	if diff != "" && theirs.err != nil {
		diff += "\n    spark: " + firstLine(theirs.err)
	}
	return diff
}

// prose are parameters that hold sentences: theirs are not ours.
var prose = map[string]bool{
	"message": true, "rangeMessage": true, "reason": true, "error": true, "hint": true, "msg": true, "supportedFormat": true, "badRecord": true,
	"originalValue": true, "inputName": true, "detailMessage": true,
}

// parameters says in what the parameters of two errors differ.
func parameters(ours, theirs error) string {
	a, ok1 := errors.AsType[*millrace.Error](ours)
	b, ok2 := errors.AsType[*millrace.Error](theirs)
	if !ok1 || !ok2 || b.Class == "" || strings.HasPrefix(b.Class, numbered) || strings.HasPrefix(b.Class, "PARSE_SYNTAX_ERROR") {
		return ""
	}
	for _, k := range slices.Sorted(maps.Keys(b.Params)) {
		if prose[k] {
			continue
		}
		if v, ok := a.Params[k]; !ok || v != b.Params[k] {
			return fmt.Sprintf("parameter %s of %s: %q and %q", k, b.Class, v, b.Params[k])
		}
	}
	return ""
}

// schemas asks for the schemas of expressions, together and, when one fails, in halves.
func schemas(ctx context.Context, s *millrace.Session, exprs []string) []answer {
	return halves(exprs, func(exprs []string) ([]answer, error) {
		schema, err := s.Table("t").SelectExpr(exprs...).Schema(ctx)
		if err == nil && len(schema.Fields) != len(exprs) {
			err = errors.New("columns are missing") // one makes several
		}
		if err != nil {
			return nil, err
		}
		out := make([]answer, len(exprs))
		for i, f := range schema.Fields {
			out[i].schema = fmt.Sprintf("%s %s null=%v", f.Name, f.Type.SQL(), f.Nullable)
		}
		return out, nil
	})
}

// values asks for the values of expressions, in the same way.
func values(ctx context.Context, s *millrace.Session, exprs []string) []answer {
	return halves(exprs, func(exprs []string) ([]answer, error) {
		rows, err := s.Table("t").SelectExpr(exprs...).Collect(ctx)
		if err != nil {
			return nil, err
		}
		out := make([]answer, len(exprs))
		for i := range exprs {
			for k, r := range rows {
				out[i].rows = append(out[i].rows, []any{int64(k), r.At(i)})
			}
		}
		return out, nil
	})
}

// halves asks for all, or for the first and the second half if that fails; of one the failure is the answer.
func halves(exprs []string, ask func(exprs []string) ([]answer, error)) []answer {
	if len(exprs) == 0 {
		return nil
	}
	out, err := ask(exprs)
	switch {
	case err == nil:
		return out
	case len(exprs) == 1:
		return []answer{failed(err)}
	}
	half := len(exprs) / 2
	return append(halves(exprs[:half], ask), halves(exprs[half:], ask)...)
}
