package imports

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxLines is where a file is split by subject.
const maxLines = 800

// check runs every rule and returns what it found, one line each, sorted.
func check(t *tree, l layers) []string {
	var found []string
	for _, rule := range []func(*tree, layers) []string{
		importDirection, reach, protosInTests, packageNames, docComments, exportedNames, fileLengths, referenceCounts, initFunctions, unfinished, settingNames,
	} {
		found = append(found, rule(t, l)...)
	}
	slices.Sort(found)
	return found
}

// importDirection holds every import of our own against the table.
func importDirection(t *tree, l layers) []string {
	var found []string
	for pkg, imports := range t.imports() {
		line, ok := l.find(pkg)
		if !ok {
			found = append(found, pkg+": has no line in test/imports/layers.txt")
			continue
		}
		for imp, file := range imports {
			_, own := t.imports()[imp]
			if !own || imp == pkg || slices.ContainsFunc(l[line], func(p string) bool { return matches(p, imp) }) {
				continue
			}
			found = append(found, fmt.Sprintf("%s: %s may not import %s", file, pkg, imp))
		}
	}
	return found
}

// unreachable lists what a package and everything it links must not contain.
var unreachable = []struct {
	from string   // package or "x/..."
	to   []string // the same, or an import path from outside
	why  string
}{
	{
		rootName,
		[]string{
			"internal/connect/...", "internal/exec/...", "internal/vec/...", "internal/stream/...",
			"github.com/cockroachdb/pebble/...", "github.com/twmb/franz-go/...",
		},
		"a program that only talks to a remote server links no engine",
	},
	{"internal/vec/...", protos, noProtos},
	{"internal/expr/...", protos, noProtos},
	{"internal/state/...", protos, noProtos},
	{"internal/exec/...", protos, noProtos},
}

var protos = []string{"internal/connectpb", "google.golang.org/protobuf/...", "google.golang.org/grpc/..."}

const noProtos = "the engine's insides know nothing of the protocol"

// reach follows imports through our own packages.
func reach(t *tree, _ layers) []string {
	graph := t.imports()
	var found []string
	for _, rule := range unreachable {
		for _, start := range slices.Sorted(maps.Keys(graph)) {
			if !matches(rule.from, start) {
				continue
			}
			via := map[string]string{start: ""}
			for queue := []string{start}; len(queue) > 0; queue = queue[1:] {
				for _, imp := range slices.Sorted(maps.Keys(graph[queue[0]])) {
					if _, seen := via[imp]; seen {
						continue
					}
					via[imp] = queue[0]
					queue = append(queue, imp)
					if slices.ContainsFunc(rule.to, func(p string) bool { return matches(p, imp) }) {
						found = append(found, fmt.Sprintf("%s: %s", chain(via, imp), rule.why))
					}
				}
			}
		}
	}
	return found
}

// chain writes how a walk got to pkg: "a -> b -> c".
func chain(via map[string]string, pkg string) string {
	if via[pkg] == "" {
		return pkg
	}
	return chain(via, via[pkg]) + " -> " + pkg
}

// protosInTests keeps the engine's own tests off the protocol too.
func protosInTests(t *tree, _ layers) []string {
	var found []string
	for _, f := range t.files {
		if !f.test {
			continue
		}
		for _, rule := range unreachable {
			if rule.why != noProtos || !matches(rule.from, f.pkg) {
				continue
			}
			for _, imp := range f.imports {
				if imp == module+"/internal/connectpb" {
					found = append(found, f.path+": imports internal/connectpb: "+noProtos)
				}
			}
		}
	}
	return found
}

// packageNames refuses names that say nothing about the content.
func packageNames(t *tree, _ layers) []string {
	empty := []string{"util", "utils", "common", "misc", "helper", "helpers", "shared", "manager", "lib"}
	found := map[string]bool{}
	for _, f := range t.files {
		for _, name := range append(strings.Split(f.pkg, "/"), f.ast.Name.Name) {
			if slices.Contains(empty, strings.TrimSuffix(name, "_test")) {
				found[fmt.Sprintf("%s: %q says nothing about what the package owns", f.pkg, name)] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// docComments wants "Package x ..." or "Command x ..." in one file of each package; of an inner package it also says how it is tested.
func docComments(t *tree, _ layers) []string {
	documented, tested := map[string]bool{}, map[string]bool{}
	for _, f := range t.files {
		doc := f.ast.Doc.Text()
		documented[f.pkg] = documented[f.pkg] ||
			strings.HasPrefix(doc, "Package "+f.ast.Name.Name+" ") ||
			f.ast.Name.Name == "main" && strings.HasPrefix(doc, "Command "+path.Base(f.pkg)+" ")
		tested[f.pkg] = tested[f.pkg] || strings.Contains(strings.ToLower(doc), "test") || !strings.HasPrefix(f.pkg, "internal/")
	}
	var found []string
	for pkg, ok := range documented {
		if !ok {
			found = append(found, pkg+": has no package comment (doc.go)")
		} else if !tested[pkg] {
			found = append(found, pkg+": its package comment (doc.go) does not say how it is tested")
		}
	}
	return found
}

// exportedNames wants a sentence on every exported function, type, constant and variable. Methods are left to review:
// those that implement an interface say nothing new.
func exportedNames(t *tree, _ layers) []string {
	var found []string
	for _, f := range t.files {
		if f.test || f.generated || f.foreign {
			continue
		}
		bare := func(name *ast.Ident, docs ...*ast.CommentGroup) {
			if name.IsExported() && !slices.ContainsFunc(docs, func(d *ast.CommentGroup) bool { return d != nil }) {
				found = append(found, fmt.Sprintf("%s:%d: exported %s has no comment",
					f.path, t.fset.Position(name.Pos()).Line, name.Name))
			}
		}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					bare(d.Name, d.Doc)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						bare(s.Name, d.Doc, s.Doc, s.Comment)
					case *ast.ValueSpec:
						for _, name := range s.Names {
							bare(name, d.Doc, s.Doc, s.Comment)
						}
					}
				}
			}
		}
	}
	return found
}

func fileLengths(t *tree, _ layers) []string {
	var found []string
	for _, f := range t.files {
		if f.lines > maxLines && !f.generated {
			found = append(found, fmt.Sprintf("%s: has %d lines, split it by subject (at most %d)", f.path, f.lines, maxLines))
		}
	}
	return found
}

// referenceCounts leaves Retain and Release of Arrow values to internal/vec: with Go's allocator a forgotten Release
// is no leak, but one too early is a crash.
func referenceCounts(t *tree, _ layers) []string {
	var found []string
	for _, f := range t.files {
		arrow := slices.ContainsFunc(f.imports, func(imp string) bool { return strings.HasPrefix(imp, "github.com/apache/arrow-go/") })
		if !arrow || f.test || f.generated || f.foreign || matches("internal/vec/...", f.pkg) {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) > 0 {
				return true
			}
			if sel, ok := call.Fun.(*ast.SelectorExpr); ok && (sel.Sel.Name == "Retain" || sel.Sel.Name == "Release") {
				found = append(found, fmt.Sprintf("%s:%d: calls %s; only internal/vec counts references",
					f.path, t.fset.Position(call.Pos()).Line, sel.Sel.Name))
			}
			return true
		})
	}
	return found
}

// initFunctions keeps start-up explicit: only the blank import of engine does something.
func initFunctions(t *tree, _ layers) []string {
	var found []string
	for _, f := range t.files {
		if f.test || f.generated || f.pkg == "engine" {
			continue
		}
		for _, d := range f.ast.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				found = append(found, f.path+": has an init function; only engine has one")
			}
		}
	}
	return found
}

// unfinished finds the marks of work that was put off.
func unfinished(t *tree, _ layers) []string {
	marks := []string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}
	var found []string
	for _, f := range t.files {
		if f.generated {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				for _, word := range strings.FieldsFunc(c.Text, func(r rune) bool { return !('A' <= r && r <= 'Z' || 'a' <= r && r <= 'z') }) {
					if slices.Contains(marks, word) {
						found = append(found, fmt.Sprintf("%s:%d: %s in a comment: do it, or write an issue",
							f.path, t.fset.Position(c.Pos()).Line, word))
					}
				}
			}
		}
	}
	return found
}

// settingNames wants a setting that has a constant in package setting to be read by it. Programs and tests write settings as users do,
// and the offset log has those of Spark that it only carries.
func settingNames(t *tree, _ layers) []string {
	const owner = "internal/setting"
	texts := func(f *file, each func(text string)) {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				each(strings.Trim(l.Value, "\"`"))
			}
			return true
		})
	}
	known := map[string]bool{}
	for _, f := range t.files {
		if f.path == owner+"/names.go" {
			texts(f, func(text string) { known[text] = true })
		}
	}
	var found []string
	for _, f := range t.files {
		if f.test || !strings.HasPrefix(f.pkg, "internal/") || f.pkg == owner || strings.HasSuffix(f.pkg, "test") || f.pkg == "internal/errclass" ||
			f.path == "internal/stream/frozen.go" {
			continue
		}
		texts(f, func(text string) {
			if known[text] {
				found = append(found, fmt.Sprintf("%s: %q has a constant in %s", f.path, text, owner))
			}
		})
	}
	return found
}
