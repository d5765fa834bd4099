package delta

import (
	"strconv"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/types"
)

// The columns that a change data feed has beside those of the table, and the folder of files that are written for it.
const (
	ChangeColumn  = "_change_type"
	VersionColumn = "_commit_version"
	TimeColumn    = "_commit_timestamp"
	ChangesDir    = "_change_data"
)

// ChangeColumns are the columns that a change data feed has beside those of the table.
var ChangeColumns = []types.Field{
	{Name: ChangeColumn, Type: types.String, Nullable: true},
	{Name: VersionColumn, Type: types.Long, Nullable: true},
	{Name: TimeColumn, Type: types.Timestamp, Nullable: true},
}

// ChangeKind says what became of a row.
type ChangeKind string

// The kinds of changes. Of an updated row there is one with its old values and one with the new.
const (
	RowInserted ChangeKind = "insert"
	RowDeleted  ChangeKind = "delete"
	RowBefore   ChangeKind = "update_preimage"
	RowAfter    ChangeKind = "update_postimage"
)

// Change is a file whose rows are changes of a version.
type Change struct {
	*Add
	Version Version
	// Kind is what became of all rows; it is empty for a file that says so row by row.
	Kind ChangeKind
	// Only are the rows that count; nil stands for all but those that the file's deletion vector names.
	Only *Deleted
}

// ChangeFeed tells whether changes are recorded so that the feed has all of them.
func (m *Metadata) ChangeFeed() bool { return m.Configuration[propCDF] == "true" }

// NoChangeFeed is the error for versions whose changes are not recorded.
func NoChangeFeed(start, end, version int64) error {
	return errclass.New("DELTA_MISSING_CHANGE_DATA",
		"startVersion", strconv.FormatInt(start, 10), "endVersion", strconv.FormatInt(end, 10), "version", strconv.FormatInt(version, 10), "key", propCDF)
}

// Changes are the changes of a commit: the files that were written for the feed, or if there are none the files that were added and
// removed, which the rows came and went with.
func (l *Log) Changes(v Version, actions []Action) ([]Change, error) {
	var out []Change
	removed := map[string]*Remove{}
	for _, a := range actions {
		switch {
		case a.CDC != nil:
			out = append(out, Change{Add: &Add{Path: a.CDC.Path, PartitionValues: a.CDC.PartitionValues, Size: a.CDC.Size}, Version: v})
		case a.Remove != nil && a.Remove.DataChange:
			removed[a.Remove.Path] = a.Remove
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	for _, a := range actions {
		if a.Add == nil || !a.Add.DataChange {
			continue
		}
		was := removed[a.Add.Path]
		if was == nil {
			out = append(out, Change{Add: a.Add, Version: v, Kind: RowInserted})
			continue
		}
		delete(removed, a.Add.Path)
		marked, err := l.remarked(v, was, a.Add)
		if err != nil {
			return nil, err
		}
		out = append(out, marked...)
	}
	for _, a := range actions {
		if a.Remove != nil && removed[a.Remove.Path] == a.Remove {
			out = append(out, Change{Add: a.Remove.file(), Version: v, Kind: RowDeleted})
		}
	}
	return out, nil
}

// file is the file that the action takes out, as far as it says.
func (r *Remove) file() *Add {
	a := &Add{Path: r.Path, PartitionValues: r.PartitionValues, DeletionVector: r.DeletionVector}
	if r.Size != nil {
		a.Size = *r.Size
	}
	return a
}

// remarked are the rows of a file that stays, whose deletion vector a version has changed.
func (l *Log) remarked(v Version, was *Remove, is *Add) ([]Change, error) {
	before, err := l.marks(was.file())
	if err != nil {
		return nil, err
	}
	after, err := l.marks(is)
	if err != nil {
		return nil, err
	}
	var out []Change
	for _, c := range []struct {
		kind       ChangeKind
		rows, less *roaring64.Bitmap
	}{{RowDeleted, after, before}, {RowInserted, before, after}} {
		if rows := roaring64.AndNot(c.rows, c.less); !rows.IsEmpty() {
			out = append(out, Change{Add: is, Version: v, Kind: c.kind, Only: rows})
		}
	}
	return out, nil
}

// marks are the rows of a file that are deleted, which may be none.
func (l *Log) marks(a *Add) (*roaring64.Bitmap, error) {
	d, err := l.Deleted(a)
	if err != nil || d == nil {
		return roaring64.New(), err
	}
	return d, nil
}
