package millrace_test

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
)

type payment struct {
	TS     time.Time `millrace:"ts"`
	User   string
	Amount int
}

type bill struct {
	User  string
	Total int
}

// biller adds up what a user pays, and sends the bill an hour after the first payment.
type biller struct {
	timers *millrace.StatefulProcessorHandle
	total  *millrace.ValueState[int]
}

func (b *biller) Init(h *millrace.StatefulProcessorHandle) (err error) {
	b.timers = h
	b.total, err = millrace.NewValueState[int](h, "total")
	return err
}

func (b *biller) HandleInputRows(_ context.Context, _ string, payments iter.Seq[payment], _ millrace.TimerValues, _ func(bill) error) error {
	total, open, err := b.total.Get()
	if err != nil {
		return err
	}
	for p := range payments {
		total += p.Amount
		if !open {
			open = true
			if err := b.timers.RegisterTimer(p.TS.Add(time.Hour)); err != nil {
				return err
			}
		}
	}
	return b.total.Update(total)
}

func (b *biller) HandleExpiredTimer(_ context.Context, user string, _ millrace.ExpiredTimer, _ millrace.TimerValues, emit func(bill) error) error {
	total, _, err := b.total.Get()
	if err != nil {
		return err
	}
	if err := b.total.Clear(); err != nil {
		return err
	}
	return emit(bill{user, total})
}

// A stateful processor decides itself what it remembers of a group, for how long, and what it makes of it. In a program the stream comes of
// ReadStream, and WriteStream takes the result.
func ExampleTransformWithState() {
	t := &milltest.Panic{}
	defer t.Done()
	eng := milltest.New(t)
	payments := eng.Stream("ts TIMESTAMP, user STRING, amount INT")

	bills := millrace.TransformWithState(
		payments.DataFrame().WithWatermark("ts", "5 minutes").GroupBy("user"),
		&biller{},
		millrace.TransformOptions{TimeMode: millrace.TimeModeEventTime},
	)

	q := eng.Start(bills)
	payments.AddText(
		"10:00  ann  10",
		"10:20  bob  20",
		"10:40  ann  30")
	q.Expect() // nobody's hour is over
	payments.AddText("11:10  cid  1")
	q.Expect("(ann, 40)") // the watermark is 11:05

	q.Restart()
	payments.AddText("11:30  cid  2")
	for _, b := range q.Process() {
		for _, r := range b.Rows {
			fmt.Println(milltest.FormatRow(r))
		}
	}
	fmt.Println(q.State(0))
	// Output:
	// (bob, 20)
	// [timer (cid) at 12:10 total (cid): 3]
}
