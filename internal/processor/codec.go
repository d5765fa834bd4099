package processor

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Codec turns values of one Go type into bytes and back. The bytes follow the SQL type that package types gives the Go type.
type Codec struct {
	Type     types.DataType
	Nullable bool
	form
}

// form is how a Go type is written and read. p points at a value of the type. read returns what is left of b.
type form struct {
	write func(b []byte, p unsafe.Pointer) ([]byte, error)
	read  func(b []byte, p unsafe.Pointer) ([]byte, error)
}

// errShort says that bytes end too early or are not those of the type.
var errShort = errors.New("the bytes do not fit the type")

// CodecFor compiles a codec for values.
func CodecFor[T any]() (*Codec, error) { return codecFor(reflect.TypeFor[T](), false) }

// KeyCodecFor compiles a codec for keys of maps, whose bytes are in the order of the values.
func KeyCodecFor[T any]() (*Codec, error) { return codecFor(reflect.TypeFor[T](), true) }

func codecFor(t reflect.Type, ordered bool) (*Codec, error) {
	dt, err := typeFor(t)
	if err != nil {
		return nil, err
	}
	c := &compiler{ordered: ordered}
	f, err := c.form(t)
	if err != nil {
		return nil, err
	}
	return &Codec{Type: dt, Nullable: nullable(t), form: f}, nil
}

func typeFor(t reflect.Type) (types.DataType, error) {
	if t == reflect.TypeFor[types.Decimal]() {
		return types.DecimalSystem, nil
	}
	return types.TypeOf(reflect.Zero(t).Interface())
}

func nullable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

// Append writes a value behind b. T must be the type that the codec was compiled for.
func Append[T any](c *Codec, b []byte, v *T) ([]byte, error) { return c.write(b, unsafe.Pointer(v)) }

// Decode reads a value from all of b. T must be the type that the codec was compiled for.
func Decode[T any](c *Codec, b []byte, v *T) error {
	rest, err := c.read(b, unsafe.Pointer(v))
	if err == nil && len(rest) > 0 {
		err = errShort
	}
	if err != nil {
		return errclass.New("STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE", "errorMsg", fmt.Sprintf("%v %s", err, c.Type.SQL()))
	}
	return nil
}

// compiler makes forms of Go types. Keys are ordered: numbers are big-endian with the sign turned, texts are escaped and have an end.
type compiler struct{ ordered bool }

func (c *compiler) form(t reflect.Type) (form, error) {
	if f, ok, err := c.special(t); ok || err != nil {
		return f, err
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.pointer(t)
	case reflect.Bool:
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) { return append(b, byte(*(*uint8)(p))), nil },
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				if len(b) == 0 || b[0] > 1 {
					return nil, errShort
				}
				*(*bool)(p) = b[0] == 1
				return b[1:], nil
			},
		}, nil
	case reflect.Int8:
		return intForm[int8](c.ordered, 1), nil
	case reflect.Int16:
		return intForm[int16](c.ordered, 2), nil
	case reflect.Uint8:
		return intForm[uint8](c.ordered, 2), nil
	case reflect.Int32:
		return intForm[int32](c.ordered, 4), nil
	case reflect.Uint16:
		return intForm[uint16](c.ordered, 4), nil
	case reflect.Int64:
		return intForm[int64](c.ordered, 8), nil
	case reflect.Int:
		return intForm[int](c.ordered, 8), nil
	case reflect.Uint32:
		return intForm[uint32](c.ordered, 8), nil
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return c.unsigned(t)
	case reflect.Float32:
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				if c.ordered {
					return appendFloat32(b, *(*float32)(p)), nil
				}
				return binary.LittleEndian.AppendUint32(b, math.Float32bits(*(*float32)(p))), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readFloat32(b, c.ordered)
				*(*float32)(p) = x
				return rest, err
			},
		}, nil
	case reflect.Float64:
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				if c.ordered {
					return appendFloat64(b, *(*float64)(p)), nil
				}
				return binary.LittleEndian.AppendUint64(b, math.Float64bits(*(*float64)(p))), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readFloat64(b, c.ordered)
				*(*float64)(p) = x
				return rest, err
			},
		}, nil
	case reflect.String:
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				if s := *(*string)(p); c.ordered {
					return appendText(b, s), nil
				} else {
					return append(binary.AppendUvarint(b, uint64(len(s))), s...), nil
				}
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readText(b, c.ordered)
				*(*string)(p) = string(x)
				return rest, err
			},
		}, nil
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return c.optional(form{
				func(b []byte, p unsafe.Pointer) ([]byte, error) {
					if s := *(*[]byte)(p); c.ordered {
						return appendText(b, unsafe.String(unsafe.SliceData(s), len(s))), nil
					} else {
						return append(binary.AppendUvarint(b, uint64(len(s))), s...), nil
					}
				},
				func(b []byte, p unsafe.Pointer) ([]byte, error) {
					x, rest, err := readText(b, c.ordered)
					*(*[]byte)(p) = append([]byte{}, x...)
					return rest, err
				},
			}, func(p unsafe.Pointer) bool { return *(*[]byte)(p) == nil }), nil
		}
		return c.list(t)
	case reflect.Array:
		return c.array(t)
	case reflect.Map:
		return c.mapping(t)
	case reflect.Struct:
		return c.structure(t)
	}
	return form{}, noForm(t)
}

func noForm(t reflect.Type) error {
	return errclass.New("INVALID_VALUE.NO_TYPE", "goType", t.String(), "path", "state")
}

type integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32
}

// intForm writes an integer as its SQL type, which has width bytes.
func intForm[T integer](ordered bool, width int) form {
	if ordered {
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) { return appendInt(b, int64(*(*T)(p)), width), nil },
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readInt(b, width)
				*(*T)(p) = T(x)
				return rest, err
			},
		}
	}
	return form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) { return binary.AppendVarint(b, int64(*(*T)(p))), nil },
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			x, n := binary.Varint(b)
			if n <= 0 || int64(T(x)) != x {
				return nil, errShort
			}
			*(*T)(p) = T(x)
			return b[n:], nil
		},
	}
}

// fixed is the form of an integer type with a meaning of its own: always eight bytes, or an ordered integer of a width.
func (c *compiler) fixed(width int, get func(p unsafe.Pointer) int64, set func(p unsafe.Pointer, x int64)) form {
	return form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) { return c.appendFixed(b, get(p), width), nil },
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			x, rest, err := readFixed(b, width, c.ordered)
			if err == nil {
				set(p, x)
			}
			return rest, err
		},
	}
}

func (c *compiler) appendFixed(b []byte, x int64, width int) []byte {
	switch {
	case c.ordered:
		return appendInt(b, x, width)
	case width == 8:
		return binary.LittleEndian.AppendUint64(b, uint64(x))
	}
	return binary.AppendVarint(b, x)
}

func readFixed(b []byte, width int, ordered bool) (int64, []byte, error) {
	switch {
	case ordered:
		return readInt(b, width)
	case width == 8:
		if len(b) < 8 {
			return 0, nil, errShort
		}
		return int64(binary.LittleEndian.Uint64(b)), b[8:], nil
	}
	x, n := binary.Varint(b)
	if n <= 0 {
		return 0, nil, errShort
	}
	return x, b[n:], nil
}

// special are the Go types that are single values of SQL types.
func (c *compiler) special(t reflect.Type) (f form, ok bool, err error) {
	at := func(get func(unsafe.Pointer) int64, set func(unsafe.Pointer, int64)) (form, bool, error) {
		return c.fixed(8, get, set), true, nil
	}
	plain := func(p unsafe.Pointer) int64 { return *(*int64)(p) }
	set := func(p unsafe.Pointer, x int64) { *(*int64)(p) = x }
	switch t {
	case reflect.TypeFor[types.Micros](), reflect.TypeFor[types.MicrosNTZ](), reflect.TypeFor[types.DayTime](), reflect.TypeFor[types.TimeOfDay]():
		return at(plain, set)
	case reflect.TypeFor[time.Time]():
		return at(func(p unsafe.Pointer) int64 { return int64(types.MicrosOf(*(*time.Time)(p))) },
			func(p unsafe.Pointer, x int64) { *(*time.Time)(p) = time.UnixMicro(x).UTC() })
	case reflect.TypeFor[time.Duration]():
		return at(func(p unsafe.Pointer) int64 { return int64(types.DayTimeOf(*(*time.Duration)(p))) },
			func(p unsafe.Pointer, x int64) { *(*time.Duration)(p) = types.DayTime(x).Duration() })
	case reflect.TypeFor[types.Days](), reflect.TypeFor[types.YearMonth]():
		return c.fixed(4, func(p unsafe.Pointer) int64 { return int64(*(*int32)(p)) },
			func(p unsafe.Pointer, x int64) { *(*int32)(p) = int32(x) }), true, nil
	case reflect.TypeFor[types.Interval]():
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				i := (*types.Interval)(p)
				b = c.appendFixed(c.appendFixed(b, int64(i.Months), 4), int64(i.Days), 4)
				return c.appendFixed(b, i.Micros, 8), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				v, rest, err := readInterval(b, c.ordered)
				*(*types.Interval)(p) = v
				return rest, err
			},
		}, true, nil
	case reflect.TypeFor[types.Decimal]():
		dt := types.DecimalSystem
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				d := *(*types.Decimal)(p)
				r, ok := d.Rescale(dt)
				if !ok || r.Cmp(d) != 0 {
					return nil, errclass.New("INVALID_VALUE.RANGE", "path", "state", "value", d.String(), "dataType", dt.SQL())
				}
				return c.appendWide(b, r.Unscaled), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readWide(b, c.ordered)
				*(*types.Decimal)(p) = types.Decimal{Unscaled: x, Scale: dt.Scale}
				return rest, err
			},
		}, true, nil
	case reflect.TypeFor[big.Int]():
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				d, ok := types.DecimalFromBig((*big.Int)(p), 0)
				if !ok {
					return nil, errclass.New("INVALID_VALUE.RANGE", "path", "state", "value", (*big.Int)(p).String(), "dataType", "DECIMAL(38,0)")
				}
				return c.appendWide(b, d.Unscaled), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				x, rest, err := readWide(b, c.ordered)
				(*big.Int)(p).Set(x.BigInt())
				return rest, err
			},
		}, true, nil
	case reflect.TypeFor[types.VariantValue]():
		if c.ordered {
			return form{}, false, noForm(t)
		}
		return form{
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				v := (*types.VariantValue)(p)
				b = append(binary.AppendUvarint(b, uint64(len(v.Value))), v.Value...)
				return append(binary.AppendUvarint(b, uint64(len(v.Metadata))), v.Metadata...), nil
			},
			func(b []byte, p unsafe.Pointer) ([]byte, error) {
				v, rest, err := readVariant(b)
				*(*types.VariantValue)(p) = v
				return rest, err
			},
		}, true, nil
	}
	return form{}, false, nil
}

// unsigned is the form of 64 bit unsigned integers, which are DECIMAL(20,0).
func (c *compiler) unsigned(t reflect.Type) (form, error) {
	if t.Kind() == reflect.Uintptr {
		return form{}, noForm(t)
	}
	wide := t.Size() == 8
	return form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			x := uint64(*(*uint32)(p))
			if wide {
				x = *(*uint64)(p)
			}
			return c.appendWide(b, decimal128.New(0, x)), nil
		},
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			x, rest, err := readWide(b, c.ordered)
			if err == nil && x.HighBits() != 0 {
				err = errShort
			}
			if wide {
				*(*uint64)(p) = x.LowBits()
			} else {
				*(*uint32)(p) = uint32(x.LowBits())
			}
			return rest, err
		},
	}, nil
}

func (c *compiler) appendWide(b []byte, x decimal128.Num) []byte {
	if c.ordered {
		b = binary.BigEndian.AppendUint64(b, uint64(x.HighBits())^1<<63)
		return binary.BigEndian.AppendUint64(b, x.LowBits())
	}
	b = binary.LittleEndian.AppendUint64(b, x.LowBits())
	return binary.LittleEndian.AppendUint64(b, uint64(x.HighBits()))
}

func readWide(b []byte, ordered bool) (decimal128.Num, []byte, error) {
	if len(b) < 16 {
		return decimal128.Num{}, nil, errShort
	}
	if ordered {
		return decimal128.New(int64(binary.BigEndian.Uint64(b)^1<<63), binary.BigEndian.Uint64(b[8:])), b[16:], nil
	}
	return decimal128.New(int64(binary.LittleEndian.Uint64(b[8:])), binary.LittleEndian.Uint64(b)), b[16:], nil
}

// optional puts a byte before values that may be null: 0 for null, which comes first in order.
func (c *compiler) optional(f form, isNil func(p unsafe.Pointer) bool) form {
	return form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			if isNil(p) {
				return append(b, 0), nil
			}
			return f.write(append(b, 1), p)
		},
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			switch {
			case len(b) == 0 || b[0] > 1:
				return nil, errShort
			case b[0] == 0:
				return b[1:], nil // what p points at is new
			}
			return f.read(b[1:], p)
		},
	}
}

func (c *compiler) pointer(t reflect.Type) (form, error) {
	e, err := c.form(t.Elem())
	if err != nil {
		return form{}, err
	}
	if nullable(t.Elem()) { // one null is enough
		return form{}, noForm(t)
	}
	return c.optional(form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) { return e.write(b, *(*unsafe.Pointer)(p)) },
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			v := reflect.New(t.Elem())
			rest, err := e.read(b, v.UnsafePointer())
			reflect.NewAt(t, p).Elem().Set(v)
			return rest, err
		},
	}, func(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }), nil
}

// elements writes n values that lie behind one another. In keys a 1 stands before each and a 0 at the end, otherwise their number
// comes first.
func (c *compiler) elements(e form, size uintptr, b []byte, base unsafe.Pointer, n int) (_ []byte, err error) {
	if !c.ordered {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for i := range n {
		if c.ordered {
			b = append(b, 1)
		}
		if b, err = e.write(b, unsafe.Add(base, uintptr(i)*size)); err != nil {
			return nil, err
		}
	}
	if c.ordered {
		b = append(b, 0)
	}
	return b, nil
}

// readElements calls next for the place of each element that follows.
func (c *compiler) readElements(e form, b []byte, next func(left int) unsafe.Pointer) (_ []byte, err error) {
	if !c.ordered {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > math.MaxInt32 {
			return nil, errShort
		}
		b = b[w:]
		for i := range int(n) {
			p := next(int(n) - i)
			if p == nil {
				return nil, errShort
			}
			if b, err = e.read(b, p); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	for {
		if len(b) == 0 || b[0] > 1 {
			return nil, errShort
		}
		more := b[0] == 1
		if b = b[1:]; !more {
			return b, nil
		}
		p := next(1)
		if p == nil {
			return nil, errShort
		}
		if b, err = e.read(b, p); err != nil {
			return nil, err
		}
	}
}

func (c *compiler) list(t reflect.Type) (form, error) {
	e, err := c.form(t.Elem())
	if err != nil {
		return form{}, err
	}
	size := t.Elem().Size()
	return c.optional(form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			v := reflect.NewAt(t, p).Elem()
			return c.elements(e, size, b, v.UnsafePointer(), v.Len())
		},
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			v := reflect.NewAt(t, p).Elem()
			v.Set(reflect.MakeSlice(t, 0, 0))
			return c.readElements(e, b, func(left int) unsafe.Pointer {
				if v.Len() == v.Cap() {
					v.Grow(min(left, 1024)) // a damaged count must not ask for more memory than there are bytes
				}
				v.SetLen(v.Len() + 1)
				return v.Index(v.Len() - 1).Addr().UnsafePointer()
			})
		},
	}, func(p unsafe.Pointer) bool { return reflect.NewAt(t, p).Elem().IsNil() }), nil
}

func (c *compiler) array(t reflect.Type) (form, error) {
	e, err := c.form(t.Elem())
	if err != nil {
		return form{}, err
	}
	size, n := t.Elem().Size(), t.Len()
	return form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) { return c.elements(e, size, b, p, n) },
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			i := 0
			rest, err := c.readElements(e, b, func(int) unsafe.Pointer {
				if i++; i > n {
					return nil
				}
				return unsafe.Add(p, uintptr(i-1)*size)
			})
			if err == nil && i != n {
				err = errShort
			}
			return rest, err
		},
	}, nil
}

// mapping writes the entries in the order of the bytes of their keys, so that equal maps have equal bytes.
func (c *compiler) mapping(t reflect.Type) (form, error) {
	if c.ordered {
		return form{}, noForm(t)
	}
	k, err := c.form(t.Key())
	if err != nil {
		return form{}, err
	}
	e, err := c.form(t.Elem())
	if err != nil {
		return form{}, err
	}
	return c.optional(form{
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			m := reflect.NewAt(t, p).Elem()
			type entry struct{ key, all string }
			entries := make([]entry, 0, m.Len())
			key, val := reflect.New(t.Key()), reflect.New(t.Elem())
			var scratch []byte
			for it := m.MapRange(); it.Next(); {
				key.Elem().Set(it.Key())
				val.Elem().Set(it.Value())
				var err error
				if scratch, err = k.write(scratch[:0], key.UnsafePointer()); err != nil {
					return nil, err
				}
				n := len(scratch)
				if scratch, err = e.write(scratch, val.UnsafePointer()); err != nil {
					return nil, err
				}
				all := string(scratch)
				entries = append(entries, entry{all[:n], all})
			}
			slices.SortFunc(entries, func(x, y entry) int { return compareStrings(x.key, y.key) })
			b = binary.AppendUvarint(b, uint64(len(entries)))
			for _, x := range entries {
				b = append(b, x.all...)
			}
			return b, nil
		},
		func(b []byte, p unsafe.Pointer) ([]byte, error) {
			n, w := binary.Uvarint(b)
			if w <= 0 || n > math.MaxInt32 {
				return nil, errShort
			}
			b = b[w:]
			m := reflect.MakeMap(t)
			for range n {
				key, val := reflect.New(t.Key()), reflect.New(t.Elem())
				var err error
				if b, err = k.read(b, key.UnsafePointer()); err == nil {
					b, err = e.read(b, val.UnsafePointer())
				}
				if err != nil {
					return nil, err
				}
				m.SetMapIndex(key.Elem(), val.Elem())
			}
			reflect.NewAt(t, p).Elem().Set(m)
			return b, nil
		},
	}, func(p unsafe.Pointer) bool { return *(*unsafe.Pointer)(p) == nil }), nil
}

func compareStrings(x, y string) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

func (c *compiler) structure(t reflect.Type) (form, error) {
	type member struct {
		form
		at uintptr
	}
	var members []member
	for i := range t.NumField() {
		sf := t.Field(i)
		if _, ok := types.ColumnName(sf); !ok {
			continue
		}
		f, err := c.form(sf.Type)
		if err != nil {
			return form{}, err
		}
		members = append(members, member{f, sf.Offset})
	}
	return form{
		func(b []byte, p unsafe.Pointer) (_ []byte, err error) {
			for i := range members {
				if b, err = members[i].write(b, unsafe.Add(p, members[i].at)); err != nil {
					return nil, err
				}
			}
			return b, nil
		},
		func(b []byte, p unsafe.Pointer) (_ []byte, err error) {
			for i := range members {
				if b, err = members[i].read(b, unsafe.Add(p, members[i].at)); err != nil {
					return nil, err
				}
			}
			return b, nil
		},
	}, nil
}
