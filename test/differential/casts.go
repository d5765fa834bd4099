package main

import (
	"fmt"
	"strings"
)

// atoms are the types without parts, by their names in SQL.
var atoms = []string{
	"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(9,2)", "DECIMAL(38,10)", "DECIMAL(20,0)", "DECIMAL(5,5)",
	"DECIMAL(38,38)", "DECIMAL(3,1)", "DECIMAL(1,0)", "DECIMAL(10,0)", "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "TIME(6)", "TIME(0)", "VARIANT",
	"INTERVAL DAY TO SECOND", "INTERVAL YEAR TO MONTH", "INTERVAL DAY", "INTERVAL HOUR TO SECOND", "INTERVAL MINUTE", "INTERVAL SECOND", "INTERVAL MONTH",
	"INTERVAL YEAR", "INTERVAL",
}

// typ makes the name of a type whose parts are as deep as depth.
func (g *generator) typ(depth int) string {
	if depth > 0 {
		switch g.r.IntN(5) {
		case 0:
			return "ARRAY<" + g.typ(depth-1) + ">"
		case 1:
			return fmt.Sprintf("MAP<%s, %s>", g.pick(atoms), g.typ(depth-1))
		case 2:
			names := []string{"x", "y", "Z", "p q"}
			fields := make([]string, 1+g.r.IntN(3))
			for i := range fields {
				fields[i] = fmt.Sprintf("`%s`: %s", names[i], g.typ(depth-1))
				if g.r.IntN(5) == 0 {
					fields[i] += " NOT NULL"
				}
			}
			return "STRUCT<" + strings.Join(fields, ", ") + ">"
		}
	}
	return g.pick(atoms)
}

// cast makes a cast, of a value or of values inside of others.
func (g *generator) cast(depth int) *node {
	how := g.pick([]string{"CAST", "CAST", "TRY_CAST"})
	text := "%s({%s} AS %s)"
	from := g.pick(classes["all"])
	if g.r.IntN(3) == 0 { // a text that may mean something
		from = "any text"
	}
	switch g.r.IntN(8) {
	case 0:
		return g.fill(fmt.Sprintf("%s(array({%s}, {%s}) AS ARRAY<%s>)", how, from, from, g.typ(0)), "", depth)
	case 1:
		return g.fill(fmt.Sprintf("%s(named_struct('a', {%s}, 'b', {any}) AS STRUCT<x: %s, y: %s>)", how, from, g.typ(0), g.typ(1)), "", depth)
	case 2:
		return g.fill(fmt.Sprintf("%s(map({%s}, {any}) AS MAP<%s, %s>)", how, from, g.typ(0), g.typ(1)), "", depth)
	case 3:
		return g.fill(fmt.Sprintf(text, how, from, g.typ(2)), "", depth)
	}
	return g.fill(fmt.Sprintf(text, how, from, g.typ(0)), "", depth)
}

// record makes a call that reads or writes texts of records, with options.
func (g *generator) record(depth int) *node {
	fields := make([]string, 1+g.r.IntN(3))
	for i := range fields {
		fields[i] = string(rune('a'+i)) + " " + g.typ(g.r.IntN(2))
	}
	schema := strings.Join(fields, ", ")
	if g.r.IntN(4) == 0 {
		schema += ", _corrupt_record STRING"
	}
	if g.r.IntN(4) == 0 {
		schema = g.typ(2)
	}
	options := ""
	if g.r.IntN(2) == 0 {
		options = ", map(" + g.pick(recordOptions) + ")"
		if g.r.IntN(3) == 0 {
			options = ", map(" + g.pick(recordOptions) + ", " + g.pick(recordOptions) + ")"
		}
	}
	of := fmt.Sprintf("named_struct('a', {%s}, 'b', {%s})", g.pick(classes["all"]), g.pick(classes["all"]))
	if g.r.IntN(3) == 0 {
		of = "{" + g.pick([]string{"aa", "m", "st", "mi", "ast", "ad", "nest", "v"}) + "}"
	}
	switch g.r.IntN(9) {
	case 0, 1:
		return g.fill(fmt.Sprintf("from_json({json text}, '%s'%s)", schema, options), "", depth)
	case 2:
		return g.fill(fmt.Sprintf("from_csv({csv text}, '%s'%s)", schema, options), "", depth)
	case 3:
		return g.fill(fmt.Sprintf("from_xml({xml text}, '%s'%s)", schema, options), "", depth)
	case 4:
		return g.fill(fmt.Sprintf("to_json(%s%s)", of, options), "", depth)
	case 5:
		return g.fill(fmt.Sprintf("to_csv(%s%s)", of, options), "", depth)
	case 6:
		return g.fill(fmt.Sprintf("to_xml(%s%s)", of, options), "", depth)
	case 7:
		return g.fill(fmt.Sprintf("from_json(to_json(%s), '%s'%s)", of, strings.ReplaceAll(schema, "_corrupt", "c"), options), "", depth)
	}
	how := g.pick([]string{"json", "csv", "xml"})
	return g.fill(fmt.Sprintf("schema_of_%s({%s text}%s)", how, how, options), "", depth)
}
