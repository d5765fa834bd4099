package sketch_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/millrace/millrace/internal/sketch/countmin"
	"github.com/millrace/millrace/internal/sketch/hll"
	"github.com/millrace/millrace/internal/sketch/kll"
	"github.com/millrace/millrace/internal/sketch/theta"
)

// recorded is an image made by Apache Spark 4.2.0 (testdata/record.py) of the numbers from 0 to N-1.
type recorded struct {
	Kind     string  `json:"kind"`
	K        int     `json:"k"`
	N        int     `json:"n"`
	Image    string  `json:"image"`
	Estimate float64 `json:"estimate"`
}

func hllOf(k, n, from int) *hll.Sketch {
	s := hll.New(k)
	for i := range n {
		s.AddLong(int64(i + from))
	}
	u := hll.NewUnion(k) // Spark merges even a lone partial result
	u.Add(s)
	return u.Result()
}

func hllUnion(k int, s ...*hll.Sketch) *hll.Sketch {
	u := hll.NewUnion(k)
	for _, s := range s {
		u.Add(s)
	}
	return u.Result()
}

func none(*theta.None, theta.None) {}

func thetaOf(k, n, from int) *theta.Sketch[theta.None] {
	u := theta.NewUnion(k, none)
	for i := range n {
		if _, added := u.Add(theta.HashLong(int64(i + from))); added {
			u.Tidy()
		}
	}
	return u.Result()
}

// tupleOf makes a sketch with summaries in two steps, as Spark does.
func tupleOf[N theta.Number](k, n int, m theta.Mode, value func(i int) N) *theta.Sketch[theta.Summary[N]] {
	merge := func(have *theta.Summary[N], o theta.Summary[N]) { have.Merge(m, o) }
	t := theta.NewTable[theta.Summary[N]](k)
	for i := range n {
		s, added := t.Add(theta.HashLong(int64(i)))
		if added {
			*s = theta.Start[N](m)
		}
		if s != nil {
			s.Add(value(i))
		}
		if added {
			t.Tidy()
		}
	}
	u := theta.NewUnion(k, merge)
	u.Merge(t.Sketch())
	return u.Result()
}

func keep(s, _ theta.None) theta.None { return s }

// make makes the sketch of a case and what it says of itself; again makes the image of a sketch that was read.
func (c recorded) make() (image []byte, estimate float64, again func(b []byte) ([]byte, error)) {
	thetaImage := func(s *theta.Sketch[theta.None]) ([]byte, float64, func(b []byte) ([]byte, error)) {
		return theta.Image(nil, s), math.Floor(s.Estimate() + 0.5), func(b []byte) ([]byte, error) {
			s, err := theta.Parse(b)
			if err != nil {
				return nil, err
			}
			return theta.Image(nil, s), nil
		}
	}
	switch c.Kind {
	case "hll", "hll union":
		s := hllOf(c.K, c.N, 0)
		if c.Kind == "hll union" {
			s = hllUnion(c.K, s, hllOf(c.K, c.N, 50))
		}
		return s.Image(nil), math.Floor(s.Estimate() + 0.5), func(b []byte) ([]byte, error) {
			s, err := hll.Parse(b)
			if err != nil {
				return nil, err
			}
			return s.Image(nil), nil
		}
	case "theta":
		return thetaImage(thetaOf(c.K, c.N, 0))
	case "intersection":
		return thetaImage(theta.Intersect(thetaOf(c.K, c.N, 0), thetaOf(c.K, c.N, 10), keep))
	case "difference":
		return thetaImage(theta.Difference(thetaOf(c.K, c.N, 0), thetaOf(c.K, c.N, 10)))
	case "doubles":
		s := tupleOf(c.K, c.N, theta.Sum, func(i int) float64 { return float64(i) / 2 })
		return theta.Doubles.TupleImage(nil, s), s.Estimate(), tupleAgain(theta.Doubles)
	case "integers":
		s := tupleOf(c.K, c.N, theta.Max, func(i int) int32 { return int32(i) })
		return theta.Integers.TupleImage(nil, s), s.Estimate(), tupleAgain(theta.Integers)
	case "longs":
		return kllOf[int64](c)
	case "floats":
		return kllOf[float32](c)
	}
	s := countmin.New(0.1, 0.9, int64(c.K))
	for i := range c.N {
		if c.Kind == "count" {
			s.AddLong(int64(i))
		} else {
			s.AddBytes([]byte(strings.Repeat("aé", i)))
		}
	}
	return s.Image(nil), 0, func(b []byte) ([]byte, error) {
		s, err := countmin.Parse(b)
		if err != nil {
			return nil, err
		}
		return s.Image(nil), nil
	}
}

func tupleAgain[S any](form theta.Tuple[S]) func(b []byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) {
		s, err := form.ParseTuple(b)
		if err != nil {
			return nil, err
		}
		return form.TupleImage(nil, s), nil
	}
}

func kllOf[T kll.Item](c recorded) ([]byte, float64, func(b []byte) ([]byte, error)) {
	part := kll.New[T](c.K)
	for i := range c.N {
		part.Add(T(i))
	}
	s := kll.New[T](c.K)
	s.Merge(part)
	return s.Image(nil), float64(s.N()), func(b []byte) ([]byte, error) {
		s, err := kll.Parse[T](b)
		if err != nil {
			return nil, err
		}
		return s.Image(nil), nil
	}
}

func load(t testing.TB) []recorded {
	b, err := os.ReadFile("testdata/images.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// TestImages makes the sketches that Spark made and compares them byte by byte; Spark's are read and written again as well.
func TestImages(t *testing.T) {
	for _, c := range load(t) {
		t.Run(fmt.Sprint(c.Kind, " ", c.K, " ", c.N), func(t *testing.T) {
			image, estimate, again := c.make()
			// A hash set shows in which order the parts of a union came, which Spark leaves to chance.
			anyOrder := c.Kind == "hll union" && strings.HasPrefix(c.Image, "03")
			if got := strings.ToUpper(hex.EncodeToString(image)); got != c.Image && !anyOrder {
				t.Errorf("image\n%s, want\n%s", got, c.Image)
			}
			if math.Abs(estimate-c.Estimate) > 1e-9*c.Estimate {
				t.Errorf("estimate %v, want %v", estimate, c.Estimate)
			}
			b, err := hex.DecodeString(c.Image)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := again(b); err != nil || strings.ToUpper(hex.EncodeToString(got)) != c.Image {
				t.Errorf("read and written: %x %v, want %s", got, err, c.Image)
			}
		})
	}
}

// TestDamagedImages reads what is no image any more: that must not panic.
func TestDamagedImages(t *testing.T) {
	for _, c := range load(t) {
		if len(c.Image) > 1000 {
			continue
		}
		b, err := hex.DecodeString(c.Image)
		if err != nil {
			t.Fatal(err)
		}
		_, _, again := c.make()
		for n := range b {
			_, _ = again(b[:n])
			d := slices.Clone(b)
			d[n] ^= 0xff
			_, _ = again(d)
			d[n] = 0
			_, _ = again(d)
		}
	}
}

// TestQuantiles compares what a sketch that has lost values says with the truth.
func TestQuantiles(t *testing.T) {
	s := kll.New[float64](200)
	for part := range 10 {
		p := kll.New[float64](200)
		for i := range 10_000 {
			p.Add(float64(i*10 + part))
		}
		s.Merge(p)
	}
	if s.N() != 100_000 {
		t.Errorf("%d values", s.N())
	}
	s, err := kll.Parse[float64](s.Image(nil))
	if err != nil {
		t.Fatal(err)
	}
	v := s.View()
	for _, q := range []float64{0, 0.01, 0.25, 0.5, 0.9, 1} {
		if got := v.Quantile(q) / 100_000; math.Abs(got-q) > 0.03 {
			t.Errorf("quantile %v: %v", q, got)
		}
		if got := v.Rank(q * 100_000); math.Abs(got-q) > 0.03 {
			t.Errorf("rank of %v: %v", q, got)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	for name, add := range map[string]func(x int64){
		"hll": hll.New(12).AddLong,
		"theta": func() func(x int64) {
			u := theta.NewUnion(12, none)
			return func(x int64) {
				if _, added := u.Add(theta.HashLong(x)); added {
					u.Tidy()
				}
			}
		}(),
		"kll":      kll.New[int64](200).Add,
		"countmin": countmin.New(0.01, 0.95, 1).AddLong,
	} {
		b.Run(name, func(b *testing.B) {
			x := int64(0)
			for b.Loop() {
				add(x)
				x++
			}
		})
	}
}
