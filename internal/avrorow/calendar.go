package avrorow

import (
	"errors"
	"time"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
)

// Calendar is the one of the days and times of a file.
type Calendar struct {
	datetime.Rebase
	Zone *time.Location // in which days begin
}

// WriteCalendar is the calendar in which records are written.
func WriteCalendar(conf func(key string) string) (*Calendar, error) {
	r, err := setting.Calendar(conf, setting.AvroWriteCalendar)
	c := &Calendar{Rebase: r, Zone: time.UTC}
	if z, ok := datetime.ParseZone(conf(setting.TimeZone)); ok {
		c.Zone = z
	}
	return c, err
}

// ErrAncient says that a day or time is from before today's calendar, and that the calendar is not known.
var ErrAncient = errors.New("a day or time may mean two")

// WriteError is an error of Append as users see it.
func WriteError(err error) error {
	if errors.Is(err, ErrAncient) {
		return errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.WRITE_ANCIENT_DATETIME", "format", "Avro",
			"config", errclass.Conf(setting.AvroWriteCalendar))
	}
	return err
}
