package session

import (
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/types"
)

// addResource refuses ADD JAR and its kin: nothing here runs classes, and files are read where they are.
func (s *Session) addResource(st *plan.AddResource) error {
	return errclass.New("UNSUPPORTED_FEATURE.STATEMENT", "statement", "ADD "+st.Kind)
}

// listResources is the answer of LIST JARS and its kin, of which there are none.
func (s *Session) listResources(*plan.ListResources) (plan.Node, error) {
	return plan.LocalRows(types.Struct(text1("Results")), nil)
}

// refreshFunction looks a function up again, which functions in SQL need not.
func (s *Session) refreshFunction(st *plan.RefreshFunction) error {
	name := st.Name[len(st.Name)-1]
	if len(st.Name) == 1 && s.FunctionExists(name) || s.routines.find(name) != nil && len(st.Name) == 1 {
		return placed(errclass.New("_LEGACY_ERROR_TEMP_1256", "functionName", name), st.Origin)
	}
	_, key, shown, _, err := s.routineKey(st.Name, false)
	if err != nil {
		return err
	}
	if s.server.routines.find(key) == nil {
		return errclass.New("ROUTINE_NOT_FOUND", "routineName", shown)
	}
	return nil
}

// showCollations lists the collations that the engine compares by.
func (s *Session) showCollations(st *plan.ShowCollations) (plan.Node, error) {
	columns := types.Struct(text1("NAME"), maybe("LANGUAGE"), maybe("COUNTRY"), text1("ACCENT_SENSITIVITY"), text1("CASE_SENSITIVITY"), text1("PAD_ATTRIBUTE"), maybe("ICU_VERSION"))
	var rows []types.Row
	for _, name := range []string{types.BinaryCollation} {
		rows = append(rows, types.Row{name, nil, nil, "ACCENT_SENSITIVE", "CASE_SENSITIVE", "NO_PAD", nil})
	}
	return plan.LocalRows(columns, filterRows(rows, 0, st.Pattern))
}
