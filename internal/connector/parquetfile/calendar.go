package parquetfile

import (
	"errors"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// calendars are those of the days and times of a file.
type calendars struct {
	days, int96 datetime.Rebase // int96 is for times in 96 bits
	zone        *time.Location  // in which days begin
}

// The keys by which Spark tells about them. Files say so only when they are in the old one.
const (
	oldDaysKey  = "org.apache.spark.legacyDateTime"
	oldInt96Key = "org.apache.spark.legacyINT96"
	zoneKey     = "org.apache.spark.timeZone"
)

// calendarsOf are the calendars of a file; where it does not tell they are those of the options.
func calendarsOf(meta metadata.KeyValueMetadata, options source.Options, zone *time.Location) (calendars, error) {
	text := func(key string) string {
		if v := meta.FindValue(key); v != nil {
			return *v
		}
		return ""
	}
	if zone == nil {
		zone = time.UTC
	}
	out := calendars{zone: zone}
	for _, c := range []struct {
		to                 *datetime.Rebase
		option, key, since string
	}{
		{&out.days, "datetimeRebaseMode", oldDaysKey, "3.0.0"},
		{&out.int96, "int96RebaseMode", oldInt96Key, "3.1.0"},
	} {
		name, set := options.Get(c.option)
		var ok bool
		if *c.to, ok = datetime.RebaseOf(text(versionKey), meta.FindValue(c.key) != nil, c.since, name, set); !ok {
			return out, errors.New("the option " + c.option + " is CORRECTED, LEGACY or EXCEPTION")
		}
	}
	if own := text(zoneKey); own != "" {
		if z, ok := datetime.ParseZone(own); ok {
			out.zone = z
		}
	}
	return out, nil
}

// ancient is the error for a day or time that may mean two.
func ancient(option string) error {
	return errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME", "format", "Parquet", "option", option)
}

// micros converts times of a unit.
func (c calendars) micros(unit schema.TimeUnitType) func([]int64, []int64) error {
	scale := int64(1)
	if unit == schema.TimeUnitMillis {
		scale = 1000
	}
	old := ancient("datetimeRebaseMode")
	return func(dst, src []int64) error {
		for i, x := range src {
			if x > math.MaxInt64/scale || x < math.MinInt64/scale {
				return errOverflow
			}
			t, ok := c.days.Micros(x*scale, c.zone)
			if !ok {
				return old
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
