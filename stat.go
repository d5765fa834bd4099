package millrace

import (
	"context"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
)

// Describe computes count, mean, stddev, min and max of columns, or of all that are numbers or strings.
func (d *DataFrame) Describe(cols ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Describe{Describe: &connectpb.StatDescribe{Input: d.rel, Cols: cols}}})
}

// Summary computes statistics of all columns that are numbers or strings: count, count_distinct, approx_count_distinct, mean, stddev, min,
// max, and percentiles such as 75%. Without any they are those of Describe with the quartiles.
func (d *DataFrame) Summary(statistics ...string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Summary{Summary: &connectpb.StatSummary{Input: d.rel, Statistics: statistics}}})
}

// Crosstab counts how often each value of a column meets each value of another. The first column of the result is called a_b.
func (d *DataFrame) Crosstab(a, b string) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Crosstab{Crosstab: &connectpb.StatCrosstab{Input: d.rel, Col1: a, Col2: b}}})
}

// FreqItems has one row, with an array for each column of the values that at least a fraction of the rows have, and perhaps of others. A
// support of 0 is the default, 0.01.
func (d *DataFrame) FreqItems(support float64, cols ...string) *DataFrame {
	m := &connectpb.StatFreqItems{Input: d.rel, Cols: cols}
	if support != 0 {
		m.Support = &support
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_FreqItems{FreqItems: m}})
}

// Cov is the covariance of a sample of two columns of numbers.
func (d *DataFrame) Cov(ctx context.Context, a, b string) (float64, error) {
	return d.number(ctx, &connectpb.Relation{RelType: &connectpb.Relation_Cov{Cov: &connectpb.StatCov{Input: d.rel, Col1: a, Col2: b}}})
}

// Corr is Pearson's correlation of two columns of numbers.
func (d *DataFrame) Corr(ctx context.Context, a, b string) (float64, error) {
	return d.number(ctx, &connectpb.Relation{RelType: &connectpb.Relation_Corr{Corr: &connectpb.StatCorr{Input: d.rel, Col1: a, Col2: b, Method: proto.String("pearson")}}})
}

func (d *DataFrame) number(ctx context.Context, rel *connectpb.Relation) (float64, error) {
	r, err := d.then(rel).single(ctx)
	if err != nil {
		return 0, err
	}
	return getAt[float64](r, 0)
}

// ApproxQuantile finds values at probabilities from 0 to 1, for each of some columns of numbers. The rank of what it finds is off by
// relativeError times the number of rows at most; 0 is exact, and dear. A column without values has none.
func (d *DataFrame) ApproxQuantile(ctx context.Context, cols []string, probabilities []float64, relativeError float64) ([][]float64, error) {
	r, err := d.then(&connectpb.Relation{RelType: &connectpb.Relation_ApproxQuantile{ApproxQuantile: &connectpb.StatApproxQuantile{
		Input: d.rel, Cols: cols, Probabilities: probabilities, RelativeError: relativeError,
	}}}).single(ctx)
	if err != nil {
		return nil, err
	}
	return getAt[[][]float64](r, 0)
}

// Sample keeps about a fraction of the rows, chosen by a seed; with replacement a row can be kept several times.
func (d *DataFrame) Sample(withReplacement bool, fraction float64, seed int64) *DataFrame {
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_Sample{Sample: &connectpb.Sample{
		Input: d.rel, UpperBound: fraction, WithReplacement: &withReplacement, Seed: &seed,
	}}})
}

// SampleBy keeps about a fraction of the rows for each value of a column, chosen by a seed. Values without a fraction are left out.
func (d *DataFrame) SampleBy(col any, fractions map[any]float64, seed int64) *DataFrame {
	m := &connectpb.StatSampleBy{Input: d.rel, Seed: &seed}
	exprs, err := expressions(columns([]any{col}))
	if len(exprs) == 1 {
		m.Col = exprs[0]
	}
	for value, fraction := range fractions {
		l := Lit(value)
		err = firstError(err, l.use())
		m.Fractions = append(m.Fractions, &connectpb.StatSampleBy_Fraction{Stratum: l.expr.GetLiteral(), Fraction: fraction})
	}
	return d.then(&connectpb.Relation{RelType: &connectpb.Relation_SampleBy{SampleBy: m}}, err)
}

// RandomSplit puts each row into one of several DataFrames, by a seed. Each gets about its part of the weights, which need not add up to 1.
func (d *DataFrame) RandomSplit(seed int64, weights ...float64) []*DataFrame {
	total, err := 0.0, error(nil)
	for _, w := range weights {
		if w < 0 {
			err = firstError(err, mistake(errclass.New("VALUE_NOT_BETWEEN", "argName", "A weight", "min", "0", "max", "infinity", "value", strconv.FormatFloat(w, 'g', -1, 64))))
		}
		total += w
	}
	if total <= 0 {
		err = firstError(err, mistake(errclass.New("CANNOT_BE_EMPTY", "item", "weight above 0")))
	}
	out := make([]*DataFrame, len(weights))
	below := 0.0
	for i, w := range weights {
		above := below + w/total
		out[i] = d.then(&connectpb.Relation{RelType: &connectpb.Relation_Sample{Sample: &connectpb.Sample{
			Input: d.rel, LowerBound: below, UpperBound: above, WithReplacement: proto.Bool(false), Seed: &seed, DeterministicOrder: true,
		}}}, err)
		below = above
	}
	return out
}
