package functions

import "github.com/millrace/millrace"

// FromXML reads XML texts of a schema in DDL, or in SQL's or JSON's form. Options are those of the XML source.
func FromXML[C millrace.ColumnOrName](col C, schema string, options ...map[string]string) millrace.Column {
	return millrace.Call("from_xml", append([]any{col, millrace.Lit(schema)}, literals(options)...)...)
}

// SchemaOfJSON is the schema, in DDL, of a JSON text. Options are those of the JSON source.
func SchemaOfJSON(text string, options ...map[string]string) millrace.Column {
	return schemaOf("schema_of_json", text, options)
}

// SchemaOfCSV is the schema, in DDL, of a line of CSV. Options are those of the CSV source.
func SchemaOfCSV(text string, options ...map[string]string) millrace.Column {
	return schemaOf("schema_of_csv", text, options)
}

// SchemaOfXML is the schema, in DDL, of an XML text. Options are those of the XML source.
func SchemaOfXML(text string, options ...map[string]string) millrace.Column {
	return schemaOf("schema_of_xml", text, options)
}

// SchemaOfAvro is the schema, in DDL, of values of an Avro schema in JSON. Options are those of FromAvro.
func SchemaOfAvro(schema string, options ...map[string]string) millrace.Column {
	return schemaOf("schema_of_avro", schema, options)
}

func schemaOf(name, text string, options []map[string]string) millrace.Column {
	return millrace.Call(name, append([]any{millrace.Lit(text)}, literals(options)...)...)
}
