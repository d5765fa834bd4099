package checkpoint

import (
	"bytes"
	"strconv"
)

// cutVersion takes the first line off a log file, "v" and a number, and checks the version. Rest starts
// behind the line feed.
func cutVersion(content []byte, newest int) (version int, rest []byte, err error) {
	if len(content) == 0 {
		return 0, nil, errEmpty
	}
	line, rest, _ := bytes.Cut(content, []byte{'\n'})
	line = bytes.TrimSpace(line)
	if len(line) < 2 || line[0] != 'v' {
		return 0, nil, headerError{string(line)}
	}
	version, err = strconv.Atoi(string(line[1:]))
	if err != nil || version < 1 {
		return 0, nil, headerError{string(line)}
	}
	if version > newest {
		return 0, nil, versionError{version, newest}
	}
	return version, rest, nil
}

// eachLine calls f for the lines of a file behind its first one. A line feed at the very end
// makes no empty line. Numbers start at 2, as an editor shows them.
func eachLine(rest []byte, f func(n int, line []byte) error) error {
	for n := 2; len(rest) > 0; n++ {
		var line []byte
		line, rest, _ = bytes.Cut(rest, []byte{'\n'})
		if err := f(n, bytes.TrimSuffix(line, []byte{'\r'})); err != nil {
			return err
		}
	}
	return nil
}
