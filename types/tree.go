package types

import (
	"strconv"
	"strings"
)

// TreeString prints the schema as printSchema does. levels limits the nesting that is shown;
// 0 shows all.
func (t StructType) TreeString(levels int) string {
	if levels <= 0 {
		levels = maxTree
	}
	var b strings.Builder
	b.WriteString("root\n")
	writeTree(&b, t, " |", levels)
	return b.String()
}

const maxTree = 1 << 30

func writeTree(b *strings.Builder, t DataType, prefix string, levels int) {
	if levels <= 0 {
		return
	}
	line := func(name string, t DataType, note string) {
		b.WriteString(prefix + "-- " + name + ": " + t.TypeName() + note + "\n")
		writeTree(b, t, prefix+"    |", levels-1)
	}
	switch t := t.(type) {
	case ArrayType:
		line("element", t.Element, " (containsNull = "+strconv.FormatBool(t.ContainsNull)+")")
	case MapType:
		line("key", t.Key, "")
		line("value", t.Value, " (valueContainsNull = "+strconv.FormatBool(t.ValueContainsNull)+")")
	case StructType:
		for _, f := range t.Fields {
			line(metaEscaper.Replace(f.Name), f.Type, " (nullable = "+strconv.FormatBool(f.Nullable)+")")
		}
	}
}

// metaEscaper keeps each field on its line.
var metaEscaper = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\v", `\v`, "\a", `\a`)
