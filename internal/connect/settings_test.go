package connect

import (
	"errors"
	"testing"
	"time"

	"github.com/millrace/millrace/internal/errclass"
)

func TestSettings(t *testing.T) {
	got, err := settingsOf(map[string]string{
		"spark.connect.execute.manager.detachedTimeout": "90s", "spark.connect.execute.reattachable.senderMaxStreamSize": "3m",
	})
	if err != nil || got.DetachedTimeout != 90*time.Second || got.StreamBytes != 3<<20 || got.SessionTimeout != time.Hour {
		t.Errorf("%+v, %v", got, err)
	}
	for key, value := range map[string]string{
		"spark.connect.execute.manager.detachedTimeout": "soon", "spark.connect.progress.reportInterval": "2 whiles", "spark.millrace.connect.batchBytes": "lots",
	} {
		_, err := settingsOf(map[string]string{key: value})
		e, ok := errors.AsType[*errclass.Error](err)
		if !ok || e.Class != "INVALID_CONF_VALUE.REQUIREMENT" || e.Params["confName"] != key || e.Params["confValue"] != value {
			t.Errorf("%s = %s: %v", key, value, err)
		}
	}
}
