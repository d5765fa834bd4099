package session

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/millrace/millrace/internal/catalog"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/plan"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/types"
)

// routines are functions written in SQL by name, in any case: those of a session, or those of all sessions with their database.
type routines struct {
	mu sync.RWMutex
	m  map[string]*plan.Routine
}

func (r *routines) find(key string) *plan.Routine {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.m[strings.ToLower(key)]
}

func (r *routines) put(key string, f *plan.Routine, replace bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key = strings.ToLower(key)
	if r.m[key] != nil && !replace {
		return false
	}
	if r.m == nil {
		r.m = map[string]*plan.Routine{}
	}
	r.m[key] = f
	return true
}

func (r *routines) drop(key string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	key = strings.ToLower(key)
	_, ok := r.m[key]
	delete(r.m, key)
	return ok
}

func (r *routines) copyFrom(o *routines) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.m = maps.Clone(o.m)
}

// all are the functions, in any order.
func (r *routines) all() []*plan.Routine {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.m))
}

// names are the full names.
func (r *routines) names() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var out []string
	for _, f := range r.m {
		out = append(out, strings.Join(f.Name, "."))
	}
	return out
}

// LookupRoutine implements analyze.Routines.
func (c lookup) LookupRoutine(parts []string) *plan.Routine {
	name, path := parts[len(parts)-1], strings.ToLower(strings.Join(parts[:len(parts)-1], "."))
	if path == "" || path == "session" || path == "system.session" {
		if f := c.s.routines.find(name); f != nil {
			return f
		}
		if path != "" {
			return nil
		}
	}
	db, err := c.s.namespaceName(parts[:len(parts)-1])
	if err != nil {
		return nil
	}
	return c.s.server.routines.find(db + "." + name)
}

// routineKey is where a function is kept and by what name, with the name that messages use.
func (s *Session) routineKey(parts []string, temp bool) (where *routines, key, shown string, full []string, err error) {
	name := parts[len(parts)-1]
	if temp {
		return &s.routines, name, errclass.Ident(name), []string{name}, nil
	}
	db, err := s.namespaceName(parts[:len(parts)-1])
	if err != nil {
		return nil, "", "", nil, err
	}
	return &s.server.routines, db + "." + name, errclass.Ident(db, name), []string{catalog.Name, db, name}, nil
}

func (s *Session) createFunction(ctx context.Context, st *plan.CreateFunction) error {
	where, key, shown, full, err := s.routineKey(st.Routine.Name, st.Temp)
	if err != nil {
		return err
	}
	f := st.Routine
	f.Name = full
	f.Created = s.server.Runtime.Clock.Now()
	f.Conf = map[string]string{setting.ANSI: s.Conf.Value(setting.ANSI), setting.TimeZone: s.Conf.Value(setting.TimeZone)}
	if err := checkDefaults(f); err != nil {
		return err
	}
	if where.find(key) != nil && !st.Replace {
		if st.IfNotExists {
			return nil
		}
		const kind = "routine"
		return errclass.New("ROUTINE_ALREADY_EXISTS", "routineName", shown, "newRoutineType", kind, "existingRoutineType", kind)
	}
	if f.Class != "" {
		if st.Temp { // which has its class loaded at once
			if s.FunctionExists(f.Name[0]) && !st.Replace {
				return errclass.New("ROUTINE_ALREADY_EXISTS", "routineName", shown, "newRoutineType", "routine", "existingRoutineType", "routine")
			}
			return errclass.New("CANNOT_LOAD_FUNCTION_CLASS", "className", f.Class, "functionName", shown)
		}
	} else if err := s.checkRoutineShape(&f, st.Temp); err != nil {
		return err
	} else if err := s.checkRoutine(ctx, &f); err != nil {
		return err
	}
	if !where.put(key, &f, st.Replace) && !st.IfNotExists {
		const kind = "routine"
		return errclass.New("ROUTINE_ALREADY_EXISTS", "routineName", shown, "newRoutineType", kind, "existingRoutineType", kind)
	}
	return nil
}

// checkDefaults checks that parameters with a default come last.
func checkDefaults(f plan.Routine) error {
	for i, p := range f.Params {
		if i > 0 && p.Default == nil && f.Params[i-1].Default != nil {
			return errclass.New("USER_DEFINED_FUNCTIONS.NOT_A_VALID_DEFAULT_PARAMETER_POSITION", "functionName", f.Name[len(f.Name)-1],
				"parameterName", f.Params[i-1].Name, "nextParameterName", p.Name)
		}
	}
	return nil
}

// checkRoutineShape checks what a function's definition tells without resolving its body.
func (s *Session) checkRoutineShape(f *plan.Routine, temp bool) error {
	name := f.Name[len(f.Name)-1]
	if f.Columns != nil {
		for i, c := range f.Columns.Fields {
			if f.Columns.IndexFold(c.Name) < i {
				return errclass.New("DUPLICATE_ROUTINE_RETURNS_COLUMNS", "name", name, "columns", errclass.Ident(c.Name))
			}
		}
	}
	if temp {
		return nil
	}
	var err error
	refuse := func(other []string, kind string) {
		if err == nil {
			err = errclass.New("INVALID_TEMP_OBJ_REFERENCE", "obj", "FUNCTION", "objName", errclass.Ident(f.Name[len(f.Name)-2:]...), "tempObj", kind, "tempObjName", errclass.Ident(other...))
		}
	}
	body := f.Query
	if f.Body != nil {
		body = &plan.Project{Cols: []plan.Expr{f.Body}, Child: &plan.OneRow{}}
	}
	s.temporaries(body, refuse)
	return err
}

// checkRoutine resolves a function's body over rows of its parameters, and settles the types that were not written.
func (s *Session) checkRoutine(ctx context.Context, f *plan.Routine) error {
	st := types.StructType{}
	for i, p := range f.Params {
		for _, other := range f.Params[:i] {
			if strings.EqualFold(other.Name, p.Name) {
				return errclass.New("DUPLICATE_ROUTINE_PARAMETER_NAMES", "routineName", errclass.Ident(f.Name[len(f.Name)-1]), "names", errclass.Ident(p.Name))
			}
		}
		st.Fields = append(st.Fields, types.NewField(p.Name, p.Type))
	}
	params := &plan.Local{Out: plan.Attrs(st)}
	if f.Query != nil {
		left := &plan.Aliased{Name: f.Name[len(f.Name)-1], Child: params}
		n, err := s.Analyze(ctx, &plan.Join{Left: left, Right: f.Query, Kind: plan.Cross, Lateral: true})
		if err != nil {
			return err
		}
		out := n.Output()[len(params.Out):]
		if f.Columns == nil {
			if p, ok := f.Query.(*plan.Project); ok && slices.ContainsFunc(p.Cols, nameless) {
				return errclass.New("USER_DEFINED_FUNCTIONS.SQL_TABLE_UDF_MISSING_COLUMN_NAMES", "functionName", errclass.Ident(f.Name[len(f.Name)-1]))
			}
			c := plan.Schema(n)
			f.Columns = &types.StructType{Fields: c.Fields[len(params.Out):]}
		} else if len(f.Columns.Fields) != len(out) {
			return errclass.New("USER_DEFINED_FUNCTIONS.RETURN_COLUMN_COUNT_MISMATCH", "name", f.Name[len(f.Name)-1],
				"outputSize", strconv.Itoa(len(out)), "returnParamSize", strconv.Itoa(len(f.Columns.Fields)))
		}
		return nil
	}
	n, err := s.Analyze(ctx, &plan.Project{Cols: []plan.Expr{&plan.Alias{Child: f.Body, Name: "value"}}, Child: params})
	if err != nil {
		return err
	}
	if p, plain := n.(*plan.Project); !plain || slices.ContainsFunc(p.Children(), isGrouped) {
		return errclass.New("USER_DEFINED_FUNCTIONS.CANNOT_CONTAIN_COMPLEX_FUNCTIONS", "queryText", f.Text)
	}
	if f.Returns == nil {
		f.Returns = plan.Schema(n).Fields[0].Type
	}
	return nil
}

func (s *Session) dropFunction(st *plan.DropFunction) error {
	where, key, shown, _, err := s.routineKey(st.Name, st.Temp)
	if err != nil {
		return err
	}
	if st.Temp && s.dropNamed(key) {
		return nil
	}
	if len(st.Name) == 1 && s.FunctionExists(st.Name[0]) && where.find(key) == nil {
		return errclass.New("FORBIDDEN_OPERATION", "statement", "DROP", "objectType", "FUNCTION", "objectName", errclass.Ident(st.Name[0]))
	}
	if !where.drop(key) && !st.IfExists {
		return errclass.New("ROUTINE_NOT_FOUND", "routineName", shown)
	}
	return nil
}

// nameless tells whether an item of a select list has no name but the one that is made of its text.
func nameless(e plan.Expr) bool {
	switch e.(type) {
	case *plan.Alias, *plan.Column, *plan.Star, *plan.Extract:
		return false
	}
	return true
}

// isGrouped tells whether a node computes more than values of one row.
func isGrouped(n plan.Node) bool {
	switch n.(type) {
	case *plan.Aggregate, *plan.WindowFuncs, *plan.Generate:
		return true
	}
	return false
}

// extendedLines are what DESCRIBE FUNCTION EXTENDED tells beside the types.
func extendedLines(f *plan.Routine, title func(string) string, zone *time.Location) []string {
	var lines []string
	if f.Comment != "" {
		lines = append(lines, title("Comment:")+f.Comment)
	}
	access := "CONTAINS SQL"
	if f.Reads {
		access = "READS SQL DATA"
	}
	lines = append(lines, title("Deterministic:")+strconv.FormatBool(!f.Varies), title("Data Access:")+access)
	label := title("Configs:")
	for _, k := range slices.Sorted(maps.Keys(f.Conf)) {
		lines = append(lines, label+k+"="+f.Conf[k])
		label = title("")
	}
	return append(lines, title("Create Time:")+f.Created.In(zone).Format(createdTime), title("Body:")+f.Text)
}

// describeRoutine is the answer of DESCRIBE FUNCTION for a function written in SQL.
func describeRoutine(f *plan.Routine, extended bool, zone *time.Location) (plan.Node, error) {
	kind, result := "SCALAR", ""
	if f.Query != nil {
		kind = "TABLE"
	} else {
		result = f.Returns.SQL()
	}
	wideLabel := 10
	if extended {
		wideLabel = 15
	}
	title := func(s string) string { return fmt.Sprintf("%-*s", wideLabel, s) }
	lines := []string{title("Function:") + strings.Join(f.Name, "."), title("Type:") + kind}
	label := title("Input:")
	wide := [2]int{}
	for _, p := range f.Params {
		wide[0], wide[1] = max(wide[0], len(p.Name)), max(wide[1], len(p.Type.SQL()))
	}
	for _, p := range f.Params {
		lines = append(lines, fmt.Sprintf("%s%-*s %-*s", label, wide[0], p.Name, wide[1], p.Type.SQL()))
		label = title("")
	}
	if len(f.Params) == 0 {
		lines = append(lines, title("Input:")+"()")
	}
	if f.Query == nil {
		lines = append(lines, title("Returns:")+result)
	} else {
		label = title("Returns:")
		wide := [2]int{}
		for _, c := range f.Columns.Fields {
			wide[0], wide[1] = max(wide[0], len(c.Name)), max(wide[1], len(c.Type.SQL()))
		}
		for _, c := range f.Columns.Fields {
			lines = append(lines, fmt.Sprintf("%s%-*s %-*s", label, wide[0], c.Name, wide[1], c.Type.SQL()))
			label = title("")
		}
	}
	if extended {
		lines = append(lines, extendedLines(f, title, zone)...)
	}
	rows := make([]types.Row, len(lines))
	for i, l := range lines {
		rows[i] = types.Row{l}
	}
	return plan.LocalRows(types.Struct(text1("function_desc")), rows)
}

// describeClass is the answer of DESCRIBE FUNCTION for a function that is a class of the JVM.
func describeClass(f *plan.Routine, extended bool) (plan.Node, error) {
	rows := []types.Row{{"Function: " + strings.Join(f.Name, ".")}, {"Class: " + f.Class}, {"Usage: N/A."}}
	if extended {
		rows = append(rows, types.Row{"Extended Usage:\n    No example/argument for " + f.Name[len(f.Name)-1] + ".\n"})
	}
	return plan.LocalRows(types.Struct(text1("function_desc")), rows)
}
