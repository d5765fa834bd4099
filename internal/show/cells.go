package show

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/millrace/millrace/internal/expr"
	"github.com/millrace/millrace/internal/expr/fn"
	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

const null = "NULL"

// Format is how values are written.
type Format struct {
	// Zone is where timestamps are shown.
	Zone *time.Location
	// Binary is one of HEX_DISCRETE (the default), HEX, BASE64, BASIC and UTF-8.
	Binary string
}

// Cells are the texts of a column's rows.
func (f Format) Cells(v *vec.Vector) ([]string, error) {
	if v.Encoding() != vec.Flat {
		v = v.Flatten()
	}
	out := make([]string, v.Len())
	switch t := storage(v.Type()).(type) {
	case types.StringType, types.CharType, types.VarcharType:
		for i := range out {
			out[i] = string(v.BytesAt(i))
		}
	case types.BinaryType:
		for i := range out {
			out[i] = f.binary(v.BytesAt(i))
		}
	case types.ArrayType:
		elems, err := f.Cells(v.Kids()[0])
		if err != nil {
			return nil, err
		}
		for i := range out {
			if !v.IsNull(i) {
				s := v.Spans()[i]
				out[i] = "[" + strings.Join(elems[s.Off:s.Off+s.Len], ", ") + "]"
			}
		}
	case types.MapType:
		if err := f.maps(out, v); err != nil {
			return nil, err
		}
	case types.StructType:
		if err := f.structs(out, v); err != nil {
			return nil, err
		}
	case types.VariantType: // as JSON, which differs from a cast in the quotes of strings
		write := fn.TextWriter(t, &fn.Binding{ANSI: true, Zone: f.Zone})
		for i := range out {
			if !v.IsNull(i) {
				out[i] = string(write(nil, v, i))
			}
		}
	case types.NullType:
	default:
		if err := f.cast(out, v, t); err != nil {
			return nil, err
		}
	}
	for i := range out {
		if v.IsNull(i) {
			out[i] = null
		}
	}
	return out, nil
}

func storage(t types.DataType) types.DataType {
	if u, ok := t.(types.UserDefinedType); ok && u.Storage != nil {
		return u.Storage
	}
	return t
}

func (f Format) maps(out []string, v *vec.Vector) error {
	keys, err := f.Cells(v.Kids()[0])
	if err != nil {
		return err
	}
	values, err := f.Cells(v.Kids()[1])
	if err != nil {
		return err
	}
	for i := range out {
		if v.IsNull(i) {
			continue
		}
		s := v.Spans()[i]
		var b strings.Builder
		b.WriteByte('{')
		for j := s.Off; j < s.Off+s.Len; j++ {
			if j > s.Off {
				b.WriteString(", ")
			}
			b.WriteString(keys[j] + " -> " + values[j])
		}
		b.WriteByte('}')
		out[i] = b.String()
	}
	return nil
}

func (f Format) structs(out []string, v *vec.Vector) error {
	kids := make([][]string, len(v.Kids()))
	for k, kid := range v.Kids() {
		var err error
		if kids[k], err = f.Cells(kid); err != nil {
			return err
		}
	}
	parts := make([]string, len(kids))
	for i := range out {
		for k := range kids {
			parts[k] = kids[k][i]
		}
		out[i] = "{" + strings.Join(parts, ", ") + "}"
	}
	return nil
}

// cast writes values of a type without parts.
func (f Format) cast(out []string, v *vec.Vector, t types.DataType) error {
	bound, err := fn.BindCast(t, types.String, fn.CastANSI, f.Zone)
	if err != nil {
		return err
	}
	node := fn.NewNode(bound, []expr.Node{expr.NewColumn(0, t)})
	ev := expr.Eval{Batch: &expr.BatchParams{Zone: f.Zone}}
	text := node.Eval(&ev, vec.NewBatch(v.Len(), v.WithType(t)))
	if _, err, bad := ev.Errs.First(); bad {
		return err
	}
	text = text.Flatten()
	for i := range out {
		out[i] = string(text.BytesAt(i))
	}
	return nil
}

func (f Format) binary(b []byte) string {
	switch f.Binary {
	case "UTF-8":
		return strings.ToValidUTF8(string(b), string(utf8.RuneError))
	case "BASIC":
		return strings.ReplaceAll(fmt.Sprintf("%d", b), " ", ", ")
	case "BASE64":
		return base64.RawStdEncoding.EncodeToString(b)
	case "HEX":
		return fmt.Sprintf("%X", b)
	}
	return fmt.Sprintf("[% X]", b)
}
