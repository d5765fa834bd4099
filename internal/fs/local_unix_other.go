//go:build unix && !linux

package fs

import "errors"

func renameNoReplace(_, _ string) error { return errors.ErrUnsupported }
