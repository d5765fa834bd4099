package setting

import (
	"strings"

	"github.com/millrace/millrace/internal/datetime"
)

// Calendar reads one of the settings of calendars.
func Calendar(conf func(key string) string, key string) (datetime.Rebase, error) {
	v := conf(key)
	if v == "" {
		return datetime.Corrected, nil
	}
	r, ok := datetime.ParseRebase(strings.ToUpper(trim(v)))
	if !ok {
		return r, Check(key, v)
	}
	return r, nil
}
