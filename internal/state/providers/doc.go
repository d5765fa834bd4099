// Package providers lists the state providers that there are, by the names that a session asks for and that offset logs have.
//
// It knows nothing of what a provider needs to run; package stream does. It is tested through those who read states.
package providers
