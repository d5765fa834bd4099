package deltatable

import (
	"context"
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// Read is a Delta table as a source, as of a version if one is asked for.
func Read(ctx context.Context, s Session, path string, n *plan.Named, own map[string]string) (plan.Node, error) {
	options := map[string]string{}
	for _, m := range []map[string]string{own, n.Options} {
		for k, v := range m {
			if !strings.EqualFold(k, "path") {
				options[k] = v
			}
		}
	}
	if n.Time != nil {
		if err := travel(ctx, s, n.Time, options); err != nil {
			return nil, err
		}
	}
	return &plan.Read{Format: Format, Paths: []string{path}, Options: options, Stream: n.Stream, ID: plan.NewID()}, nil
}

// travel turns VERSION or TIMESTAMP AS OF into options of a reader.
func travel(ctx context.Context, s Session, t *plan.TimeTravel, options map[string]string) error {
	if t.Timestamp == nil {
		options["versionAsOf"] = t.Version
		return nil
	}
	at, err := instant(ctx, s, t.Timestamp)
	if err == nil {
		options["timestampAsOf"] = at.In(s.SourceEnv().Zone)
	}
	return err
}

// instant evaluates a constant that is a point in time.
func instant(ctx context.Context, s Session, e plan.Expr) (types.Micros, error) {
	one := &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: &plan.Cast{Child: e, To: types.Timestamp}, Name: "t"}}, Child: &plan.OneRow{}}
	rows, err := rowsOf(ctx, s, one)
	if err != nil && !errclass.Has(err, "CAST_INVALID_INPUT") {
		return 0, err
	}
	if err == nil {
		if at, ok := rows[0][0].(types.Micros); ok {
			return at, nil
		}
	}
	return 0, errclass.New("INVALID_TIME_TRAVEL_TIMESTAMP_EXPR.INPUT", "expr", errclass.Expr(e.SQL()))
}
