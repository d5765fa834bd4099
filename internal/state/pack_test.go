package state

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/s2"
	"pgregory.net/rapid"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// What packers have packed side by side is one block that unpacks to what was written.
func TestPackersMakeOneBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		var want []byte
		ps := make([]*packer, rapid.IntRange(1, 3).Draw(t, "packers"))
		for i := range ps {
			ps[i] = &packer{}
			for range rapid.IntRange(0, 4).Draw(t, "writes") {
				b := make([]byte, rapid.SampledFrom([]int{0, 1, 100, packAlone - 1, packAlone, 3 * packAlone}).Draw(t, "size"))
				kinds := rapid.SampledFrom([]int{1, 4, 256}).Draw(t, "kinds")
				for k := range b {
					b[k] = byte(random.IntN(kinds))
				}
				want = append(want, b...)
				if _, err := ps[i].Write(b); err != nil {
					t.Fatal(err)
				}
			}
		}
		packed, err := joinPacked(ps...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s2.Decode(nil, packed)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%d bytes came back as %d: %v", len(want), len(got), err)
		}
	})
}

// A segment that is large enough for its shards to be packed side by side reads back as it was.
func TestLargeSegment(t *testing.T) {
	spec := Spec{Name: "test", Partitions: 3, Keys: []types.Field{{Type: types.Long}}, Values: []types.Field{{Type: types.String}}}
	shards := make([]Changes, 3)
	for _, i := range []int{0, 2} {
		n := 5 * manyValues
		k, v := vec.NewFixed(types.Long, n), vec.NewBuilder(types.String)
		for r := range n {
			vec.Fixed[int64](k)[r] = int64(r * (i + 1))
			if r%7 == 0 {
				v.AppendNull()
				continue
			}
			v.AppendString(fmt.Sprint("value ", r%100, i))
		}
		shards[i] = Changes{Keys: []*vec.Vector{k}, Values: []*vec.Vector{v.Finish()}, Puts: n, Deleted: []*vec.Vector{k.Slice(0, n/2)}, Deletes: n / 2}
	}
	content, err := EncodeSegment(spec, NewHeader(spec, 1, false), shards)
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := DecodeSegment(spec, "segment", content)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range shards {
		if got[i].Puts != want.Puts || got[i].Deletes != want.Deletes {
			t.Fatalf("shard %d has %d and %d rows", i, got[i].Puts, got[i].Deletes)
		}
		if want.Puts == 0 {
			continue
		}
		if d := cmp.Diff(values(want.Keys[0])+values(want.Values[0])+values(want.Deleted[0]),
			values(got[i].Keys[0])+values(got[i].Values[0])+values(got[i].Deleted[0])); d != "" {
			t.Fatalf("shard %d: %s", i, d)
		}
	}
}

func values(v *vec.Vector) string {
	var b bytes.Buffer
	for i := range v.Len() {
		fmt.Fprintln(&b, vec.ValueAt(v, i))
	}
	return b.String()
}
