// Package statetest holds the laws that every provider's state as ordered bytes must keep: it is a map, through commits, aborts,
// restarts, failing disks and power failures, and damaged files are refused. Providers' tests call them.
package statetest
