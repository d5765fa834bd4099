package show

import (
	"fmt"
	"html"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/millrace/millrace/internal/vec"
	"github.com/millrace/millrace/types"
)

// Options are the arguments of DataFrame.show.
type Options struct {
	Rows int
	// Truncate is the longest width of a cell; with 0 cells are not cut and stand on the left.
	Truncate int
	Vertical bool
	Format   Format
}

// Limit is how many rows Table wants to see: one more than it shows, to know whether there are more.
func (o Options) Limit() int { return o.rows() + 1 }

func (o Options) rows() int { return max(0, min(o.Rows, math.MaxInt32-16)) }

// grid is what is shown.
type grid struct {
	names []string
	cells [][]string // by row
	more  bool
}

func (o Options) grid(st types.StructType, batches []*vec.Batch) (*grid, error) {
	g := &grid{names: make([]string, len(st.Fields))}
	for i, f := range st.Fields {
		g.names[i] = escape(f.Name)
	}
	left := o.rows()
	for _, b := range batches {
		b = b.Compact(nil)
		if b.N > left {
			g.more = true
			b = b.Slice(0, left)
		}
		left -= b.N
		rows := make([][]string, b.N)
		for i := range rows {
			rows[i] = make([]string, len(b.Cols))
		}
		for c, v := range b.Cols {
			texts, err := o.Format.Cells(v)
			if err != nil {
				return nil, err
			}
			for i, s := range texts {
				rows[i][c] = cut(escape(s), o.Truncate)
			}
		}
		g.cells = append(g.cells, rows...)
	}
	return g, nil
}

// Table renders the first rows of batches.
func Table(st types.StructType, batches []*vec.Batch, o Options) (string, error) {
	g, err := o.grid(st, batches)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if o.Vertical {
		g.vertical(&b)
	} else {
		g.horizontal(&b, o.Truncate > 0)
	}
	if o.Vertical && len(g.cells) == 0 {
		b.WriteString("(0 rows)\n")
	} else {
		g.footer(&b, o.rows())
	}
	return b.String(), nil
}

func (g *grid) footer(b *strings.Builder, n int) {
	if !g.more {
		return
	}
	noun := "rows"
	if n == 1 {
		noun = "row"
	}
	fmt.Fprintf(b, "only showing top %d %s\n", n, noun)
}

// minWidth is the least width of a column.
const minWidth = 3

func (g *grid) horizontal(b *strings.Builder, right bool) {
	widths := make([]int, len(g.names))
	for c, name := range g.names {
		widths[c] = max(minWidth, width(name))
	}
	for _, row := range g.cells {
		for c, s := range row {
			widths[c] = max(widths[c], width(s))
		}
	}
	line := "+"
	for _, w := range widths {
		line += strings.Repeat("-", w) + "+"
	}
	if len(widths) == 0 {
		line += "+"
	}
	write := func(row []string) {
		b.WriteByte('|')
		for c, s := range row {
			pad(b, s, widths[c], right)
			b.WriteByte('|')
		}
		if len(row) == 0 {
			b.WriteByte('|')
		}
		b.WriteByte('\n')
	}
	b.WriteString(line + "\n")
	write(g.names)
	b.WriteString(line + "\n")
	for _, row := range g.cells {
		write(row)
	}
	b.WriteString(line + "\n")
}

func (g *grid) vertical(b *strings.Builder) {
	nameWidth, cellWidth := minWidth, minWidth
	for _, name := range g.names {
		nameWidth = max(nameWidth, width(name))
	}
	for _, row := range g.cells {
		for _, s := range row {
			cellWidth = max(cellWidth, width(s))
		}
	}
	for i, row := range g.cells {
		head := fmt.Sprintf("-RECORD %d", i)
		b.WriteString(head + strings.Repeat("-", max(0, nameWidth+cellWidth+5-len(head))) + "\n")
		for c, s := range row {
			b.WriteByte(' ')
			pad(b, g.names[c], nameWidth, false)
			b.WriteString(" | ")
			pad(b, s, cellWidth, false)
			b.WriteString(" \n")
		}
	}
}

func pad(b *strings.Builder, s string, w int, right bool) {
	blanks := strings.Repeat(" ", max(0, w-width(s)))
	if right {
		b.WriteString(blanks + s)
	} else {
		b.WriteString(s + blanks)
	}
}

// HTML renders the first rows of batches as an HTML table.
func HTML(st types.StructType, batches []*vec.Batch, o Options) (string, error) {
	g, err := o.grid(st, batches)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	line := func(tag string, row []string) {
		b.WriteString("<tr>")
		for _, s := range row {
			b.WriteString("<" + tag + ">" + escapeHTML(s) + "</" + tag + ">")
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("<table border='1'>\n")
	line("th", g.names)
	for _, row := range g.cells {
		line("td", row)
	}
	b.WriteString("</table>\n")
	g.footer(&b, o.rows())
	return b.String(), nil
}

func escapeHTML(s string) string {
	return strings.ReplaceAll(html.EscapeString(s), "&#34;", "&quot;")
}

// escape makes control characters visible, so that they do not break the table.
var escape = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`, "\f", `\f`, "\b", `\b`, "\v", `\v`, "\a", `\a`).Replace

// cut shortens a text to n UTF-16 units, the measure of Spark's lengths, with dots at the end where there is room for them.
func cut(s string, n int) string {
	if n <= 0 || len(s) <= n {
		return s
	}
	units := utf16.Encode([]rune(s))
	switch {
	case len(units) <= n:
		return s
	case n < 4:
		return fromUnits(units[:n])
	}
	return fromUnits(units[:n-3]) + "..."
}

// fromUnits is the text of UTF-16 units; half a pair becomes a question mark.
func fromUnits(units []uint16) string {
	runes := utf16.Decode(units)
	if last := units[len(units)-1]; utf16.IsSurrogate(rune(last)) && runes[len(runes)-1] == '�' {
		runes[len(runes)-1] = '?'
	}
	return string(runes)
}

// width is the number of columns a text takes on a terminal: East Asian wide characters take two. As in Spark a character outside
// the basic plane counts as two, too.
func width(s string) int {
	w := 0
	for _, r := range s {
		w++
		if r > 0xffff || wide(r) {
			w++
		}
	}
	return w
}

func wide(r rune) bool {
	return r >= 0x1100 && (r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xff60 || r >= 0xffe0 && r <= 0xffe6)
}
