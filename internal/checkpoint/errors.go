package checkpoint

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/fs"
)

// Parsers report what is wrong without knowing the file; the log that called them adds the
// name and what can be done (see fileError).

// headerError: the first line is not a version.
type headerError struct{ line string }

func (e headerError) Error() string {
	if e.line == "" {
		return "the first line is empty"
	}
	return fmt.Sprintf("the first line is %s", clip(e.line))
}

// versionError: the version is one that we cannot read.
type versionError struct{ version, newest int }

func (e versionError) Error() string {
	return fmt.Sprintf("version v%d is newer than v%d", e.version, e.newest)
}

var errEmpty = errors.New("the file is empty")

// fileError makes an error of what reading or parsing a file gave. The advice says how a user can
// go on.
func fileError(file string, err error, advice string) error {
	var header headerError
	var version versionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return errclass.New("BATCH_METADATA_NOT_FOUND", "batchMetadataFile", file).WithCause(err)
	case errors.As(err, &version):
		return errclass.New("INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION", "file", file,
			"maxSupportedVersion", strconv.Itoa(version.newest), "version", strconv.Itoa(version.version)).WithCause(err)
	case errors.As(err, &header):
		return errclass.New("MALFORMED_LOG_FILE", "file", file, "text", clip(header.line), "advice", advice).WithCause(err)
	}
	if sum, ok := errors.AsType[*errclass.Error](err); ok {
		return sum
	}
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("read %s: %w", file, err)
	}
	return errclass.New("STREAMING_CHECKPOINT_CORRUPT_FILE", "file", file, "reason", err.Error(), "advice", advice).WithCause(err)
}

// addError makes an error of what adding a log entry gave.
func addError(file string, id int64, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) {
		return errclass.New("CONCURRENT_STREAM_LOG_UPDATE", "batchId", strconv.FormatInt(id, 10)).WithCause(err)
	}
	return fmt.Errorf("write %s: %w", file, err)
}

const restoreAdvice = "Restore the file from a copy, or start the query with a new checkpoint location."
