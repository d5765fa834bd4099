package delta

import (
	"context"
	"strconv"
	"time"

	core "github.com/millrace/millrace/internal/delta"

	"github.com/millrace/millrace/internal/errclass"
)

// changeRange reads the options that say from which version to which, both included, the changes are wanted.
func (t *Table) changeRange() (start, end int64, err error) {
	latest := t.snap.Version
	start, ok, err := t.bound("starting", true)
	if err != nil {
		return 0, 0, err
	}
	if !ok {
		return 0, 0, errclass.New("DELTA_NO_START_FOR_CDC_READ")
	}
	if start > latest {
		return 0, 0, errclass.New("DELTA_CDC_START_VERSION_AFTER_LATEST", "start", strconv.FormatInt(start, 10), "latest", strconv.FormatInt(latest, 10))
	}
	end, ok, err = t.bound("ending", false)
	if err != nil {
		return 0, 0, err
	}
	if !ok || end > latest {
		end = latest
	}
	if end < start {
		return 0, 0, errclass.New("DELTA_INVALID_CDC_RANGE", "start", strconv.FormatInt(start, 10), "end", strconv.FormatInt(end, 10))
	}
	return start, end, nil
}

// bound reads startingVersion or startingTimestamp, or those that begin with ending. A time stands for the first version that is not
// before it, or the last one that is not after it.
func (t *Table) bound(side string, first bool) (version int64, ok bool, err error) {
	text, byVersion := t.req.Options.Get(side + "Version")
	stamp, byTime := t.req.Options.Get(side + "Timestamp")
	switch {
	case byVersion && byTime:
		return 0, false, errclass.New("DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET", "version", text, "timestamp", stamp)
	case byVersion && text == "latest":
		return t.snap.Version, true, nil
	case byVersion:
		version, err = strconv.ParseInt(text, 10, 64)
		if err != nil || version < 0 {
			return 0, false, illegalOption(side+"Version", text, "it must be a version or latest.")
		}
		return version, true, nil
	case !byTime:
		return 0, false, nil
	}
	if first {
		version, err = t.versionFrom(stamp)
		return version, true, err
	}
	at, ok := parseTime(stamp, t.env.Zone)
	if !ok {
		return 0, false, errclass.New("DELTA_TIMESTAMP_INVALID", "expr", "'"+stamp+"'")
	}
	versions, err := t.snap.Log().Versions()
	if err != nil {
		return 0, false, err
	}
	v, ok, _ := core.At(versions, at)
	if !ok {
		return -1, true, nil
	}
	return v.Number, true, nil
}

// versionFrom is the first version that is not before a time.
func (t *Table) versionFrom(text string) (int64, error) {
	at, ok := parseTime(text, t.env.Zone)
	if !ok {
		return 0, errclass.New("DELTA_TIMESTAMP_INVALID", "expr", "'"+text+"'")
	}
	versions, err := t.snap.Log().Versions()
	if err != nil {
		return 0, err
	}
	for _, v := range versions {
		if !v.Time.Before(at) {
			return v.Number, nil
		}
	}
	last := time.Time{}
	if n := len(versions); n > 0 {
		last = versions[n-1].Time
	}
	return 0, errclass.New("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", "providedTimestamp", text, "commitTimestamp", last.UTC().Format(stampLayout))
}

// changes are the files with the changes of the versions that the options ask for.
func (t *Table) changes(ctx context.Context) ([]core.Change, error) {
	start, end, err := t.changeRange()
	if err != nil {
		return nil, err
	}
	log := t.snap.Log()
	if err := recorded(ctx, log, start, end); err != nil {
		return nil, err
	}
	versions, err := log.Versions()
	if err != nil {
		return nil, err
	}
	var out []core.Change
	for _, v := range versions {
		if v.Number < start || v.Number > end {
			continue
		}
		actions, err := log.Read(v.Number)
		if err != nil {
			return nil, err
		}
		for _, a := range actions {
			if a.Metadata != nil && !a.Metadata.ChangeFeed() {
				return nil, core.NoChangeFeed(start, end, v.Number)
			}
		}
		more, err := log.Changes(v, actions)
		if err != nil {
			return nil, err
		}
		out = append(out, more...)
	}
	return out, nil
}

// recorded checks that the change data feed was on in the first of some versions.
func recorded(ctx context.Context, log *core.Log, start, end int64) error {
	snap, err := log.Snapshot(ctx, start)
	if err == nil && !snap.Metadata.ChangeFeed() {
		return core.NoChangeFeed(start, end, start)
	}
	return err
}
