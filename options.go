package millrace

import (
	"fmt"
	"maps"
	"reflect"

	"github.com/millrace/millrace/internal/errclass"
)

// options are the options of a reader or writer.
type options struct {
	m   map[string]string
	err error
}

// set takes an option as text, boolean or number.
func (o *options) set(key string, value any) {
	v := reflect.ValueOf(value)
	switch {
	case v.Kind() == reflect.String || v.Kind() == reflect.Bool || v.CanFloat() || (v.CanInt() || v.CanUint()) && v.Type().PkgPath() == "":
	default:
		o.err = firstError(o.err, mistake(errclass.New("NOT_EXPECTED_TYPE",
			"argName", "The option "+key, "expectedType", "a string, a boolean or a number", "argType", fmt.Sprintf("%T", value))))
		return
	}
	if o.m == nil {
		o.m = map[string]string{}
	}
	o.m[key] = fmt.Sprint(value)
}

func (o *options) setAll(m map[string]string) {
	for k, v := range m {
		o.set(k, v)
	}
}

// get copies the options, so that a plan does not change with its reader.
func (o *options) get() map[string]string { return maps.Clone(o.m) }
