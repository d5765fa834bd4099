package millrace_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace"
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/types"
)

func TestVersion(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		if v, err := spark.Version(ctx(t)); err != nil || !strings.HasPrefix(v, "4.2") {
			t.Errorf("version %q, %v", v, err)
		}
	})
}

func TestConf(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		c := spark.Conf()
		if v, err := c.Get(ctx(t), "spark.sql.shuffle.partitions"); err != nil || v != "2" {
			t.Errorf("partitions %q, %v", v, err)
		}
		if err := c.Set(ctx(t), "spark.sql.ansi.enabled", "false"); err != nil {
			t.Fatal(err)
		}
		expect(t, sql(t, spark, "SELECT 1 / 0 AS x"), row(nil))
		if err := c.Unset(ctx(t), "spark.sql.ansi.enabled"); err != nil {
			t.Fatal(err)
		}
		if v, err := c.Get(ctx(t), "spark.sql.ansi.enabled"); err != nil || v != "true" {
			t.Errorf("ansi %q, %v", v, err)
		}
		if v, err := c.GetOr(ctx(t), "no.such.key", "d"); err != nil || v != "d" {
			t.Errorf("default %q, %v", v, err)
		}
		_, err := c.Get(ctx(t), "no.such.key")
		expectClass(t, err, "SQL_CONF_NOT_FOUND")
		if err := c.Set(ctx(t), "my.own", "1"); err != nil {
			t.Fatal(err)
		}
		if all, err := c.GetAll(ctx(t), "my."); err != nil || all["own"] != "1" {
			t.Errorf("all %v, %v", all, err)
		}
		for key, want := range map[string]bool{"spark.sql.shuffle.partitions": true, "spark.sql.warehouse.dir": false} {
			if ok, err := c.IsModifiable(ctx(t), key); err != nil || ok != want {
				t.Errorf("%s modifiable: %v, %v", key, ok, err)
			}
		}
		expectClass(t, c.Set(ctx(t), "spark.sql.warehouse.dir", "/x"), "CANNOT_MODIFY_STATIC_CONFIG")
	})
}

func TestSessionsAreApart(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		if err := spark.Range(0, 1, 1).CreateOrReplaceTempView(ctx(t), "mine"); err != nil {
			t.Fatal(err)
		}
		if err := spark.Conf().Set(ctx(t), "my.own", "1"); err != nil {
			t.Fatal(err)
		}
		twin, err := spark.Clone(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, twin.Table("mine"), row(int64(0)))
		if v, err := twin.Conf().Get(ctx(t), "my.own"); err != nil || v != "1" {
			t.Errorf("my.own = %q, %v", v, err)
		}
		if _, err := twin.Catalog().DropTempView(ctx(t), "mine"); err != nil {
			t.Fatal(err)
		}
		expect(t, spark.Table("mine"), row(int64(0)))

		other, err := spark.NewSession(ctx(t))
		if err != nil {
			t.Fatal(err)
		}
		_, err = other.Table("mine").Collect(ctx(t))
		expectClass(t, err, "TABLE_OR_VIEW_NOT_FOUND")
		_, err = spark.Range(0, 1, 1).Union(other.Range(0, 1, 1)).Collect(ctx(t))
		expectClass(t, err, "SESSION_NOT_SAME")

		for _, s := range []*millrace.Session{twin, other} {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		_, err = other.Range(0, 1, 1).Collect(ctx(t))
		expectClass(t, err, "SESSION_CLOSED")
		expect(t, spark.Table("mine"), row(int64(0)))
		if spark.ID() == other.ID() || uuid.Validate(other.ID()) != nil {
			t.Errorf("ids %q and %q", spark.ID(), other.ID())
		}
	})
}

// forever is a query that takes longer than any test.
func forever(spark *millrace.Session) *millrace.DataFrame {
	big := spark.Range(0, 1_000_000, 1)
	return big.CrossJoin(big.ToDF("b")).Agg(f.Sum(f.Col("id").Mul(f.Col("b")).Mod(7)).As("s"))
}

// A session is known by its user and its id; whoever has both is in it.
func TestSessionsAreJoined(t *testing.T) {
	address, id := serve(t), uuid.NewString()
	join := func(user string) *millrace.Session {
		return connect(t, address, millrace.WithSessionID(id), millrace.WithUserID(user))
	}
	if err := join("u").Range(0, 1, 1).CreateOrReplaceTempView(ctx(t), "v"); err != nil {
		t.Fatal(err)
	}
	expect(t, join("u").Table("v"), row(int64(0)))
	_, err := join("w").Table("v").Collect(ctx(t))
	expectClass(t, err, "TABLE_OR_VIEW_NOT_FOUND")
}

func TestInterrupts(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		for name, stop := range map[string]func(context.Context) ([]string, error){
			"all": spark.InterruptAll,
			"tag": func(c context.Context) ([]string, error) { return spark.InterruptTag(c, "slow") },
		} {
			done := make(chan error, 1)
			go func() {
				_, err := forever(spark).Collect(millrace.WithTags(ctx(t), "slow"))
				done <- err
			}()
			for running := true; running; { // until the operation is there to be interrupted
				ids, err := stop(ctx(t))
				if err != nil {
					t.Fatal(err)
				}
				select {
				case err := <-done:
					expectClass(t, err, "OPERATION_CANCELED")
					running = false
				case <-time.After(50 * time.Millisecond):
					_ = ids
				}
			}
			if ids, err := stop(ctx(t)); err != nil || len(ids) > 0 {
				t.Errorf("%s: interrupted %q, %v", name, ids, err)
			}
		}
	})
}

func TestContextsEndOperations(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		c, cancel := context.WithTimeout(ctx(t), 300*time.Millisecond)
		defer cancel()
		if _, err := forever(spark).Collect(c); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		c, cancel = context.WithCancel(ctx(t))
		cancel()
		if _, err := spark.Range(0, 1, 1).Schema(c); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		expect(t, spark.Range(0, 1, 1), row(int64(0)))
	})
}

func TestErrors(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		_, err := spark.Table("no_such_table").Collect(ctx(t))
		e := expectClass(t, err, "TABLE_OR_VIEW_NOT_FOUND")
		if e.SQLState != "42P01" || e.Params["relationName"] != "`no_such_table`" {
			t.Errorf("got %+v", e)
		}

		_, err = spark.SQL(ctx(t), "SELECT no_such_col FROM range(1)") // analysed at once
		e = expectClass(t, err, "UNRESOLVED_COLUMN.WITH_SUGGESTION")
		if e.Params["proposal"] != "`id`" {
			t.Errorf("parameters %v", e.Params)
		}
		if len(e.Context) != 1 || e.Context[0].Start != 7 || e.Context[0].Stop != 17 || e.Context[0].Fragment != "no_such_col" {
			t.Errorf("context %+v", e.Context)
		}

		_, err = spark.Range(0, 1, 1).Select(f.Lit(1).Div(0)).Collect(ctx(t))
		e = expectClass(t, err, "DIVIDE_BY_ZERO")
		if len(e.Context) != 1 || e.Context[0].Fragment != "Div" || !strings.Contains(e.Context[0].CallSite, "session_test.go:") {
			t.Errorf("context %+v", e.Context)
		}

		_, err = spark.SQL(ctx(t), "SELEC 1")
		expectClass(t, err, "PARSE_SYNTAX_ERROR")
		_, err = sql(t, spark, "SELECT 1 / 0").Collect(ctx(t))
		if e = expectClass(t, err, "DIVIDE_BY_ZERO"); e.SQLState != "22012" {
			t.Errorf("state %q", e.SQLState)
		}
		_, err = spark.Read().Format("no_such_format").Load("/x").Schema(ctx(t))
		expectClass(t, err, "DATA_SOURCE_NOT_FOUND")
	})
}

func TestMistakesNameTheirPlace(t *testing.T) {
	each(t, func(t *testing.T, spark *millrace.Session) {
		one := spark.Range(0, 1, 1)
		for name, d := range map[string]*millrace.DataFrame{
			"NOT_COLUMN_OR_STR":     one.Select(3),
			"UNSUPPORTED_DATATYPE":  spark.Read().SchemaDDL("a b c d").JSON("/x"),
			"NOT_EXPECTED_TYPE":     spark.Read().Option("o", []int{1}).JSON("/x"),
			"CANNOT_BE_EMPTY":       one.GroupBy("id").Agg(),
			"VALUE_NOT_BETWEEN":     one.Limit(1 << 40),
			"UNUSABLE_COLUMN":       one.Select(millrace.Column{}),
			"INVALID_VALUE.TYPE":    spark.CreateDataFrameDDL([][]any{{"x"}}, "a INT"),
			"INVALID_VALUE.NULL":    spark.CreateDataFrameSchema([][]any{{nil}}, types.Struct(types.Field{Name: "a", Type: types.Long})),
			"INVALID_VALUE.NO_TYPE": one.Select(f.Lit(make(chan int))),
			"INVALID_VALUE.RANGE":   spark.CreateDataFrameDDL([][]any{{300}}, "a TINYINT"),
		} {
			later := d.Where("true").Limit(1) // the mistake stays
			_, err := later.Collect(ctx(t))
			expectClass(t, err, name)
			if !strings.Contains(err.Error(), "session_test.go:") {
				t.Errorf("%s: no place in %q", name, err)
			}
			if _, err := later.Schema(ctx(t)); err == nil {
				t.Errorf("%s: Schema knows nothing of it", name)
			}
		}
		_, err := one.Union(nil).Collect(ctx(t))
		expectClass(t, err, "NOT_EXPECTED_TYPE")
		_, err = one.Select(f.Sum(f.Lit(make(chan int)))).Collect(ctx(t))
		if err == nil || !strings.Contains(err.Error(), ": Lit: ") {
			t.Errorf("got %v", err)
		}
	})
}
