package connect

import (
	"context"
	"io"
	"testing"

	"github.com/google/uuid"

	"github.com/millrace/millrace/internal/connectpb"
)

// Asked for records, rows come beside messages that are the same but for their data.
func TestRecords(t *testing.T) {
	s, _ := testService(t)
	st, err := s.ExecutePlan(context.Background(), &connectpb.ExecutePlanRequest{
		SessionId: uuid.NewString(),
		Plan: &connectpb.Plan{OpType: &connectpb.Plan_Root{Root: &connectpb.Relation{
			RelType: &connectpb.Relation_Range{Range: &connectpb.Range{End: 100_000, Step: 1}},
		}}},
	}, ExecuteOptions{Records: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	rows := int64(0)
	for {
		m, rec, err := st.Next(context.Background())
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b := m.GetArrowBatch()
		if (b != nil) != (rec != nil) || len(b.GetData()) > 0 {
			t.Fatalf("message %v with record %v", m, rec)
		}
		if rec == nil {
			continue
		}
		if b.GetStartOffset() != rows || b.GetRowCount() != rec.NumRows() {
			t.Errorf("a batch of %d rows at %d says %d at %d", rec.NumRows(), rows, b.GetRowCount(), b.GetStartOffset())
		}
		rows += rec.NumRows()
	}
	if rows != 100_000 {
		t.Errorf("%d rows", rows)
	}
}
