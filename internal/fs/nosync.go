package fs

// WithoutSync gives a file system whose content and names are left to the kernel to write down.
// It is for what need not survive the process: the temporary checkpoints of queries that were
// started without one.
func WithoutSync(fsys FS) FS { return unsynced{fsys} }

type unsynced struct{ FS }

func (u unsynced) Create(name string) (Writer, error) {
	w, err := u.FS.Create(name)
	if err != nil {
		return nil, err
	}
	return unsyncedWriter{w}, nil
}

// Sync keeps the promise that a missing file is an error.
func (u unsynced) Sync(name string) error {
	_, err := u.FS.Stat(name)
	return err
}

func (u unsynced) SyncDir(name string) error { return u.Sync(name) }

func (u unsynced) Link(from, to string) error { return Link(u.FS, from, to) }

type unsyncedWriter struct{ Writer }

func (unsyncedWriter) Sync() error { return nil }
