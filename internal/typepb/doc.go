// Package typepb translates data types between package types and the messages of the protocol, for the client and for the server.
//
// It knows those two and nothing else. It is tested by the law that a type survives the way there and back.
package typepb
