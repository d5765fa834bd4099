package connectpb_test

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// listing prints what two programs must agree on, one line a definition, sorted. The lines
// have the form that tools/protogen/wheel_schema.py prints for PySpark's descriptors.
func listing(files []protoreflect.FileDescriptor) []string {
	var l lines
	for _, f := range files {
		l.add(f.Path(), "file", f.Syntax().String(), string(f.Package()))
		l.messages(f.Messages())
		l.enums(f.Enums())
		l.services(f.Services())
	}
	slices.Sort(l)
	return l
}

type lines []string

// add appends a line of those words that are not empty.
func (l *lines) add(words ...string) {
	*l = append(*l, strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " "))
}

func (l *lines) messages(ms protoreflect.MessageDescriptors) {
	for i := range ms.Len() {
		m := ms.Get(i)
		name := string(m.FullName())
		l.add(name, "message", m.ParentFile().Path(), when(m.IsMapEntry(), "map"), deprecated(m))
		for j := range m.Fields().Len() {
			l.field(m.Fields().Get(j))
		}
		for j := range m.ReservedRanges().Len() {
			r := m.ReservedRanges().Get(j) // half open
			l.add(name, "reserved", fmt.Sprintf("%d-%d", r[0], r[1]-1))
		}
		l.reservedNames(name, m.ReservedNames())
		l.enums(m.Enums())
		l.messages(m.Messages())
	}
}

func (l *lines) field(f protoreflect.FieldDescriptor) {
	label, oneof := "singular", ""
	switch o := f.ContainingOneof(); {
	case f.Cardinality() == protoreflect.Repeated:
		label = "repeated"
	case f.HasOptionalKeyword(): // its oneof is an artefact of the compiler
		label = "optional"
	case o != nil:
		oneof = "oneof=" + string(o.Name())
	}
	var typeName protoreflect.FullName
	switch {
	case f.Message() != nil:
		typeName = f.Message().FullName()
	case f.Enum() != nil:
		typeName = f.Enum().FullName()
	}
	packed := ""
	if o, ok := f.Options().(*descriptorpb.FieldOptions); ok && o != nil && o.Packed != nil {
		packed = fmt.Sprintf("packed=%t", o.GetPacked())
	}
	l.add(string(f.FullName()), "field", fmt.Sprint(f.Number()), label, f.Kind().String(),
		string(typeName), "json="+f.JSONName(), oneof, packed, deprecated(f))
}

func (l *lines) enums(es protoreflect.EnumDescriptors) {
	for i := range es.Len() {
		e := es.Get(i)
		name := string(e.FullName())
		o, _ := e.Options().(*descriptorpb.EnumOptions)
		l.add(name, "enum", e.ParentFile().Path(), when(o.GetAllowAlias(), "alias"), deprecated(e))
		for j := range e.Values().Len() {
			v := e.Values().Get(j)
			// A value's full name lies beside its enum; below it, the list is easier to read.
			l.add(name+"."+string(v.Name()), fmt.Sprintf("value %d", v.Number()), deprecated(v))
		}
		for j := range e.ReservedRanges().Len() {
			r := e.ReservedRanges().Get(j) // closed, unlike a message's
			l.add(name, "reserved", fmt.Sprintf("%d-%d", r[0], r[1]))
		}
		l.reservedNames(name, e.ReservedNames())
	}
}

func (l *lines) reservedNames(owner string, names protoreflect.Names) {
	for i := range names.Len() {
		l.add(owner, "reserved", string(names.Get(i)))
	}
}

func (l *lines) services(ss protoreflect.ServiceDescriptors) {
	for i := range ss.Len() {
		s := ss.Get(i)
		l.add(string(s.FullName()), "service", s.ParentFile().Path(), deprecated(s))
		for j := range s.Methods().Len() {
			m := s.Methods().Get(j)
			l.add(string(m.FullName()), "method",
				when(m.IsStreamingClient(), "stream"), string(m.Input().FullName()), "->",
				when(m.IsStreamingServer(), "stream"), string(m.Output().FullName()), deprecated(m))
		}
	}
}

func when(cond bool, word string) string {
	if cond {
		return word
	}
	return ""
}

func deprecated(d protoreflect.Descriptor) string {
	o, ok := d.Options().(interface{ GetDeprecated() bool })
	return when(ok && o.GetDeprecated(), "deprecated")
}

// difference lists the lines that only one side has, marked - for want and + for have.
// Both sides must be sorted.
func difference(want, have []string) []string {
	var d []string
	for len(want) > 0 || len(have) > 0 {
		switch {
		case len(have) == 0 || len(want) > 0 && want[0] < have[0]:
			d, want = append(d, "- "+want[0]), want[1:]
		case len(want) == 0 || have[0] < want[0]:
			d, have = append(d, "+ "+have[0]), have[1:]
		default:
			want, have = want[1:], have[1:]
		}
	}
	return d
}
