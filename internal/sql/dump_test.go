package sql

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// dump prints a tree without places in the text and identities, so that equal trees have equal texts. (A comparison with cmp
// takes time exponential in the depth of nested slices.)
func dump(x any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(x), "\n")
	return b.String()
}

// notDumped are the fields that say nothing about the meaning of a tree.
var notDumped = map[string]bool{"Origin": true, "Over.Spec": true, "Aggregate.Clause": true, "Watermark.ID": true, "Watermark.DelayText": true, "LambdaVar.ID": true}

func dumpValue(b *strings.Builder, v reflect.Value, nl string) {
	switch v.Kind() {
	case reflect.Invalid:
		b.WriteString("nil")
	case reflect.Interface, reflect.Pointer:
		dumpValue(b, v.Elem(), nl)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[types.Decimal]() {
			fmt.Fprintf(b, "Decimal(%v)", v.Interface())
			return
		}
		name := v.Type().Name()
		b.WriteString(name)
		for i := range v.NumField() {
			field := v.Type().Field(i).Name
			if v.Field(i).IsZero() || notDumped[field] || notDumped[name+"."+field] {
				continue
			}
			b.WriteString(nl + "  " + field + ": ")
			dumpValue(b, v.Field(i), nl+"    ")
		}
	case reflect.Slice:
		if v.IsNil() {
			b.WriteString("nil")
			return
		}
		b.WriteString("[")
		for i := range v.Len() {
			b.WriteString(nl + "- ")
			dumpValue(b, v.Index(i), nl+"  ")
		}
		b.WriteString("]")
	default:
		fmt.Fprintf(b, "%s(%#v)", v.Type(), v.Interface())
	}
}

// diff compares trees.
func diff(want, got any) string {
	w, g := dump(want), dump(got)
	if w == g {
		return ""
	}
	return cmp.Diff(w, g)
}

func TestDump(t *testing.T) {
	a := &plan.Extract{Child: &plan.LambdaVar{ID: 1, Name: "x"}, Key: stringLiteral("f")}
	b := &plan.Extract{Child: &plan.LambdaVar{ID: 2, Name: "x"}, Key: stringLiteral("f")}
	c := &plan.Extract{Child: &plan.LambdaVar{ID: 1, Name: "y"}, Key: stringLiteral("f")}
	if dump(a) != dump(b) || dump(a) == dump(c) {
		t.Errorf("%s\n%s\n%s", dump(a), dump(b), dump(c))
	}
}
