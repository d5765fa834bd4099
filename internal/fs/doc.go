// Package fs is the seam between the engine and the file systems that hold checkpoints, state
// and data.
//
// It owns the small interface FS, the local implementation, the rule by which a file comes into
// being wholly or not at all (Stage, Round, WriteOnce, Replace), and the translation between
// paths and the file: addresses that Spark writes. It knows nothing of what the files hold.
//
// # Durability
//
// Three things must reach the disk before a file survives a power cut: its content (Sync), its
// name (SyncDir of the folder), and the folder itself (MakeDirs). A Round does the first for many
// files at once, then gives them their names, then does the second for all folders at once: two
// waits for the disk, however many files.
//
// # Tests
//
// Package errfs holds a file system in memory that forgets what was not synced when it
// crashes, and a wrapper that makes chosen operations fail.
package fs
