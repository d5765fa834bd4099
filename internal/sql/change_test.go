package sql

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/millrace/millrace/internal/plan"
)

func TestChanges(t *testing.T) {
	tab := &plan.Named{Parts: name("delta", "/x")}
	set := func(col string, v plan.Expr) plan.Assignment { return plan.Assignment{Column: name(col), Value: v} }
	hours := 12.5
	for text, want := range map[string]plan.Statement{
		"DELETE FROM delta.`/x`":                       &plan.Delete{Table: tab},
		"delete from delta.`/x` as t where a":          &plan.Delete{Table: &plan.Aliased{Name: "t", Child: tab}, Cond: column("a")},
		"UPDATE delta.`/x` t SET a = 1, b = DEFAULT":   &plan.Update{Table: &plan.Aliased{Name: "t", Child: tab}, Set: []plan.Assignment{set("a", intLiteral(1)), set("b", nil)}},
		"update delta.`/x` set a = default where b":    &plan.Update{Table: tab, Set: []plan.Assignment{set("a", nil)}, Cond: column("b")},
		"VACUUM delta.`/x` RETAIN 12.5 HOURS DRY RUN":  &plan.Vacuum{Table: tab, Hours: &hours, DryRun: true},
		"DESCRIBE HISTORY delta.`/x` LIMIT 3":          &plan.DescribeHistory{Table: tab, Limit: 3},
		"DESC DETAIL delta.`/x`":                       &plan.DescribeDetail{Table: tab},
		"OPTIMIZE delta.`/x` WHERE a ZORDER BY (b, c)": &plan.Optimize{Table: tab, Where: column("a"), ZOrder: [][]string{{"b"}, {"c"}}},
		"REORG TABLE delta.`/x` WHERE a APPLY (PURGE)": &plan.Optimize{Table: tab, Where: column("a"), Purge: true},
		"RESTORE TABLE delta.`/x` TO VERSION AS OF 2":  &plan.Restore{Table: tab, To: plan.TimeTravel{Version: "2"}},
		"ALTER TABLE t ADD CONSTRAINT c CHECK ( a )":   &plan.AddConstraint{Table: &plan.Named{Parts: name("t")}, Name: "c", Check: column("a"), Text: "a"},
		"ALTER TABLE t DROP CONSTRAINT IF EXISTS c":    &plan.DropConstraint{Table: &plan.Named{Parts: name("t")}, Name: "c", IfExists: true},
		"MERGE WITH SCHEMA EVOLUTION INTO delta.`/x` t USING s ON a WHEN MATCHED AND b THEN DELETE WHEN MATCHED THEN UPDATE SET * " +
			"WHEN NOT MATCHED BY TARGET THEN INSERT (a) VALUES (1) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET a = 1": &plan.Merge{
			Target: &plan.Aliased{Name: "t", Child: tab}, Source: &plan.Named{Parts: name("s")}, On: column("a"), Evolve: true,
			Matched:     []plan.MergeClause{{Cond: column("b"), Action: plan.MergeDelete}, {Star: true}},
			NotMatched:  []plan.MergeClause{{Action: plan.MergeInsert, Set: []plan.Assignment{set("a", intLiteral(1))}}},
			NotBySource: []plan.MergeClause{{Set: []plan.Assignment{set("a", intLiteral(1))}}},
		},
	} {
		got, err := ParseStatement(text, Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreTypes(plan.Origin{})); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
	}
	for _, text := range []string{
		"MERGE INTO t USING s ON a", "DELETE t", "UPDATE t a = 1", "MERGE INTO t USING s ON a WHEN MATCHED THEN INSERT *",
		"MERGE INTO t USING s ON a WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)", "MERGE INTO t USING s ON a WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *",
		"MERGE INTO t USING s ON a WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE",
	} {
		if _, err := ParseStatement(text, Options{}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}
