package millrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/typepb"
	"github.com/millrace/millrace/types"
)

// Records runs the plan and yields its result as Arrow records, as they arrive; there is at least one, perhaps without rows. After an
// error nothing more comes. A loop that is left early cancels the rest.
func (d *DataFrame) Records(ctx context.Context) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if d.err != nil {
			yield(nil, d.err)
			return
		}
		x, err := d.s.start(ctx, d.plan())
		if err != nil {
			yield(nil, err)
			return
		}
		closed := false
		stop := func() error { closed = true; return x.close() }
		defer func() {
			if !closed {
				_ = stop() // the loop was left: nobody asks any more
			}
		}()
		for {
			_, rec, err := x.next()
			switch {
			case errors.Is(err, io.EOF):
				if err := stop(); err != nil {
					yield(nil, err)
				}
				return
			case err != nil:
				yield(nil, err)
				return
			case rec != nil && !yield(rec, nil):
				return
			}
		}
	}
}

// Rows runs the plan and yields its rows as they arrive. After an error nothing more comes. A loop that is left early cancels the rest.
func (d *DataFrame) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var dec *decoder
		for rec, err := range d.Records(ctx) {
			var rows []Row
			if err == nil && dec == nil {
				dec, err = newDecoder(rec.Schema())
			}
			if err == nil {
				rows, err = dec.rows(rec)
			}
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, r := range rows {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Collect runs the plan and returns all rows.
func (d *DataFrame) Collect(ctx context.Context) ([]Row, error) {
	var out []Row
	for r, err := range d.Rows(ctx) {
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Take returns the first n rows.
func (d *DataFrame) Take(ctx context.Context, n int) ([]Row, error) { return d.Limit(n).Collect(ctx) }

// First returns the first row, or ErrNoRows.
func (d *DataFrame) First(ctx context.Context) (Row, error) {
	rows, err := d.Take(ctx, 1)
	if err != nil {
		return Row{}, err
	}
	if len(rows) == 0 {
		return Row{}, ErrNoRows
	}
	return rows[0], nil
}

// Head is First.
func (d *DataFrame) Head(ctx context.Context) (Row, error) { return d.First(ctx) }

// Count counts the rows.
func (d *DataFrame) Count(ctx context.Context) (int64, error) {
	r, err := d.GroupBy().Count().First(ctx)
	if err != nil {
		return 0, err
	}
	return GetAs[int64](r, "count")
}

// IsEmpty tells whether there is no row.
func (d *DataFrame) IsEmpty(ctx context.Context) (bool, error) {
	rows, err := d.Take(ctx, 1)
	return len(rows) == 0, err
}

// ShowOptions is how a table is printed.
type ShowOptions struct {
	// Rows is the number of rows, 20 if 0.
	Rows int
	// Truncate is the number of characters after which a value is cut: 20 if 0, never if negative.
	Truncate int
	// Vertical prints a line for each value.
	Vertical bool
}

// ShowString is the table of the first rows as text.
func (d *DataFrame) ShowString(ctx context.Context, o ShowOptions) (string, error) {
	m := &connectpb.ShowString{Input: d.rel, Vertical: o.Vertical}
	rows, truncate := o.Rows, o.Truncate
	if rows == 0 {
		rows = 20
	}
	switch {
	case truncate == 0:
		truncate = 20
	case truncate < 0:
		truncate = 0
	}
	err := firstError(toInt32("Rows", rows, &m.NumRows), toInt32("Truncate", truncate, &m.Truncate))
	r, err := d.then(&connectpb.Relation{RelType: &connectpb.Relation_ShowString{ShowString: m}}, err).single(ctx)
	if err != nil {
		return "", err
	}
	return getAt[string](r, 0)
}

// single runs a plan whose result is one row.
func (d *DataFrame) single(ctx context.Context) (Row, error) {
	rows, err := d.Collect(ctx)
	if err != nil {
		return Row{}, err
	}
	if len(rows) != 1 {
		return Row{}, errclass.New("UNEXPECTED_RESPONSE", "reason", fmt.Sprintf("%d rows came instead of one", len(rows)))
	}
	return rows[0], nil
}

// Show prints the first 20 rows as a table to standard output.
func (d *DataFrame) Show(ctx context.Context) error { return d.ShowTo(ctx, os.Stdout, ShowOptions{}) }

// ShowTo prints the first rows as a table.
func (d *DataFrame) ShowTo(ctx context.Context, w io.Writer, o ShowOptions) error {
	text, err := d.ShowString(ctx, o)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text+"\n")
	return err
}

// Schema is the type of the rows.
func (d *DataFrame) Schema(ctx context.Context) (types.StructType, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_Schema_{Schema: &connectpb.AnalyzePlanRequest_Schema{Plan: d.plan()}},
	})
	if err != nil {
		return types.StructType{}, err
	}
	return typepb.Schema(r.GetSchema().GetSchema())
}

// Columns are the names of the columns.
func (d *DataFrame) Columns(ctx context.Context) ([]string, error) {
	s, err := d.Schema(ctx)
	return s.Names(), err
}

// TreeString is the schema as an indented tree, with nested types down to level, or all of them if level is 0.
func (d *DataFrame) TreeString(ctx context.Context, level int) (string, error) {
	m := &connectpb.AnalyzePlanRequest_TreeString{Plan: d.plan()}
	if level > 0 {
		m.Level = new(int32)
		if err := toInt32("level", level, m.Level); err != nil {
			return "", err
		}
	}
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_TreeString_{TreeString: m}})
	return r.GetTreeString().GetTreeString(), err
}

// PrintSchema prints the schema as an indented tree to standard output.
func (d *DataFrame) PrintSchema(ctx context.Context) error {
	text, err := d.TreeString(ctx, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Println(text)
	return err
}

// ExplainMode is how much of a plan is shown.
type ExplainMode int32

// The modes of Explain.
const (
	ExplainSimple    ExplainMode = ExplainMode(connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_SIMPLE)
	ExplainExtended  ExplainMode = ExplainMode(connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_EXTENDED)
	ExplainCodegen   ExplainMode = ExplainMode(connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_CODEGEN)
	ExplainCost      ExplainMode = ExplainMode(connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_COST)
	ExplainFormatted ExplainMode = ExplainMode(connectpb.AnalyzePlanRequest_Explain_EXPLAIN_MODE_FORMATTED)
)

// Explain is the plan as text.
func (d *DataFrame) Explain(ctx context.Context, mode ExplainMode) (string, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{Analyze: &connectpb.AnalyzePlanRequest_Explain_{Explain: &connectpb.AnalyzePlanRequest_Explain{
		Plan: d.plan(), ExplainMode: connectpb.AnalyzePlanRequest_Explain_ExplainMode(mode),
	}}})
	return r.GetExplain().GetExplainString(), err
}

// IsStreaming tells whether the rows come from a stream.
func (d *DataFrame) IsStreaming(ctx context.Context) (bool, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_IsStreaming_{IsStreaming: &connectpb.AnalyzePlanRequest_IsStreaming{Plan: d.plan()}},
	})
	return r.GetIsStreaming().GetIsStreaming(), err
}

// InputFiles lists the files that the plan reads.
func (d *DataFrame) InputFiles(ctx context.Context) ([]string, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_InputFiles_{InputFiles: &connectpb.AnalyzePlanRequest_InputFiles{Plan: d.plan()}},
	})
	return r.GetInputFiles().GetFiles(), err
}

// IsLocal tells whether the rows can be had without running anything.
func (d *DataFrame) IsLocal(ctx context.Context) (bool, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_IsLocal_{IsLocal: &connectpb.AnalyzePlanRequest_IsLocal{Plan: d.plan()}},
	})
	return r.GetIsLocal().GetIsLocal(), err
}

// SameSemantics tells whether two plans surely give the same rows. It may say no although they do.
func (d *DataFrame) SameSemantics(ctx context.Context, other *DataFrame) (bool, error) {
	if other.err != nil {
		return false, other.err
	}
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_SameSemantics_{SameSemantics: &connectpb.AnalyzePlanRequest_SameSemantics{TargetPlan: d.plan(), OtherPlan: other.plan()}},
	})
	return r.GetSameSemantics().GetResult(), err
}

// SemanticHash is a number that plans of the same semantics share.
func (d *DataFrame) SemanticHash(ctx context.Context) (int32, error) {
	r, err := d.ask(ctx, &connectpb.AnalyzePlanRequest{
		Analyze: &connectpb.AnalyzePlanRequest_SemanticHash_{SemanticHash: &connectpb.AnalyzePlanRequest_SemanticHash{Plan: d.plan()}},
	})
	return r.GetSemanticHash().GetResult(), err
}

// ask makes an analysis request about the plan.
func (d *DataFrame) ask(ctx context.Context, req *connectpb.AnalyzePlanRequest) (*connectpb.AnalyzePlanResponse, error) {
	if d.err != nil {
		return nil, d.err
	}
	return d.s.analyze(ctx, req)
}

// CreateTempView names the plan in the session, for SQL and Table; the name must be free.
func (d *DataFrame) CreateTempView(ctx context.Context, name string) error {
	return d.view(ctx, name, false, false)
}

// CreateOrReplaceTempView is CreateTempView that takes the name from an earlier view.
func (d *DataFrame) CreateOrReplaceTempView(ctx context.Context, name string) error {
	return d.view(ctx, name, false, true)
}

// CreateGlobalTempView names the plan for all sessions, as global_temp.name; the name must be free.
func (d *DataFrame) CreateGlobalTempView(ctx context.Context, name string) error {
	return d.view(ctx, name, true, false)
}

// CreateOrReplaceGlobalTempView names the plan for all sessions, as global_temp.name.
func (d *DataFrame) CreateOrReplaceGlobalTempView(ctx context.Context, name string) error {
	return d.view(ctx, name, true, true)
}

func (d *DataFrame) view(ctx context.Context, name string, global, replace bool) error {
	if d.err != nil {
		return d.err
	}
	return d.s.command(ctx, &connectpb.Command{CommandType: &connectpb.Command_CreateDataframeView{
		CreateDataframeView: &connectpb.CreateDataFrameViewCommand{Input: d.rel, Name: name, IsGlobal: global, Replace: replace},
	}}, nil)
}
