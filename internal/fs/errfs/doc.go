// Package errfs makes file systems fail on purpose.
//
// Wrap makes chosen operations of another file system fail, write half of what they were given,
// or stop everything as a crash does. Mem is a file system in memory that knows which content
// and which names were synced: its Crash gives the file system as it may be found after a power
// cut. Together they test that a sequence of operations leaves something usable wherever it is
// cut off:
//
//	for k := 1; ; k++ {
//		mem := errfs.NewMem()
//		cut := errfs.CrashAt(k)
//		run(errfs.Wrap(mem, cut))
//		check(mem.Crash(nil))
//		if !cut.Hit() { break }
//	}
package errfs
