package main

import "github.com/millrace/millrace/internal/connector"

// registerConnectors makes the engine's own sources and sinks known.
func registerConnectors() { connector.RegisterAll() }
