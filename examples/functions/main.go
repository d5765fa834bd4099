// Command functions calls Go functions of its own in a query: one of rows, one of whole columns, and an aggregate, from Go and from SQL.
//
//	go run ./examples/functions
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"net/url"
	"os"
	"os/signal"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace"
	_ "github.com/millrace/millrace/engine" // local[N]
	f "github.com/millrace/millrace/functions"
	"github.com/millrace/millrace/types"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "local[2]"); err != nil {
		log.Fatal(err)
	}
}

// host is the host of a link: a function of rows. A null link gives null, without a call.
var host = millrace.UDF1(func(link string) (string, error) {
	u, err := url.Parse(link)
	if err != nil {
		return "", err
	}
	return u.Hostname(), nil
}).WithName("host")

// decibels is a function of columns: it gets some thousand rows at a time.
var decibels = millrace.VectorUDF(func(args []arrow.Array) (arrow.Array, error) {
	power := args[0].(*array.Float64)
	out := array.NewFloat64Builder(memory.DefaultAllocator)
	out.Reserve(power.Len())
	for i, p := range power.Float64Values() {
		if power.IsNull(i) || p <= 0 {
			out.UnsafeAppendBoolToBitmap(false)
			continue
		}
		out.UnsafeAppend(10 * math.Log10(p))
	}
	return out.NewArray(), nil
}, types.Double, types.Double).WithName("decibels")

type geometricMean struct{}

type logs struct {
	Sum float64
	N   int64
}

func (geometricMean) Zero() logs { return logs{} }

func (geometricMean) Reduce(b logs, x float64) (logs, error) {
	if x <= 0 {
		return b, errors.New("a geometric mean is one of positive numbers")
	}
	return logs{b.Sum + math.Log(x), b.N + 1}, nil
}

func (geometricMean) Merge(b, o logs) (logs, error) { return logs{b.Sum + o.Sum, b.N + o.N}, nil }

func (geometricMean) Finish(b logs) (*float64, error) {
	if b.N == 0 {
		return nil, nil
	}
	m := math.Round(100*math.Exp(b.Sum/float64(b.N))) / 100
	return &m, nil
}

// geometric is an aggregate: the geometric mean.
var geometric = millrace.UDAF(geometricMean{}).WithName("geometric_mean")

type hit struct {
	Link  string
	Power float64
}

func run(ctx context.Context, address string) error {
	spark, err := millrace.Connect(ctx, address)
	if err != nil {
		return err
	}
	defer spark.Close()

	hits := spark.CreateDataFrame([]hit{
		{"https://a.example/x?y=1", 10}, {"https://b.example/", 100}, {"http://a.example:8080/z", 1000},
	})
	byHost := hits.GroupBy(host.Call("link").As("host")).
		Agg(geometric.Call("power").As("mean"), f.Max(decibels.Call("power")).As("loudest")).OrderBy("host")
	if err := print(ctx, byHost); err != nil {
		return err
	}

	if err := spark.UDF().Register("host", host); err != nil {
		return err
	}
	if err := hits.CreateOrReplaceTempView(ctx, "hits"); err != nil {
		return err
	}
	counted, err := spark.SQL(ctx, "SELECT host(link) AS host, count(*) AS hits FROM hits GROUP BY 1 ORDER BY 1")
	if err != nil {
		return err
	}
	return print(ctx, counted)
}

func print(ctx context.Context, d *millrace.DataFrame) error {
	for row, err := range d.Rows(ctx) {
		if err != nil {
			return err
		}
		fmt.Println(row.Values()...)
	}
	return nil
}
