package convert

import (
	"bytes"
	"errors"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"google.golang.org/protobuf/proto"

	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

func (c *Converter) local(m *connectpb.LocalRelation) (plan.Node, error) {
	if m.Data == nil {
		if m.Schema == nil {
			return nil, malformed("a local relation has neither rows nor a schema")
		}
		return localRows(nil, m.GetSchema())
	}
	return localRows([][]byte{m.GetData()}, m.GetSchema())
}

// localRows makes a relation of Arrow IPC streams. A schema as text wins over that of the streams.
func localRows(streams [][]byte, schema string) (plan.Node, error) {
	var want *types.StructType
	if schema != "" {
		st, err := types.ParseSchema(schema)
		if err != nil {
			return nil, err
		}
		want = &st
	}
	var have types.StructType
	var rows []*vec.Batch
	for i, data := range streams {
		st, batches, err := readIPC(data, want)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			have = st
		}
		rows = append(rows, batches...)
	}
	if len(streams) == 0 {
		have = *want
	}
	var n plan.Node = &plan.Local{Out: plan.Attrs(have), Rows: rows}
	if want != nil && !types.Equal(have, *want) {
		n = &plan.ToSchema{Schema: *want, Child: &plan.ToNames{Names: want.Names(), Child: n}}
	}
	return n, nil
}

// readIPC reads a stream as batches of the engine's size. Columns are read as their type in want where their values have the same
// form; the schema that is returned tells what was read.
func readIPC(data []byte, want *types.StructType) (types.StructType, []*vec.Batch, error) {
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		return types.StructType{}, nil, badArrow(err)
	}
	st, err := types.FromArrowSchema(r.Schema())
	if err != nil {
		return types.StructType{}, nil, err
	}
	if want != nil {
		if len(want.Fields) != len(st.Fields) {
			return types.StructType{}, nil, malformed("the schema of a local relation has another number of columns than its rows")
		}
		for i, f := range want.Fields {
			if types.SameType(f.Type, st.Fields[i].Type) {
				st.Fields[i] = f
			}
		}
	}
	var out []*vec.Batch
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return st, out, nil
		}
		if err != nil {
			return st, nil, badArrow(err)
		}
		b, err := vec.FromArrow(rec, st)
		if err != nil {
			return st, nil, badArrow(err)
		}
		for off := 0; off < b.N; off += vec.BatchRows {
			out = append(out, b.Slice(off, min(vec.BatchRows, b.N-off)))
		}
	}
}

func badArrow(err error) error {
	return errclass.New("CONNECT_INVALID_PLAN.MALFORMED", "reason", "the Arrow data of a local relation cannot be read: "+err.Error())
}

// cachedLocal is a local relation that was uploaded before.
func (c *Converter) cachedLocal(m *connectpb.CachedLocalRelation) (plan.Node, error) {
	data, err := c.uploaded(m.GetHash())
	if err != nil {
		return nil, err
	}
	var l connectpb.LocalRelation
	if err := proto.Unmarshal(data, &l); err != nil {
		return nil, malformed("the local data " + m.GetHash() + " are no local relation")
	}
	return c.local(&l)
}

func (c *Converter) chunkedLocal(m *connectpb.ChunkedCachedLocalRelation) (plan.Node, error) {
	schema := ""
	if m.SchemaHash != nil {
		b, err := c.uploaded(m.GetSchemaHash())
		if err != nil {
			return nil, err
		}
		schema = string(b)
	}
	var streams [][]byte
	for _, h := range m.GetDataHashes() {
		b, err := c.uploaded(h)
		if err != nil {
			return nil, err
		}
		streams = append(streams, b)
	}
	if len(streams) == 0 && schema == "" {
		return nil, malformed("a local relation has neither rows nor a schema")
	}
	return localRows(streams, schema)
}

func (c *Converter) uploaded(hash string) ([]byte, error) {
	if b, ok := c.s.Artifact("cache/" + hash); ok {
		return b, nil
	}
	return nil, errclass.New("CONNECT_INVALID_PLAN.CACHED_LOCAL_RELATION_NOT_FOUND",
		"hash", hash, "sessionUUID", c.s.ID, "userId", c.s.User)
}
