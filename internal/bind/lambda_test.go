package bind_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan/plantest"
)

// TestFunctionsOfFunctions compares, over four rows, the text of each result, or its error, with what Spark gave.
func TestFunctionsOfFunctions(t *testing.T) {
	db := &plantest.DB{}
	err := db.Define("t", "select * from values (1, array(3, 1, null, 2), array(array(1, 2), array(3)), map('a', 1, 'b', 2), "+
		"array(named_struct('p', 1, 'q', array('x')))), (2, array(), array(), map(), array()), (3, null, null, null, null), "+
		"(4, array(7), array(array(4, 4)), map('k', null), array(null, named_struct('p', 5, 'q', array('y', 'z')))) t(n, xs, xss, m, structs)")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"transform(xs, x -> x + n)", "[4, 2, null, 3] | [] | None | [11]"},
		{"transform(xs, (x, i) -> i * 10)", "[0, 10, 20, 30] | [] | None | [0]"},
		{"transform(xs, x -> null)", "[null, null, null, null] | [] | None | [null]"},
		{"transform(xss, ys -> transform(ys, y -> y + n + size(ys)))", "[[4, 5], [5]] | [] | None | [[10, 10]]"},
		{"transform(xs, x -> 7)", "[7, 7, 7, 7] | [] | None | [7]"},
		{"transform(array(), x -> 1)", "[] | [] | [] | []"},
		{"transform(cast(null as array<int>), x -> x)", "None | None | None | None"},
		{"filter(xs, x -> x > n)", "[3, 2] | [] | None | [7]"},
		{"filter(xs, (x, i) -> i < 2)", "[3, 1] | [] | None | [7]"},
		{"filter(xs, x -> null)", "[] | [] | None | []"},
		{"filter(xss, ys -> exists(ys, y -> y = n))", "[[1, 2]] | [] | None | [[4, 4]]"},
		{"exists(xs, x -> x = 3)", "true | false | None | false"},
		{"exists(xs, x -> x > 100)", "None | false | None | false"},
		{"exists(xs, x -> 1 / (x - 3) > 0 or x = 3)", "DIVIDE_BY_ZERO"},
		{"exists(xs, x -> x = 1 or 1 / 0 > 0)", "DIVIDE_BY_ZERO"},
		{"forall(xs, x -> x > 0)", "None | true | None | true"},
		{"forall(xs, x -> x > 100)", "false | true | None | false"},
		{"forall(xs, x -> x is null or x < 100)", "true | true | None | true"},
		{"aggregate(xs, 0, (a, x) -> a + coalesce(x, 0))", "6 | 0 | None | 7"},
		{"aggregate(xs, 0, (a, x) -> a + x)", "None | 0 | None | 7"},
		{"aggregate(xs, 0L, (a, x) -> a + coalesce(x, 0), a -> a * n)", "6 | 0 | None | 28"},
		{"aggregate(xs, array(0), (a, x) -> array_append(a, x))", "[0, 3, 1, null, 2] | [0] | None | [0, 7]"},
		{"aggregate(xss, 0, (a, ys) -> a + aggregate(ys, 0, (b, y) -> b + y))", "6 | 0 | None | 8"},
		{"reduce(xs, named_struct('s', 0, 'c', 0), (a, x) -> named_struct('s', a.s + coalesce(x, 0), 'c', a.c + 1), a -> a.s / a.c)", "DIVIDE_BY_ZERO"},
		{"zip_with(xs, array(1, 2), (a, b) -> concat_ws('-', a, b))", "[3-1, 1-2, , 2] | [1, 2] | None | [7-1, 2]"},
		{"zip_with(xs, xs, (a, b) -> a * b + n)", "[10, 2, null, 5] | [] | None | [53]"},
		{"array_sort(xs, (l, r) -> coalesce(r, 0) - coalesce(l, 0))", "[3, 2, 1, null] | [] | None | [7]"},
		{"array_sort(xs, (l, r) -> l - r)", "COMPARATOR_RETURNS_NULL"},
		{"array_sort(xs)", "[1, 2, 3, null] | [] | None | [7]"},
		{"map_filter(m, (k, v) -> v > n)", "{b -> 2} | {} | None | {}"},
		{"transform_keys(m, (k, v) -> upper(k))", "{A -> 1, B -> 2} | {} | None | {K -> null}"},
		{"transform_keys(m, (k, v) -> 'same')", "DUPLICATED_MAP_KEY"},
		{"transform_keys(m, (k, v) -> if(n > 100, k, null))", "NULL_MAP_KEY"},
		{"transform_values(m, (k, v) -> concat(k, v))", "{a -> a1, b -> b2} | {} | None | {k -> null}"},
		{"map_zip_with(m, map('b', 5, 'z', 6), (k, x, y) -> concat_ws(':', k, x, y))", "{a -> a:1, b -> b:2:5, z -> z:6} | {b -> b:5, z -> z:6} | None | {k -> k, b -> b:5, z -> z:6}"},
		{"xss[0][1] + aggregate(xs, 0, (a, x) -> n)", "INVALID_ARRAY_INDEX"},
		{"structs.p", "[1] | [] | None | [null, 5]"},
		{"structs.q[0]", "INVALID_ARRAY_INDEX"},
		{"transform(structs, s -> s.p + n)", "[2] | [] | None | [null, 9]"},
	} {
		if got := column(db, c[0]); got != c[1] {
			t.Errorf("%s: got %s, want %s", c[0], got, c[1])
		}
	}
}

// column is a column of table t as text, or the condition of the error that comes instead.
func column(db *plantest.DB, expr string) string {
	n, err := db.Resolve("select cast(" + expr + " as string) from t")
	if err != nil {
		return condition(err)
	}
	rows, err := plantest.Run(n, 1)
	if err != nil {
		return condition(err)
	}
	var texts []string
	for _, r := range rows {
		if r[0] == nil {
			texts = append(texts, "None")
		} else {
			texts = append(texts, fmt.Sprint(r[0]))
		}
	}
	return strings.Join(texts, " | ")
}

func condition(err error) string {
	if e, ok := errors.AsType[*errclass.Error](err); ok {
		return e.Class
	}
	return err.Error()
}
