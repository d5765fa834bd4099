package main

// registerConnectors makes the engine's own sources and sinks known.
func registerConnectors() {}
