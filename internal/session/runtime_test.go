package session

import (
	"os"
	"testing"

	"github.com/millrace/millrace/internal/engine"
	"github.com/millrace/millrace/internal/setting"
)

func TestRuntime(t *testing.T) {
	rt, err := Runtime(engine.Runtime{}, map[string]string{setting.MemoryLimit: "4g", setting.LocalDir: "/fast,/slow"})
	if err != nil || rt.Memory.Limit() != 2<<30 || rt.Scratch != "/fast" {
		t.Errorf("%+v, %v", rt, err)
	}
	if rt, err := Runtime(engine.Runtime{}, nil); err != nil || rt.Memory.Limit() < 1<<20 || rt.Scratch != os.TempDir() {
		t.Errorf("%+v, %v", rt, err)
	}
	for _, text := range []string{"", "much", "0", "-1g"} {
		if _, err := Runtime(engine.Runtime{}, map[string]string{setting.MemoryLimit: text}); err == nil {
			t.Errorf("%q is no limit", text)
		}
	}
}
