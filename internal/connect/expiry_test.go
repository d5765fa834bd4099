package connect

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/leaktest"
	"github.com/millrace/millrace/internal/session"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// stopped is a clock that moves only when it is told to and on which nothing ever comes due.
type stopped struct {
	mu sync.Mutex
	t  time.Time
}

func (c *stopped) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *stopped) After(time.Duration) (<-chan time.Time, func()) { return nil, func() {} }

func (c *stopped) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func testService(t *testing.T) (*Service, *stopped) {
	t.Helper()
	clock := &stopped{t: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	rt := engine.New(engine.Runtime{Clock: clock, Parallelism: 1})
	s, err := New(session.NewServer(rt, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s, clock
}

func version(s *Service, id string) error {
	_, err := s.AnalyzePlan(context.Background(), &connectpb.AnalyzePlanRequest{
		SessionId: id,
		Analyze:   &connectpb.AnalyzePlanRequest_SparkVersion_{SparkVersion: &connectpb.AnalyzePlanRequest_SparkVersion{}},
	})
	return err
}

func TestSessionsExpire(t *testing.T) {
	s, clock := testService(t)
	idle, used := uuid.NewString(), uuid.NewString()
	for _, id := range []string{idle, used} {
		if err := version(s, id); err != nil {
			t.Fatal(err)
		}
	}
	clock.advance(40 * time.Minute)
	if err := version(s, used); err != nil {
		t.Fatal(err)
	}
	clock.advance(30 * time.Minute)
	s.sweep()
	if err := version(s, used); err != nil {
		t.Errorf("a session in use: %v", err)
	}
	if err := version(s, idle); !errclass.Has(err, "INVALID_HANDLE.SESSION_CLOSED") {
		t.Errorf("a session that was not used for an hour: %v", err)
	}
}

// An operation that nobody reads goes after a while; one that is read does not, however long it takes.
func TestOperationsExpire(t *testing.T) {
	s, clock := testService(t)
	id := uuid.NewString()
	start := func() (*Stream, string) {
		op := uuid.NewString()
		st, err := s.ExecutePlan(context.Background(), &connectpb.ExecutePlanRequest{
			SessionId: id, OperationId: &op,
			Plan: &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: &connectpb.Relation{
				RelType: &connectpb.Relation_Range{Range: &connectpb.Range{End: 1, Step: 1}},
			}}},
			RequestOptions: []*connectpb.ExecutePlanRequest_RequestOption{{
				RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
					ReattachOptions: &connectpb.ReattachOptions{Reattachable: true},
				},
			}},
		}, ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := st.Next(context.Background()); err != nil {
			t.Fatal(err)
		}
		return st, op
	}
	left, leftID := start()
	left.Close()
	kept, keptID := start()
	defer kept.Close()
	attach := func(op string) error {
		st, err := s.ReattachExecute(context.Background(), &connectpb.ReattachExecuteRequest{SessionId: id, OperationId: op})
		if err == nil {
			st.Close()
		}
		return err
	}
	clock.advance(4 * time.Minute)
	s.sweep()
	if err := attach(leftID); err != nil {
		t.Errorf("after four minutes: %v", err)
	}
	clock.advance(6 * time.Minute)
	s.sweep()
	if err := attach(leftID); !errclass.Has(err, "INVALID_HANDLE.OPERATION_ABANDONED") {
		t.Errorf("after ten minutes: %v", err)
	}
	if err := attach(keptID); err != nil {
		t.Errorf("an operation that is read: %v", err)
	}
}

// A producer does not run away from its reader, and what was read is not kept without bound.
func TestBuffersAreBounded(t *testing.T) {
	s, _ := testService(t)
	s.settings.AheadBytes, s.settings.RetryBytes, s.settings.BatchBytes = 10_000, 20_000, 1000
	id, op := uuid.NewString(), uuid.NewString()
	st, err := s.ExecutePlan(context.Background(), &connectpb.ExecutePlanRequest{
		SessionId: id, OperationId: &op,
		Plan: &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: &connectpb.Relation{
			RelType: &connectpb.Relation_Range{Range: &connectpb.Range{End: 1_000_000, Step: 1}},
		}}},
		RequestOptions: []*connectpb.ExecutePlanRequest_RequestOption{{
			RequestOption: &connectpb.ExecutePlanRequest_RequestOption_ReattachOptions{
				ReattachOptions: &connectpb.ReattachOptions{Reattachable: true},
			},
		}},
	}, ExecuteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows, most := int64(0), int64(0)
	for {
		r, _, err := st.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		rows += r.GetArrowBatch().GetRowCount()
		st.op.mu.Lock()
		held := int64(0)
		for _, b := range st.op.buf {
			held += b.size
		}
		st.op.mu.Unlock()
		most = max(most, held)
		if r.GetResultComplete() != nil {
			break
		}
	}
	if rows != 1_000_000 {
		t.Errorf("%d rows", rows)
	}
	// One message of 4096 numbers takes 33 kB, and each bound may be overrun by one.
	if most > 120_000 {
		t.Errorf("%d bytes were kept", most)
	}
}
