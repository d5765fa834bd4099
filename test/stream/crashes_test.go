package stream

import (
	"flag"
	"math/rand/v2"
	"regexp"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"

	"github.com/millrace/millrace/milltest"
)

var crashStep = flag.Int("crash-step", 7, "let power fail at every n-th write of a script; 1 is at every one")

// outage is a power failure at some write of a query.
type outage struct {
	at    int  // write, counted from 1 from the first start; 0 for none
	armed bool // from now on it may come
	came  bool
}

// arm begins to count. A nil outage never comes.
func (o *outage) arm(eng *milltest.Engine) {
	if o == nil || o.armed || o.at == 0 {
		return
	}
	o.armed = true
	eng.CrashAtWrite(o.at)
}

// recover gives power back and starts the query again. What was not synced is there by chance.
func (o *outage) recover(l *local) error {
	o.came = true
	rng := rand.New(rand.NewPCG(uint64(o.at), 1))
	l.q.Bury()
	l.eng.PowerOn(rng.IntN)
	return l.q.TryRestart()
}

// guard runs batches, and again after a failure of power: the batches are those of an undisturbed run then, some of them run twice.
func (o *outage) guard(l *local, run func() ([]milltest.Batch, error)) ([]milltest.Batch, error) {
	before := len(l.q.Batches())
	bs, err := run()
	if o == nil || !l.eng.Crashed() {
		return bs, err
	}
	if err := o.recover(l); err != nil {
		return bs, err
	}
	_, err = run()
	var out []milltest.Batch
	for _, b := range l.q.Batches()[before:] {
		for len(out) > 0 && out[len(out)-1].ID >= b.ID {
			out = out[:len(out)-1]
		}
		out = append(out, b)
	}
	return out, err
}

// Wherever power fails, the script's batches come out as if it had not. Batches without data are switched off: after a restart they
// wait for the next data.
func TestCrashes(t *testing.T) {
	if *remote != "" || rewriting() {
		t.Skip("for the engine in this process")
	}
	scripts(t, func(t *testing.T, path string, l limits) {
		if l.noCrash || l.noRestart {
			t.Skip("a restart matters to this script")
		}
		want, _ := transcript(t, path, "", 0)
		for _, c := range []struct {
			provider string
			step     int
		}{{"", *crashStep}, {"millrace.lsm", 7 * *crashStep}} { // that one writes much that is thrown away
			for at, came := 1, true; came; at += c.step {
				var got []string
				got, came = transcript(t, path, c.provider, at)
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("%s: power failed at write %d (-undisturbed +failed):\n%s", c.provider, at, d)
				}
			}
		}
	})
}

var rerun = regexp.MustCompile(`   \(re-run\)`)

// transcript runs a script without comparing, and returns what its commands gave.
func transcript(t *testing.T, path, provider string, at int) (out []string, came bool) {
	synctest.Test(t, func(t *testing.T) {
		v := variant{partitions: 2, vector: 4096, workers: 2, splits: 1, provider: provider, conf: map[string]string{
			"spark.sql.streaming.noDataMicroBatches.enabled": "false",
		}}
		l := newLocal(t, v)
		l.power = &outage{at: at}
		r := newRunner(l, v)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "conf" && len(d.CmdArgs) > 0 && d.CmdArgs[0].Key == "spark.sql.streaming.noDataMicroBatches.enabled" {
				return d.Expected
			}
			out = append(out, d.Pos+" "+d.Cmd+"\n"+rerun.ReplaceAllString(r.run(t, d), ""))
			return d.Expected
		})
		came = l.power.came
	})
	return out, came
}
