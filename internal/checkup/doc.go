// Package checkup looks after checkpoints that no query runs on: it shows what is in one, finds what is damaged, and takes one back to the
// newest batch from which a query can go on.
//
// It knows the files of package checkpoint and of the state providers, and nothing of plans. Looking changes nothing and needs no lock;
// repairing takes the checkpoint's lock.
//
// Tests damage every kind of file in every way and want a finding that names it, and a query that goes on after the repair.
package checkup
