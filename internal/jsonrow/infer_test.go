package jsonrow

import (
	"testing"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/textrecord"
)

// The schemas are those that Apache Spark 4.2.0 infers.
func TestInfer(t *testing.T) {
	plain := func(*Options) {}
	tests := []struct {
		text string
		set  func(*Options)
		want string
	}{
		{"{\"a\":1}\n{\"b\":\"x\",\"a\":2.5}", plain, "struct<a:double,b:string>"},
		{"{\"a\":1}\nbad", plain, "struct<_corrupt_record:string,a:bigint>"},
		{`{"a":null}`, plain, "struct<a:string>"},
		{`{"a":{}}`, plain, "struct<>"},
		{"{\"a\":[]}\n{\"a\":[1,\"x\"]}", plain, "struct<a:array<string>>"},
		{"{\"a\":9223372036854775808}\n{\"a\":1}", plain, "struct<a:decimal(20,0)>"},
		{"{\"a\":9223372036854775808}\n{\"a\":1.5}", plain, "struct<a:double>"},
		{`{"a":"2026-01-01T00:00:00"}`, plain, "struct<a:string>"},
		{"[{\"a\":1},{\"b\":2}]\n{\"c\":1}", plain, "struct<a:bigint,b:bigint,c:bigint>"},
		{`5`, plain, "struct<_corrupt_record:string>"},
		{`{"a":[{"x":1},{"y":2}]}`, plain, "struct<a:array<struct<x:bigint,y:bigint>>>"},
		{`{"a":[{"x":1},5]}`, plain, "struct<a:array<string>>"},
		{``, plain, "struct<>"},
		{`{}`, plain, "struct<>"},
		{`{"a":1e400}`, plain, "struct<a:double>"},
		{`{"a":{"x":null,"y":1}}`, plain, "struct<a:struct<x:string,y:bigint>>"},
		{"{\"a\":true}\n{\"a\":1}", plain, "struct<a:string>"},
		{`{"a":123456789012345678901234567890123456789012}`, plain, "struct<a:double>"},
		{`{"a":1.5,"b":1,"c":true,"d":[1.5],"e":"2026-01-01T00:00:00"}`, func(o *Options) { o.PrimitivesAsString = true }, "struct<a:string,b:string,c:string,d:array<string>,e:string>"},
		{"{\"a\":1.5,\"b\":1}\n{\"a\":12.25}", func(o *Options) { o.PrefersDecimal = true }, "struct<a:decimal(4,2),b:bigint>"},
		{`{"e":"2026-01-01T00:00:00","f":"2026-01-01","g":"2026-01-01 00:00:00.123+01:00","h":"x"}`, func(o *Options) { o.InferTimestamp = true }, "struct<e:timestamp,f:timestamp,g:timestamp,h:string>"},
		{`{"a":null,"b":[],"c":{},"d":[null],"e":1}`, func(o *Options) { o.DropAllNull = true }, "struct<e:bigint>"},
		{"{\"a\":1}\nbad", func(o *Options) { o.Mode = textrecord.DropMalformed }, "struct<a:bigint>"},
		{"{\"a\":1}\nbad", func(o *Options) { o.CorruptColumn = "zz" }, "struct<a:bigint,zz:string>"},
	}
	for _, tt := range tests {
		opts := DefaultOptions()
		tt.set(&opts)
		inf, err := NewInference(opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := inf.Lines(pad(tt.text), len(tt.text)); err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got := inf.Schema().SimpleString(); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.text, got, tt.want)
		}
	}
}

func TestInferFailFast(t *testing.T) {
	opts := DefaultOptions()
	opts.Mode = textrecord.FailFast
	inf, _ := NewInference(opts)
	if err := inf.Record([]byte("bad")); !errclass.Has(err, "MALFORMED_RECORD_IN_PARSING") {
		t.Errorf("got %v", err)
	}
}
