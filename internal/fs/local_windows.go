package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// renameNoReplace: the system call refuses an existing target unless it is told otherwise.
func renameNoReplace(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	if err := windows.MoveFileEx(f, t, windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

func openToSync(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDWR, 0) }

// syncDir has nothing to do: NTFS journals names, and directories cannot be flushed.
func syncDir(name string) error {
	_, err := os.Stat(name)
	return err
}

// lockFile locks a byte far behind the end: on this system a lock keeps others from reading
// the range it covers.
func lockFile(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
