package session

import (
	"github.com/millrace/millrace/internal/analyze"
	"github.com/millrace/millrace/types"
)

// defaultCollation is the collation of DEFAULT COLLATION, "" for the usual one.
func defaultCollation(name string) (string, error) {
	c, err := types.CollationOf(name)
	if err != nil {
		return "", err
	}
	return c, analyze.Bytewise(types.StringType{Collation: c})
}
