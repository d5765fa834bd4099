package parquetfile

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/connector/files"
	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/sink"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// calendars are those of the days and times of a file.
type calendars struct {
	days, int96 datetime.Rebase // int96 is for times in 96 bits
	zone        *time.Location  // in which days begin
	// What is said about a day or time that may mean two.
	ancientDay, ancientInt96 error
}

// The keys by which Spark tells about them. Files say so only when they are in the old one.
const (
	oldDaysKey  = "org.apache.spark.legacyDateTime"
	oldInt96Key = "org.apache.spark.legacyINT96"
	zoneKey     = "org.apache.spark.timeZone"
)

// unsaid are the calendars of files that do not tell it themselves.
type unsaid struct{ days, int96 files.Calendar }

func newUnsaid(req source.Request) unsaid {
	return unsaid{
		files.NewCalendar(req, "datetimeRebaseMode", setting.ParquetReadCalendar),
		files.NewCalendar(req, "int96RebaseMode", setting.Int96ReadCalendar),
	}
}

// of are the calendars of a file. Its days begin in UTC unless it tells another zone.
func (u unsaid) of(meta metadata.KeyValueMetadata) (out calendars, err error) {
	text := func(key string) string {
		if v := meta.FindValue(key); v != nil {
			return *v
		}
		return ""
	}
	out = calendars{zone: time.UTC, ancientDay: u.days.Ancient("Parquet"), ancientInt96: u.int96.Ancient("Parquet INT96")}
	version := text(versionKey)
	if out.days, err = u.days.Of(version, meta.FindValue(oldDaysKey) != nil, "3.0.0"); err != nil {
		return out, err
	}
	if out.int96, err = u.int96.Of(version, meta.FindValue(oldInt96Key) != nil, "3.1.0"); err != nil {
		return out, err
	}
	if z, ok := datetime.ParseZone(text(zoneKey)); ok {
		out.zone = z
	}
	return out, nil
}

// micros converts times of a unit.
func (c calendars) micros(unit schema.TimeUnitType) func([]int64, []int64) error {
	scale := int64(1)
	if unit == schema.TimeUnitMillis {
		scale = 1000
	}
	return func(dst, src []int64) error {
		for i, x := range src {
			if x > math.MaxInt64/scale || x < math.MinInt64/scale {
				return errOverflow
			}
			t, ok := c.days.Micros(x*scale, c.zone)
			if !ok {
				return c.ancientDay
			}
			dst[i] = t
		}
		return nil
	}
}

// moves tells whether values of a column may be others than those that the file's statistics are about.
func (c calendars) moves(leaf *schema.PrimitiveNode) bool {
	t, ok := primitiveType(leaf)
	return ok && c.days != datetime.Corrected && (t == types.DataType(types.Date) || t == types.DataType(types.Timestamp))
}

// writeCalendars are the calendars in which a file is written.
type writeCalendars struct {
	days datetime.Rebase
	// int96 is noted only: times are not written in 96 bits.
	int96 datetime.Rebase
	zone  *time.Location
}

func writeCalendarsOf(env sink.Env) (out writeCalendars, err error) {
	out.zone = time.UTC
	if env.Conf == nil {
		return out, nil
	}
	if z, ok := datetime.ParseZone(env.Conf(setting.TimeZone)); ok {
		out.zone = z
	}
	if out.days, err = setting.Calendar(env.Conf, setting.ParquetWriteCalendar); err != nil {
		return out, err
	}
	out.int96, err = setting.Calendar(env.Conf, setting.Int96WriteCalendar)
	return out, err
}

// told are the entries by which a file tells its calendars.
func (c writeCalendars) told() (out [][2]string) {
	if c.days == datetime.Legacy {
		out = append(out, [2]string{oldDaysKey, ""})
	}
	if c.int96 == datetime.Legacy {
		out = append(out, [2]string{oldInt96Key, ""})
	}
	if len(out) > 0 {
		out = append(out, [2]string{zoneKey, c.zone.String()})
	}
	return out
}

// rebaser gives values as a file has them.
type rebaser[W word] func(dst, src []W) error

// rebase returns the rebaser for old values, or nil when all are written as they are.
func rebase[W word](r datetime.Rebase, old func(W) (W, bool)) rebaser[W] {
	if r == datetime.Corrected {
		return nil
	}
	return func(dst, src []W) error {
		for i, x := range src {
			y, ok := old(x)
			if !ok {
				return errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME", "format", "Parquet",
					"config", errclass.Conf(setting.ParquetWriteCalendar))
			}
			dst[i] = y
		}
		return nil
	}
}

func (c writeCalendars) oldMicros(t int64) (int64, bool) { return c.days.OldMicros(t, c.zone) }
