package main

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	uuids     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	stamps    = regexp.MustCompile(`("batchTimestampMs"|"modificationTime"):\d+`)
	sizes     = regexp.MustCompile(`"size":\d+`)
	dataFiles = regexp.MustCompile(`part-\d{5}-[^"/]*?(\.[a-z.]+)"`)
	numbers   = regexp.MustCompile(`^\d+$`)
)

// mask replaces what no two runs have in common: the folder, ids, times, and names and sizes of data files. What a batch has written is
// sorted, and files that are then the same count once: which task wrote which file, and how many of them had rows, is chance.
func mask(name, text, dir string, prog *program) (string, error) {
	for _, d := range []string{dir, (&url.URL{Path: dir}).EscapedPath()} {
		text = strings.ReplaceAll(text, d, "/dir")
	}
	text = uuids.ReplaceAllString(text, "<uuid>")
	text = stamps.ReplaceAllString(text, "$1:<time>")
	lines := strings.Split(text, "\n")
	switch {
	case strings.HasPrefix(name, "out/_spark_metadata/"):
		for i, l := range lines {
			l = sizes.ReplaceAllString(l, `"size":<size>`)
			lines[i] = dataFiles.ReplaceAllString(l, `part-<file>$1"`)
		}
		slices.Sort(lines[1:])
		lines = slices.Compact(lines)
	case prog.untimed && strings.HasPrefix(name, "checkpoint/offsets/"):
		for i, l := range lines {
			if numbers.MatchString(l) {
				lines[i] = "<seconds>"
			}
		}
	case prog.untimed && path.Base(name) == "0" && strings.HasPrefix(name, "checkpoint/sources/") && len(lines) == 2 && numbers.MatchString(lines[1]):
		lines[1] = "<time>"
	}
	return strings.Join(lines, "\n"), nil
}

// byNumber sorts names as people count.
func byNumber(a, b string) int {
	da, db := path.Dir(a), path.Dir(b)
	if da != db {
		return strings.Compare(da, db)
	}
	na, ea := strconv.Atoi(strings.TrimSuffix(path.Base(a), ".compact"))
	nb, eb := strconv.Atoi(strings.TrimSuffix(path.Base(b), ".compact"))
	if ea == nil && eb == nil && na != nb {
		return na - nb
	}
	return strings.Compare(a, b)
}

// difference shows the first lines in which two texts are different.
func difference(a, b string) error {
	if a == b {
		return nil
	}
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	file := ""
	for i := range max(len(as), len(bs)) {
		var x, y string
		if i < len(as) {
			x = as[i]
		}
		if i < len(bs) {
			y = bs[i]
		}
		if x != y {
			return fmt.Errorf("below %s line %d is different\n  Spark    %s\n  millrace %s", file, i+1, x, y)
		}
		if strings.HasPrefix(x, "-- ") {
			file = x
		}
	}
	return nil
}
