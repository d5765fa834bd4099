package rate

import (
	"strconv"
	"time"

	"github.com/millrace/millrace/internal/amount"
	"github.com/millrace/millrace/internal/errclass"
	"github.com/millrace/millrace/internal/interval"
	"github.com/millrace/millrace/source"
	"github.com/millrace/millrace/types"
)

// schema is that of both sources.
var schema = types.StructType{Fields: []types.Field{
	{Name: "timestamp", Type: types.Timestamp, Nullable: true},
	{Name: "value", Type: types.Long, Nullable: true},
}}

func noUserSchema(req source.Request) error {
	if req.Schema != nil && len(req.Schema.Fields) > 0 {
		return errclass.New("UNSUPPORTED_STREAMING_OPERATION.USER_SCHEMA", "provider", req.Format)
	}
	return nil
}

// number reads an integer option that must be at least least.
func number(o source.Options, name string, otherwise, least int64) (int64, error) {
	text, ok := o.Get(name)
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errclass.New("INVALID_STREAMING_OPTION.NOT_A_NUMBER", "option", name, "value", text)
	}
	if n < least {
		return 0, bad(name, text, "it must be at least "+strconv.FormatInt(least, 10))
	}
	return n, nil
}

func bad(name, value, requirement string) error {
	return errclass.New("INVALID_STREAMING_OPTION.VALUE", "option", name, "value", value, "requirement", requirement)
}

// seconds reads a duration option such as "10s" or "1 minute" in whole seconds.
func seconds(o source.Options, name string) (int64, error) {
	text, ok := o.Get(name)
	if !ok {
		return 0, nil
	}
	d, ok := amount.Time(text, time.Second)
	if !ok {
		iv, err := interval.ParseCalendar(text)
		if err != nil || iv.Months != 0 {
			return 0, errclass.New("INVALID_STREAMING_OPTION.NOT_A_NUMBER", "option", name, "value", text)
		}
		d = time.Duration(iv.Micros)*time.Microsecond + time.Duration(iv.Days)*24*time.Hour
	}
	if d < 0 {
		return 0, bad(name, text, "it must not be negative")
	}
	return int64(d / time.Second), nil
}
