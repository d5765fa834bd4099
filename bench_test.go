package millrace_test

import (
	"context"
	"testing"

	"github.com/millrace/millrace"
)

// BenchmarkRows brings a million rows of one BIGINT to the program, in the forms that it can ask for.
func BenchmarkRows(b *testing.B) {
	ctx := context.Background()
	spark, err := millrace.Connect(ctx, "local[2]", millrace.WithConf("spark.sql.warehouse.dir", b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	defer spark.Close()
	d := spark.Range(0, 1_000_000, 1)
	for name, run := range map[string]func() (int, error){
		"records": func() (n int, err error) {
			for rec, err := range d.Records(ctx) {
				if err != nil {
					return n, err
				}
				n += int(rec.NumRows())
			}
			return n, nil
		},
		"rows": func() (n int, err error) {
			for _, err := range d.Rows(ctx) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
		"structs": func() (n int, err error) {
			for _, err := range millrace.RowsAs[struct{ ID int64 }](ctx, d) {
				if err != nil {
					return n, err
				}
				n++
			}
			return n, nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := run(); err != nil || n != 1_000_000 {
					b.Fatal(n, err)
				}
			}
		})
	}
}
