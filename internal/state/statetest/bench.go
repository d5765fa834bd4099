package statetest

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/millrace/millrace/internal/state"
)

// BenchKV counts each of 100 000 keys once, makes the counts durable, and so on.
func BenchKV(b *testing.B, open func() state.KVStore) {
	const n = 100_000
	s := &kvs{KVStore: open(), partitions: 4}
	defer s.Close()
	ctx := context.Background()
	keys := make([][]byte, n)
	for i := range keys {
		keys[i] = Key(fmt.Sprintf("key %012d", i))
	}
	if err := s.Load(ctx, 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	var value [8]byte
	for b.Loop() {
		for _, k := range keys {
			kv := s.of(k)
			v, found, err := kv.Get(k)
			count := uint64(1)
			if found {
				count += binary.BigEndian.Uint64(v)
			}
			binary.BigEndian.PutUint64(value[:], count)
			if err == nil {
				err = kv.Put(k, value[:])
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := s.commit(ctx); err != nil {
			b.Fatal(err)
		}
		if err := s.Load(ctx, s.Version()); err != nil {
			b.Fatal(err)
		}
		if err := s.Maintain(ctx, s.Version()-1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}
