//go:build unix

package fs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// openToSync opens for reading: fsync works on the file, not on the descriptor, and a file that
// was made read-only can be synced too.
func openToSync(name string) (*os.File, error) { return os.Open(name) }

func syncDir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, unix.EINVAL) { // some network file systems have nothing to sync in a directory
		err = nil
	}
	return errors.Join(err, d.Close())
}

func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOLCK): // NFS without a lock server
			return errors.ErrUnsupported
		case errors.Is(err, unix.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}
