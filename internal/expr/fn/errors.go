package fn

import (
	"strings"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// Unordered is the error of a call that needs an order for values that have none.
func (b *Binding) Unordered(t types.DataType) error {
	name := b.Name
	if s := infix[name]; s != "" {
		name = s
	}
	return errclass.New("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE", "sqlExpr", b.SQL(), "functionName", "`"+name+"`", "dataType", quoteType(t))
}

// dataDiffTypes is the error of a call whose arguments have no type in common.
func (b *Binding) dataDiffTypes(ts []types.DataType, name string) error {
	quoted := make([]string, len(ts))
	for i, t := range ts {
		quoted[i] = quoteType(t)
	}
	list := "(" + strings.Join(quoted, " or ") + ")"
	if name == "in" {
		list = "[" + strings.Join(quoted, ", ") + "]"
	}
	return errclass.New("DATATYPE_MISMATCH.DATA_DIFF_TYPES", "sqlExpr", b.SQL(), "functionName", "`"+name+"`", "dataType", list)
}

// DifferentTypes is the error of a call whose arguments must be of one type.
func (b *Binding) DifferentTypes(ts ...types.DataType) error { return b.dataDiffTypes(ts, b.Name) }
