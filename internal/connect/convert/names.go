package convert

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
)

// AttributeName splits the name of a column at its dots. Parts in backticks may hold dots and doubled backticks; unlike in SQL
// text, other characters need no backticks.
func AttributeName(name string) ([]string, error) {
	var parts []string
	var b strings.Builder
	bad := func() ([]string, error) {
		return nil, errclass.New("INVALID_ATTRIBUTE_NAME_SYNTAX", "name", name)
	}
	for i := 0; ; {
		if i < len(name) && name[i] == '`' {
			end := -1
			for j := i + 1; j < len(name); j++ {
				if name[j] != '`' {
					b.WriteByte(name[j])
					continue
				}
				if j+1 < len(name) && name[j+1] == '`' {
					b.WriteByte('`')
					j++
					continue
				}
				end = j
				break
			}
			if end < 0 || end+1 < len(name) && name[end+1] != '.' {
				return bad()
			}
			i = end + 1
		} else {
			j := i
			for j < len(name) && name[j] != '.' {
				if name[j] == '`' {
					return bad()
				}
				j++
			}
			if j == i {
				return bad()
			}
			b.WriteString(name[i:j])
			i = j
		}
		parts = append(parts, b.String())
		b.Reset()
		if i >= len(name) {
			return parts, nil
		}
		i++ // the dot
		if i == len(name) {
			return bad()
		}
	}
}
