package errclass

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestCallsOfNew looks at every call of New in the module whose arguments are literals: the
// condition must be registered and the parameters must be those of its template.
func TestCallsOfNew(t *testing.T) {
	root := moduleRoot(t)
	calls := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || filepath.Base(filepath.Dir(path)) == "errclass" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !bytes.Contains(src, []byte("internal/errclass")) {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		if err != nil {
			return nil // the compiler reports it better
		}
		calls += checkFile(t, fset, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d calls of New checked", calls)
}

func moduleRoot(t *testing.T) string {
	dir, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("the sources are not there")
		}
		dir = up
	}
}

func checkFile(t *testing.T, fset *token.FileSet, file *ast.File) (calls int) {
	local := ""
	for _, imp := range file.Imports {
		if p, _ := strconv.Unquote(imp.Path.Value); strings.HasSuffix(p, "/internal/errclass") {
			local = "errclass"
			if imp.Name != nil {
				local = imp.Name.Name
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 || call.Ellipsis.IsValid() {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || sel.Sel.Name != "New" {
			return true
		}
		if pkg, ok := sel.X.(*ast.Ident); !ok || pkg.Name != local {
			return true
		}
		class, ok := literal(call.Args[0])
		if !ok {
			return true
		}
		calls++
		if problem := checkCall(class, call.Args[1:]); problem != "" {
			t.Errorf("%s: %s", fset.Position(call.Pos()), problem)
		}
		return true
	})
	return calls
}

func checkCall(class string, args []ast.Expr) string {
	def, ok := registry[class]
	if !ok {
		return "the condition " + class + " is not registered"
	}
	if len(args)%2 != 0 {
		return class + ": a parameter has no value"
	}
	want, got := def.Params(), []string{}
	for i := 0; i < len(args); i += 2 {
		name, ok := literal(args[i])
		if !ok {
			return "" // names that are computed cannot be checked here
		}
		got = append(got, name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		return class + " has the parameters " + strings.Join(want, ", ") + ", not " + strings.Join(got, ", ")
	}
	return ""
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

func TestCheckCall(t *testing.T) {
	for src, want := range map[string]string{
		`New("PATH_NOT_FOUND", "path", p)`:         "",
		`New("PATH_NOT_FOUND")`:                    "PATH_NOT_FOUND has the parameters path, not ",
		`New("PATH_NOT_FOUND", "path")`:            "PATH_NOT_FOUND: a parameter has no value",
		`New("PATH_NOT_FOUND", "file", p)`:         "PATH_NOT_FOUND has the parameters path, not file",
		`New("PATH_NOT_FOUND", "path", p, "x", y)`: "PATH_NOT_FOUND has the parameters path, not path, x",
		`New("NO_SUCH")`:                           "the condition NO_SUCH is not registered",
		`New("PATH_NOT_FOUND", name, p)`:           "",
	} {
		e, err := parser.ParseExpr(src)
		if err != nil {
			t.Fatal(err)
		}
		call := e.(*ast.CallExpr)
		class, _ := literal(call.Args[0])
		if got := checkCall(class, call.Args[1:]); got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}
