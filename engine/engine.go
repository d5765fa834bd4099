// Package engine links the engine into a program, so that millrace.Connect takes the addresses local, local[N] and local[*]:
//
//	import _ "github.com/millrace/millrace/engine"
//
// It owns nothing but the registration. Its test is the API's test-suite, which runs on it.
package engine
