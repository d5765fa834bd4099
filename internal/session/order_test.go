package session_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Rows come in the order in which Spark gives them where no order is asked for, and in its partitions. The answers in testdata/spark_order.json
// are from Apache Spark 4.2.0 under local[2].
func TestOrderAndPartitionsOfSpark(t *testing.T) {
	text, err := os.ReadFile("testdata/spark_order.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct {
		Setup []string
		Cases []struct {
			Set, SQL string
			Rows     []string
		}
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	for _, q := range recorded.Setup {
		s.want(q)
	}
	for _, c := range recorded.Cases {
		if c.Set != "" {
			s.try("SET " + c.Set)
		}
		got, condition := s.try("SELECT to_json(struct(*)) j FROM (" + c.SQL + ")")
		if d := cmp.Diff(c.Rows, got); d != "" || condition != "" {
			t.Errorf("%s %s: %s (-Spark +got)\n%s", c.Set, c.SQL, condition, d)
		}
		if c.Set != "" {
			s.try("RESET")
		}
	}
}
