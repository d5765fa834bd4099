// Package connector registers the connectors that come with the engine.
//
// Each connector has a folder of its own and implements the public interfaces of packages source and sink; there is no other way
// in. The package itself knows only their names. It is tested by looking every name up.
package connector
