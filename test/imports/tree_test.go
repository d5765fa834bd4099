package imports

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

const module = "github.com/millrace/millrace"

// rootName is what the root package is called in layers.txt and in messages.
const rootName = "millrace"

// tree is the Go source of a repository.
type tree struct {
	files []*file
	fset  *token.FileSet
}

type file struct {
	path      string
	pkg       string // directory, or rootName
	test      bool   // _test.go
	generated bool
	foreign   bool // belongs to a nested module: tools
	lines     int
	ast       *ast.File // imports only where generated
	imports   []string  // as written
}

var generatedLine = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// readTree parses every Go file, whatever its build constraints say.
func readTree(root fs.FS) (*tree, error) {
	t := &tree{fset: token.NewFileSet()}
	var foreign []string // directories of nested modules
	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if p != "." && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(root, path.Join(p, "go.mod")); err == nil && p != "." {
				foreign = append(foreign, p+"/")
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		src, err := fs.ReadFile(root, p)
		if err != nil {
			return err
		}
		f := &file{
			path:      p,
			pkg:       path.Dir(p),
			test:      strings.HasSuffix(name, "_test.go"),
			generated: generatedLine.Match(src),
			lines:     bytes.Count(src, []byte("\n")),
		}
		if f.pkg == "." {
			f.pkg = rootName
		}
		for _, dir := range foreign {
			f.foreign = f.foreign || strings.HasPrefix(p, dir)
		}
		mode := parser.ParseComments | parser.SkipObjectResolution
		if f.generated {
			mode |= parser.ImportsOnly
		}
		if f.ast, err = parser.ParseFile(t.fset, p, src, mode); err != nil {
			return fmt.Errorf("parse: %w", err)
		}
		for _, spec := range f.ast.Imports {
			imp, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return fmt.Errorf("%s: import %s: %w", p, spec.Path.Value, err)
			}
			f.imports = append(f.imports, imp)
		}
		t.files = append(t.files, f)
		return nil
	})
	return t, err
}

// inModule gives the name by which layers.txt knows an imported package, and whether it is one of ours.
func inModule(imp string) (string, bool) {
	if imp == module {
		return rootName, true
	}
	return strings.CutPrefix(imp, module+"/")
}

// imports maps each package to what its files import, tests left out, and each import to a file that has it.
func (t *tree) imports() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, f := range t.files {
		if f.test || f.foreign {
			continue
		}
		if out[f.pkg] == nil {
			out[f.pkg] = map[string]string{}
		}
		for _, imp := range f.imports {
			if own, ok := inModule(imp); ok {
				imp = own
			}
			out[f.pkg][imp] = f.path
		}
	}
	return out
}

// layers is the table of layers.txt.
type layers map[string][]string

func parseLayers(text string) (layers, error) {
	out, named := layers{}, layers{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		into, key, list, ok := out, "", "", false
		if strings.HasPrefix(line, "@") {
			into = named
			key, list, ok = strings.Cut(line, "=")
		} else {
			key, list, ok = strings.Cut(line, ":")
		}
		key = strings.TrimSpace(key)
		if !ok || strings.ContainsAny(key, " \t") {
			return nil, fmt.Errorf("line %d: want \"package: imports\", got %q", i+1, line)
		}
		if _, twice := into[key]; twice {
			return nil, fmt.Errorf("line %d: %s has a line already", i+1, key)
		}
		var pkgs []string
		for _, word := range strings.Fields(list) {
			if !strings.HasPrefix(word, "@") {
				pkgs = append(pkgs, word)
				continue
			}
			if _, ok := named[word]; !ok {
				return nil, fmt.Errorf("line %d: %s is not defined above", i+1, word)
			}
			pkgs = append(pkgs, named[word]...)
		}
		into[key] = pkgs
	}
	for pkg, allowed := range out {
		for _, a := range allowed {
			if a == "..." {
				continue
			}
			if _, ok := out.find(strings.TrimSuffix(a, "/...")); !ok {
				return nil, fmt.Errorf("%s may import %s, which has no line", pkg, a)
			}
		}
	}
	return out, nil
}

// matches tells whether pattern, a package or "x/...", covers pkg.
func matches(pattern, pkg string) bool {
	base, below := strings.CutSuffix(pattern, "...")
	if !below {
		return pattern == pkg
	}
	return strings.HasPrefix(pkg+"/", base)
}

// find returns the key of the longest line that fits a package; one that names it exactly beats all.
func (l layers) find(pkg string) (string, bool) {
	if _, ok := l[pkg]; ok {
		return pkg, true
	}
	best := ""
	for pattern := range l {
		if matches(pattern, pkg) && len(pattern) > len(best) {
			best = pattern
		}
	}
	return best, best != ""
}
