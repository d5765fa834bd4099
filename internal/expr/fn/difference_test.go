package fn_test

import (
	"math"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// A difference that does not fit 64 bits of microseconds fails (Spark's error has no condition to record), and one that fits by the offsets of
// the time zone alone does not.
func TestDifferencesThatDoNotFit(t *testing.T) {
	losAngeles, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t     types.DataType
		x, y  int64
		zone  *time.Location
		fails bool
	}{
		{types.Date, 100_000_000, -100_000_000, time.UTC, true},
		{types.Date, math.MaxInt32, math.MinInt32, time.UTC, true},
		{types.Date, 100_000_000, 0, time.UTC, false},
		{types.TimestampNTZ, math.MaxInt64, -1, time.UTC, true},
		{types.TimestampNTZ, math.MaxInt64, 0, time.UTC, false},
		{types.TimestampNTZ, math.MinInt64, 1, time.UTC, true},
		{types.Timestamp, 1 << 62, -1 << 62, time.UTC, true},
		{types.Timestamp, 1<<62 - 1, -1 << 62, time.UTC, false},
		{types.Timestamp, 0, math.MinInt64, losAngeles, false}, // -8 hours, and -7:52:58 then
	} {
		args := make([]*vec.Vector, 2)
		for i, x := range []int64{c.x, c.y} {
			b := vec.NewBuilder(c.t)
			if c.t == types.DataType(types.Date) {
				b.AppendInt32(int32(x))
			} else {
				b.AppendInt64(x)
			}
			b.AppendNull()
			args[i] = b.Finish()
		}
		for _, name := range []string{"-", "try_subtract"} {
			bound, err := fn.Lookup(name).Bind(&fn.Binding{Name: name, ANSI: true, Zone: c.zone, Args: []fn.Arg{{Type: c.t, Nullable: true}, {Type: c.t, Nullable: true}}})
			if err != nil {
				t.Fatal(err)
			}
			e := &expr.Eval{}
			out := fn.NewNode(bound, []expr.Node{expr.NewColumn(0, c.t), expr.NewColumn(1, c.t)}).Eval(e, vec.NewBatch(2, args...))
			_, err, failed := e.Errs.First()
			switch try := name == "try_subtract"; {
			case failed && !errclass.Has(err, "ARITHMETIC_OVERFLOW"):
				t.Errorf("%s: %v", name, err)
			case failed != (c.fails && !try), out.IsNull(0) != c.fails && try, !out.IsNull(1):
				t.Errorf("%d %s %d of %s: failed %v, null %v and %v", c.x, name, c.y, c.t.SQL(), failed, out.IsNull(0), out.IsNull(1))
			}
		}
	}
}
