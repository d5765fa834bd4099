package session

import (
	"strings"

	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/internal/sql"
	"github.com/millrace/millrace/types"
)

// LookupListing implements analyze.Listings.
func (c lookup) LookupListing(name string) (plan.Node, error) {
	if name != "sql_keywords" {
		return nil, nil
	}
	reserved := map[string]bool{}
	if strings.EqualFold(c.s.Conf.Value(setting.ReservedKeywords), "true") {
		for _, w := range sql.Reserved() {
			reserved[w] = true
		}
	}
	var rows []types.Row
	for _, w := range sql.Keywords() {
		rows = append(rows, types.Row{w, reserved[w]})
	}
	return plan.LocalRows(types.Struct(text1("keyword"), types.Field{Name: "reserved", Type: types.Boolean}), rows)
}
