package fn_test

import (
	"testing"
	"time"
)

// The first answer is the one in the documentation of Spark's function; the others follow from what from_avro reads (testdata/avro.json).
func TestSchemaOfAvro(t *testing.T) {
	const union = `'{"type": "record", "name": "struct", "fields": [{"name": "u", "type": ["int", "string"]}]}'`
	e := &env{ansi: true, zone: time.UTC}
	for expr, want := range map[string]string{
		`schema_of_avro(` + union + `, map())`:                                              "STRUCT<u: STRUCT<member0: INT, member1: STRING> NOT NULL>",
		`schema_of_avro(` + union + `, map('enableStableIdentifiersForUnionType', 'true'))`: "STRUCT<u: STRUCT<member_int: INT, member_string: STRING> NOT NULL>",
		`schema_of_avro('{"type": "array", "items": ["null", "long"]}')`:                    "ARRAY<BIGINT>",
		`schema_of_avro('"int"')`:                                                           "INT",
	} {
		e.check(t, recorded{Expr: expr, Type: "string", Value: &want})
	}
	e.check(t, recorded{Expr: "schema_of_avro('{}')", Error: "INVALID_SCHEMA.PARSE_ERROR", State: "42K07"})
}
