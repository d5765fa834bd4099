package connect

import (
	"errors"
	"io"
	"testing"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// However late an interrupt comes, the operations that it says it has hit end as interrupted, and only those.
func TestInterruptAtTheEnd(t *testing.T) {
	s, _ := testService(t)
	session := uuid.NewString()
	hit, missed := 0, 0
	for i := 0; (hit == 0 || missed == 0 || i < 300) && i < 20_000; i++ {
		req := request(session, &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: &connectpb.Relation{
			RelType: &connectpb.Relation_Range{Range: &connectpb.Range{End: 1, Step: 1}},
		}}})
		st, err := s.ExecutePlan(t.Context(), req, ExecuteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range i % 4 {
			if _, _, err := st.Next(t.Context()); err != nil {
				break
			}
		}
		r, err := s.Interrupt(t.Context(), &connectpb.InterruptRequest{
			SessionId: session, InterruptType: connectpb.InterruptRequest_INTERRUPT_TYPE_OPERATION_ID,
			Interrupt: &connectpb.InterruptRequest_OperationId{OperationId: req.GetOperationId()},
		})
		if err != nil {
			t.Fatal(err)
		}
		for err == nil {
			_, _, err = st.Next(t.Context())
		}
		st.Close()
		if len(r.GetInterruptedIds()) == 0 {
			missed++
			if err != io.EOF {
				t.Fatalf("not interrupted, but it ended with %v", err)
			}
			continue
		}
		hit++
		if e := (*errclass.Error)(nil); !errors.As(err, &e) || e.Class != "OPERATION_CANCELED" {
			t.Fatalf("interrupted, but it ended with %v", err)
		}
	}
	if hit == 0 || missed == 0 {
		t.Errorf("%d were hit, %d were not", hit, missed)
	}
}
