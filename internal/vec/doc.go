// Package vec holds column vectors: the memory that every operator, expression and connector of the engine works on.
//
// It owns the encodings (flat, constant, dictionary), validity bitmaps, batches with their selection, builders, gathering
// and concatenation, hashing and byte keys of rows, and the conversion from and to Arrow. It knows data types but neither
// expressions nor operators. Values lie in little-endian Arrow layout where Arrow has one, so that most conversions share
// memory.
//
// Ownership: a vector is Owned (its memory changes no more, anybody may keep it) or Borrowed (it is the producer's scratch
// and valid until the producer's next call). Whoever keeps a batch across calls of Next uses Batch.Own. Only this package
// calls Retain and Release of the Arrow library.
//
// Tests run every operation over flat, constant and dictionary input, with and without nulls, and compare with a
// row-at-a-time model.
package vec
