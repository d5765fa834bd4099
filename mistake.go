package millrace

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/millrace/millrace/internal/connectpb"
)

// The packages whose functions are never the place of a mistake.
const (
	rootPackage      = "github.com/millrace/millrace."
	functionsPackage = "github.com/millrace/millrace/functions."
)

// mistake adds to an error of a building method where the program called it. The method itself goes on; the error comes out of the
// first call that takes a context.
func mistake(err error) error {
	if err == nil {
		return nil
	}
	method, file, line := callSite()
	if file == "" {
		return err
	}
	return &placed{method: method, file: file, line: line, err: err}
}

// placedAt notes in an expression where the program made it, for the errors that the engine finds.
func placedAt(e *connectpb.Expression) *connectpb.Expression {
	method, file, line := callSite()
	if file == "" {
		return e
	}
	// The protocol knows the places of programs in Python and on the JVM. Python's is a call and a line of text, which fits.
	e.Common = &connectpb.ExpressionCommon{Origin: &connectpb.Origin{Function: &connectpb.Origin_PythonOrigin{
		PythonOrigin: &connectpb.PythonOrigin{Fragment: method, CallSite: file + ":" + strconv.Itoa(line)},
	}}}
	return e
}

// placed is an error with its place in the program.
type placed struct {
	method, file string
	line         int
	err          error
}

// Error gives "main.go:31: Select: [CLASS] text".
func (p *placed) Error() string { return fmt.Sprintf("%s:%d: %s: %v", p.file, p.line, p.method, p.err) }

// Unwrap gives the mistake without its place.
func (p *placed) Unwrap() error { return p.err }

// callSite finds the innermost call from outside into this package or package functions.
func callSite() (method, file string, line int) {
	pcs := make([]uintptr, 32)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		inside := strings.HasPrefix(f.Function, rootPackage) || strings.HasPrefix(f.Function, functionsPackage)
		if !inside {
			return method, f.File, f.Line
		}
		method = methodName(f.Function)
		if !more {
			return "", "", 0
		}
	}
}

// methodName takes the name out of "module/pkg.(*DataFrame).Select", "module/pkg.Sum[...]" or "module/pkg.Sum[...].func1".
func methodName(function string) string {
	parts := strings.Split(strings.ReplaceAll(function[strings.LastIndexByte(function, '/')+1:], "[...]", ""), ".")
	for len(parts) > 1 && strings.HasPrefix(parts[len(parts)-1], "func") {
		parts = parts[:len(parts)-1]
	}
	return parts[len(parts)-1]
}

// firstError returns the first mistake among several.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
