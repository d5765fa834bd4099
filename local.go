package millrace

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/millrace/millrace/internal/backend"
	"github.com/millrace/millrace/internal/connectpb"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// allocator is Go's own: memory that nobody refers to is collected.
var allocator = memory.NewGoAllocator()

// CreateDataFrame makes a DataFrame of a program's rows: a slice of structs, of pointers to structs, of maps from string, or of Rows. The
// schema comes of the type, as types.SchemaOf describes it; for maps the columns are all keys in alphabetical order, with the type of
// the first value that is not nil.
func (s *Session) CreateDataFrame(rows any) *DataFrame {
	list, err := sliceOf(rows)
	if err != nil {
		return newDataFrame(s, &connectpb.Relation{}, mistake(err))
	}
	schema, err := inferSchema(reflect.TypeOf(rows).Elem(), list)
	if err != nil {
		return newDataFrame(s, &connectpb.Relation{}, mistake(err))
	}
	return s.local(list, schema)
}

// CreateDataFrameSchema makes a DataFrame of a slice of rows and their schema. A row is a slice of values, a Row, a struct or a map from
// string; single values are rows of one column.
func (s *Session) CreateDataFrameSchema(rows any, schema types.StructType) *DataFrame {
	list, err := sliceOf(rows)
	if err != nil {
		return newDataFrame(s, &connectpb.Relation{}, mistake(err))
	}
	return s.local(list, schema)
}

// CreateDataFrameDDL is CreateDataFrameSchema with the schema as text: "id BIGINT, name STRING".
func (s *Session) CreateDataFrameDDL(rows any, ddl string) *DataFrame {
	schema, err := types.ParseDDL(ddl)
	if err != nil {
		return newDataFrame(s, &connectpb.Relation{}, mistake(err))
	}
	return s.CreateDataFrameSchema(rows, schema)
}

// CreateDataFrameArrow makes a DataFrame of Arrow records of one schema. The records must not be changed or released before it is used.
func (s *Session) CreateDataFrameArrow(schema *arrow.Schema, records ...arrow.RecordBatch) *DataFrame {
	st, err := types.FromArrowSchema(schema)
	if err != nil {
		return newDataFrame(s, &connectpb.Relation{}, mistake(err))
	}
	return s.localRecords(schema, st, records)
}

func sliceOf(rows any) (reflect.Value, error) {
	v := reflect.ValueOf(rows)
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return v, errclass.New("NOT_EXPECTED_TYPE", "argName", "The rows", "expectedType", "a slice", "argType", fmt.Sprintf("%T", rows))
	}
	return v, nil
}

func inferSchema(element reflect.Type, list reflect.Value) (types.StructType, error) {
	if rows, ok := list.Interface().([]Row); ok && len(rows) > 0 {
		return rows[0].Schema(), nil
	}
	if element.Kind() != reflect.Map && element.Kind() != reflect.Interface {
		return types.SchemaOf(reflect.Zero(element).Interface())
	}
	found := map[string]types.DataType{}
	for i := range list.Len() {
		m := list.Index(i)
		if m.Kind() == reflect.Interface {
			m = m.Elem()
		}
		if m.Kind() != reflect.Map || m.Type().Key().Kind() != reflect.String {
			return types.StructType{}, errclass.New("INVALID_VALUE.NO_TYPE", "goType", element.String(), "path", "row")
		}
		for it := m.MapRange(); it.Next(); {
			name := it.Key().String()
			if t, ok := found[name]; ok && t != types.Null {
				continue
			}
			t, err := types.TypeOf(it.Value().Interface())
			if err != nil {
				return types.StructType{}, err
			}
			found[name] = t
		}
	}
	var s types.StructType
	for _, name := range slices.Sorted(maps.Keys(found)) {
		s = s.Add(name, found[name], true)
	}
	return s, nil
}

// chunkRows is the number of rows in an Arrow record made here.
const chunkRows = 10000

func (s *Session) local(list reflect.Value, schema types.StructType) *DataFrame {
	as := types.ArrowSchema(schema, types.ArrowOptions{})
	var records []arrow.RecordBatch
	for from := 0; from < list.Len(); from += chunkRows {
		rec, err := encodeRows(list, from, min(from+chunkRows, list.Len()), schema, as)
		if err != nil {
			return newDataFrame(s, &connectpb.Relation{}, mistake(err))
		}
		records = append(records, rec)
	}
	return s.localRecords(as, schema, records)
}

func encodeRows(list reflect.Value, from, to int, schema types.StructType, as *arrow.Schema) (arrow.RecordBatch, error) {
	b := array.NewRecordBuilder(allocator, as)
	for i := from; i < to; i++ {
		row, err := rowOf(list.Index(i), schema)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		for c, v := range row {
			if err := appendValue(b.Field(c), v); err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
		}
	}
	return b.NewRecordBatch(), nil
}

// rowOf converts a row of a program.
func rowOf(v reflect.Value, schema types.StructType) (types.Row, error) {
	if v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() {
		return nil, errclass.New("INVALID_VALUE.NULL", "path", "row")
	}
	x := v.Interface()
	if r, ok := x.(Row); ok {
		return types.ToRow(plain(r), schema)
	}
	e := v
	if e.Kind() == reflect.Pointer {
		e = e.Elem()
	}
	list := e.Kind() == reflect.Slice && e.Type().Elem() == reflect.TypeFor[any]()
	object := e.Kind() == reflect.Map || e.Kind() == reflect.Struct && !isValue(e.Type())
	if schema.Len() == 1 && !list && !object {
		x = []any{x}
	}
	if values, ok := x.([]any); ok {
		x = plain(values)
	}
	return types.ToRow(x, schema)
}

// inlineBytes is the size up to which rows travel inside the plan. Spark's clients use the same.
const inlineBytes = 1 << 20

func (s *Session) localRecords(as *arrow.Schema, schema types.StructType, records []arrow.RecordBatch) *DataFrame {
	fail := func(err error) *DataFrame { return newDataFrame(s, &connectpb.Relation{}, mistake(err)) }
	text := schema.JSON()
	all, err := encodeRecords(as, records)
	if err != nil {
		return fail(err)
	}
	if len(all) <= inlineBytes {
		return newDataFrame(s, &connectpb.Relation{RelType: &connectpb.Relation_LocalRelation{
			LocalRelation: &connectpb.LocalRelation{Data: all, Schema: &text},
		}})
	}
	hash := s.uploads.add([]byte(text))
	m := &connectpb.ChunkedCachedLocalRelation{SchemaHash: &hash}
	for _, rec := range records {
		chunk, err := encodeRecords(as, []arrow.RecordBatch{rec})
		if err != nil {
			return fail(err)
		}
		m.DataHashes = append(m.DataHashes, s.uploads.add(chunk))
	}
	return newDataFrame(s, &connectpb.Relation{RelType: &connectpb.Relation_ChunkedCachedLocalRelation{ChunkedCachedLocalRelation: m}})
}

func encodeRecords(as *arrow.Schema, records []arrow.RecordBatch) ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(as))
	for _, rec := range records {
		if err := w.Write(rec); err != nil {
			return nil, fmt.Errorf("encode rows: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("encode rows: %w", err)
	}
	return b.Bytes(), nil
}

// uploads are local data too large for a plan. They go to the server before the next request, because building does no I/O.
type uploads struct {
	mu      sync.Mutex
	pending map[string][]byte // by hash
}

func (u *uploads) add(content []byte) (hash string) {
	sum := sha256.Sum256(content)
	hash = hex.EncodeToString(sum[:])
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.pending == nil {
		u.pending = map[string][]byte{}
	}
	u.pending[hash] = content
	return hash
}

// send uploads what the server does not have.
func (u *uploads) send(ctx context.Context, s *Session) error {
	if p := s.parent; p != nil { // plans of both may have been put together
		if err := p.uploads.send(ctx, p); err != nil {
			return err
		}
	}
	u.mu.Lock()
	defer u.mu.Unlock() // held over the upload: a second request has to wait for the data it may need
	if len(u.pending) == 0 {
		return nil
	}
	req := &connectpb.ArtifactStatusesRequest{
		SessionId: s.id, UserContext: s.userContext(), ClientType: &clientType, ClientObservedServerSideSessionId: s.observed(),
	}
	hashes := sortedKeys(u.pending)
	for _, h := range hashes {
		req.Names = append(req.Names, artifactName(h))
	}
	r, err := s.backend.ArtifactStatus(ctx, req)
	if err != nil {
		return ended(ctx, err)
	}
	missing := slices.DeleteFunc(hashes, func(h string) bool { return r.GetStatuses()[artifactName(h)].GetExists() })
	if len(missing) > 0 {
		if err := s.backend.AddArtifacts(ctx, backend.Session{ID: s.id, UserID: s.user}, u.artifacts(missing)); err != nil {
			return ended(ctx, err)
		}
	}
	u.pending = nil
	return nil
}

func (u *uploads) artifacts(hashes []string) iter.Seq2[backend.Artifact, error] {
	return func(yield func(backend.Artifact, error) bool) {
		for _, h := range hashes {
			if !yield(backend.Artifact{Name: artifactName(h), Content: u.pending[h]}, nil) {
				return
			}
		}
	}
}

func artifactName(hash string) string { return "cache/" + hash }
