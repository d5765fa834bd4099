package faults

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace"
)

// TestWarehouse: tables are what they were for the process after a power cut, whoever has made and filled them: batches, streams, statements.
func TestWarehouse(t *testing.T) {
	for _, format := range []string{"parquet", "delta"} {
		t.Run(format, func(t *testing.T) {
			m := newMachine(scenario{}, variant{provider: "millrace.mem"})
			// step runs one thing in a process of its own, and looks at the tables in another.
			step := func(what string, f func(context.Context, *millrace.Session) error, want ...string) {
				t.Helper()
				if err := m.in(m.mem, f); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				m.mem = m.mem.Crash(nil)
				var got []string
				if err := m.in(m.mem, func(ctx context.Context, s *millrace.Session) (err error) {
					got, err = warehouse(ctx, s)
					return err
				}); err != nil {
					t.Fatalf("after %s: %v", what, err)
				}
				if d := cmp.Diff(append([]string{"default"}, want...), got); d != "" {
					t.Fatalf("after %s (-want +got):\n%s", what, d)
				}
			}
			rows := func(s *millrace.Session, from, to int64) *millrace.DataFrame {
				return s.Range(from, to, 1).SelectExpr("id AS a", "CAST(id % 2 AS INT) AS p")
			}
			stream := func(ctx context.Context, s *millrace.Session) error {
				q, err := s.ReadStream().Table("t").Where("a <> 1").WriteStream().Format(format).OutputMode(millrace.Append).
					Option("checkpointLocation", "/ck").Trigger(millrace.AvailableNow()).ToTable(ctx, "u")
				if err != nil {
					return err
				}
				return q.AwaitTermination(ctx)
			}
			t1, t2, u := "default.t [a: 0, p: 0] [a: 1, p: 1]", "default.t [a: 0, p: 0] [a: 1, p: 1] [a: 2, p: 0] [a: 3, p: 1]", "default.u [a: 0, p: 0]"
			step("saveAsTable", func(ctx context.Context, s *millrace.Session) error {
				return rows(s, 0, 2).Write().Format(format).PartitionBy("p").SaveAsTable(ctx, "t")
			}, t1)
			step("toTable", stream, t1, u)
			step("toTable without anything new", stream, t1, u)
			step("insertInto", func(ctx context.Context, s *millrace.Session) error {
				return rows(s, 2, 4).Write().InsertInto(ctx, "t")
			}, t2, u)
			u = "default.u [a: 0, p: 0] [a: 2, p: 0] [a: 3, p: 1]"
			step("toTable again", stream, t2, u)
			e := "default.e [a: 7, p: 1]"
			step("saveAsTable with a path", func(ctx context.Context, s *millrace.Session) error {
				return rows(s, 7, 8).Write().Format(format).Option("path", "/elsewhere").SaveAsTable(ctx, "e")
			}, e, t2, u)
			step("DROP TABLE of an external one", func(ctx context.Context, s *millrace.Session) error {
				_, err := s.SQL(ctx, "DROP TABLE e")
				return err
			}, t2, u)
			f := "default.f [a: 7, p: 1]"
			step("CREATE TABLE where its files are", func(ctx context.Context, s *millrace.Session) error {
				_, err := s.SQL(ctx, "CREATE TABLE f USING "+format+" LOCATION '/elsewhere'")
				return err
			}, f, t2, u)
			t3 := "default.t [a: 9, p: 1]"
			step("saveAsTable over a table", func(ctx context.Context, s *millrace.Session) error {
				return rows(s, 9, 10).Write().Format(format).Mode(millrace.SaveOverwrite).PartitionBy("p").SaveAsTable(ctx, "t")
			}, f, t3, u)
			step("DROP TABLE of a managed one", func(ctx context.Context, s *millrace.Session) error {
				_, err := s.SQL(ctx, "DROP TABLE t")
				return err
			}, f, u)
			step("saveAsTable where other files lie", func(ctx context.Context, s *millrace.Session) error {
				if err := rows(s, 0, 1).Write().Format("json").Save(ctx, "/warehouse/t"); err != nil {
					return err
				}
				err := rows(s, 0, 1).Write().Format("parquet").SaveAsTable(ctx, "t")
				if e, ok := errors.AsType[*millrace.Error](err); !ok || e.Class != "LOCATION_ALREADY_EXISTS" {
					return fmt.Errorf("it was not refused: %w", err)
				}
				return nil
			}, f, u)
		})
	}
}
