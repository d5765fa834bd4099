package files

import (
	"errors"

	"github.com/millrace/millrace/internal/datetime"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/setting"
	"github.com/millrace/millrace/source"
)

// Calendar says in which calendar the days and times of files are that do not tell it themselves: by an option, or by a setting when
// there is no option. Neither is looked at before a file needs it.
type Calendar struct {
	option, key string
	req         source.Request
}

// NewCalendar returns the calendar of an option and of a setting.
func NewCalendar(req source.Request, option, key string) Calendar {
	return Calendar{option, key, req}
}

// Of is the calendar of a file: see datetime.FileRebase.
func (c Calendar) Of(version string, old bool, before string) (datetime.Rebase, error) {
	if r, ok := datetime.FileRebase(version, old, before); ok {
		return r, nil
	}
	name, set := c.req.Options.Get(c.option)
	switch {
	case set:
		r, ok := datetime.ParseRebase(name)
		if !ok {
			return r, errors.New("the option " + c.option + " is CORRECTED, LEGACY or EXCEPTION")
		}
		return r, nil
	case c.req.Env.Conf == nil:
		return datetime.Corrected, nil
	}
	return setting.Calendar(c.req.Env.Conf, c.key)
}

// Ancient is the error for a day or time that may mean two.
func (c Calendar) Ancient(format string) error {
	return errclass.New("INCONSISTENT_BEHAVIOR_CROSS_VERSION.READ_ANCIENT_DATETIME", "format", format, "config", errclass.Conf(c.key),
		"option", errclass.Conf(c.option))
}
