package histories

import (
	"fmt"
	"slices"

	"github.com/millrace/millrace/milltest"
	"github.com/millrace/millrace/types"
)

// condition is a predicate on rows of the wide schema.
type condition struct {
	sql   string
	holds func(record) bool
	timed bool // it looks at the event time
}

var conditions = []condition{
	{"v % 3 <> 0", func(r record) bool { v, ok := r[4].(int64); return ok && v%3 != 0 }, false},
	{"n IS NOT NULL", func(r record) bool { return r[1] != nil }, false},
	{"k <> 'b'", func(r record) bool { k, ok := r[0].(string); return ok && k != "b" }, false},
	{"n > 0 OR k IS NULL", func(r record) bool { n, ok := r[1].(int32); return ok && n > 0 || r[0] == nil }, false},
	{"ts >= TIMESTAMP'2026-01-01 11:30:00'", func(r record) bool { at, ok := r[5].(types.Micros); return ok && at >= noon-types.Micros(30*minute) }, true},
}

var noon = types.MicrosOf(milltest.Day) + types.Micros(12*60*minute)

// keyColumn is an expression to group by.
type keyColumn struct {
	sql string
	of  func(record) any
}

func column(i int) func(record) any { return func(r record) any { return r[i] } }

var keyColumns = []keyColumn{
	{"k", column(0)},
	{"n", column(1)},
	{"d", column(2)},
	{"m", column(3)},
	{"v % 3", func(r record) any {
		if v, ok := r[4].(int64); ok {
			return v % 3
		}
		return nil
	}},
}

// ofValues makes an aggregate of the values of a column that are not null.
func ofValues(col int, f func([]any) any) func([]record) any {
	return func(rows []record) any {
		var vs []any
		for _, r := range rows {
			if r[col] != nil {
				vs = append(vs, r[col])
			}
		}
		return f(vs)
	}
}

func orNull(f func([]any) any) func([]any) any {
	return func(vs []any) any {
		if len(vs) == 0 {
			return nil
		}
		return f(vs)
	}
}

// before is the order of values: NaN is the largest number, and the zeros are equal.
func before(a, b any) bool {
	switch a := a.(type) {
	case string:
		return a < b.(string)
	case int64:
		return a < b.(int64)
	case float64:
		b := b.(float64)
		return a < b || b != b && a == a
	}
	panic(fmt.Sprintf("no order of %T", a))
}

func highest(vs []any) any {
	return slices.MaxFunc(vs, func(a, b any) int {
		switch {
		case before(a, b):
			return -1
		case before(b, a):
			return 1
		}
		return 0
	})
}

func lowest(vs []any) any {
	low := vs[0]
	for _, v := range vs {
		if before(v, low) {
			low = v
		}
	}
	return low
}

func total(vs []any) int64 {
	var n int64
	for _, v := range vs {
		n += v.(int64)
	}
	return n
}

var aggregates = []aggregate{
	{"count(*)", func(rows []record) any { return int64(len(rows)) }},
	{"sum(v)", ofValues(4, orNull(func(vs []any) any { return total(vs) }))},
	{"avg(v)", ofValues(4, orNull(func(vs []any) any { return float64(total(vs)) / float64(len(vs)) }))},
	{"max(v)", ofValues(4, orNull(highest))},
	{"min(k)", ofValues(0, orNull(lowest))},
	{"max(k)", ofValues(0, orNull(highest))},
	{"sort_array(collect_list(v))", ofValues(4, func(vs []any) any {
		slices.SortFunc(vs, func(a, b any) int { return int(a.(int64) - b.(int64)) })
		return append([]any{}, vs...)
	})},
	{"count(d)", ofValues(2, func(vs []any) any { return int64(len(vs)) })},
	{"max(d)", ofValues(2, orNull(highest))},
	{"min(d)", ofValues(2, orNull(lowest))},
	{"sum(m)", ofValues(3, orNull(func(vs []any) any {
		var n int64
		for _, v := range vs {
			u, _ := v.(types.Decimal).Int64()
			n += u
		}
		return types.DecimalFromInt64(n, 2)
	}))},
}

// afterChain are the aggregates over columns that are there behind another operator.
var afterChain = []aggregate{aggregates[0], aggregates[1], aggregates[3], aggregates[6]}

func (s *scheme) aggregates(from []aggregate) (list []aggregate, sql string) {
	for i := range 1 + s.pick(3, "aggregates") {
		a := from[s.pick(len(from), "aggregate")]
		list = append(list, a)
		sql += fmt.Sprintf(", %s AS a%d", a.sql, i)
	}
	return list, sql
}

var windowSizes = []struct {
	sql string
	w   windows
}{
	{"'10 minutes'", windows{10 * minute, 10 * minute, 0}},
	{"'10 minutes', '5 minutes'", windows{10 * minute, 5 * minute, 0}},
	{"'10 minutes', '4 minutes'", windows{10 * minute, 4 * minute, 0}},
	{"'1 hour', '1 hour', '25 minutes'", windows{60 * minute, 60 * minute, 25 * minute}},
	{"'90 seconds', '60 seconds', '15 seconds'", windows{90_000_000, 60_000_000, 15_000_000}},
}
