package window

import (
	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/vec"
)

// ranking are the functions that depend on a row's place alone.
type ranking struct {
	r     *rows
	f     Func
	dense int32 // of the row before
}

func (k *ranking) compute(from, to int, _ *expr.RowErrs) *vec.Vector {
	v := vec.NewFixed(k.f.Type, to-from)
	r := k.r
	partLo, partHi, peerLo, peerHi := r.partLo[from:to], r.partHi[from:to], r.peerLo[from:to], r.peerHi[from:to]
	switch k.f.Kind {
	case RowNumber:
		dst := vec.Fixed[int32](v)
		for i, lo := range partLo {
			dst[i] = int32(uint32(from+i) - lo + 1)
		}
	case Rank:
		dst := vec.Fixed[int32](v)
		for i, lo := range partLo {
			dst[i] = int32(peerLo[i] - lo + 1)
		}
	case DenseRank:
		dst := vec.Fixed[int32](v)
		for i, lo := range partLo {
			switch uint32(from + i) {
			case lo:
				k.dense = 1
			case peerLo[i]:
				k.dense++
			}
			dst[i] = k.dense
		}
	case PercentRank:
		dst := vec.Fixed[float64](v)
		for i, lo := range partLo {
			if size := partHi[i] - lo; size > 1 {
				dst[i] = float64(peerLo[i]-lo) / float64(size-1)
			}
		}
	case CumeDist:
		dst := vec.Fixed[float64](v)
		for i, lo := range partLo {
			dst[i] = float64(peerHi[i]-lo) / float64(partHi[i]-lo)
		}
	case NTile:
		dst := vec.Fixed[int32](v)
		for i, lo := range partLo {
			dst[i] = bucket(int64(uint32(from+i)-lo), int64(partHi[i]-lo), k.f.N)
		}
	}
	return v
}

// bucket is the bucket, counted from 1, of row i of size rows. The first buckets have one row more where they cannot be of one size.
func bucket(i, size, buckets int64) int32 {
	each, more := size/buckets, size%buckets
	if i < more*(each+1) {
		return int32(i/(each+1)) + 1
	}
	return int32(more+(i-more*(each+1))/each) + 1
}
