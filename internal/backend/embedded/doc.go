// Package embedded runs plans on the service in this process, the very one that a server exposes.
//
// Messages are handed over as they are and rows travel as Arrow records, which saves the wire and nothing else. With Exact they take the
// form that they would have on a wire, so that nothing can get past the protocol; tests run both ways. It knows the service and the
// seam; it is tested by the API's test-suite.
package embedded
