package histories

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/millrace/millrace"
	"github.com/millrace/millrace/milltest"
)

// crash processes until power fails at a write, and again while it recovers, some times.
func (h *story) crash(at int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	h.say("crash at write %d, survivors by %d", at, seed)
	_, crashed := h.q.CrashAtWrite(at)
	for crashed {
		h.w.PowerOn(rng.IntN)
		h.again()
		if rng.IntN(3) == 0 {
			h.scale()
		}
		if rng.IntN(3) > 0 {
			h.q.Restart()
			break
		}
		k := 1 + rng.IntN(50)
		h.say("crash at write %d of the recovery", k)
		var err error
		if crashed, err = h.q.RestartCrashingAt(k); err != nil {
			h.fail("restart: %v", err)
		}
	}
	h.rested()
}

// fault processes while the disk has an error, which the query does not survive, or does not notice.
func (h *story) fault(at int) {
	h.say("error at use %d of the disk", at)
	h.w.FailAt(at)
	_, err := h.q.TryProcess()
	if err != nil {
		h.q.Bury()
	}
	h.w.PowerOn(nil)
	if err == nil {
		h.rested()
		return
	}
	if !strings.Contains(err.Error(), "input/output error") {
		h.fail("query: %v", err)
	}
	h.again()
	h.q.Restart()
	h.rested()
}

func (h *story) process() {
	h.say("process")
	h.rested()
}

func (h *story) now() int64 { return h.w.Clock.Now().UnixMilli() }

// rested is called when the query has found nothing more to do.
func (h *story) rested() {
	if _, err := h.q.TryProcess(); err != nil { // a start says nothing of what it has done
		h.fail("query: %v", err)
	}
	h.account()
	h.m.look(h.now(), nil)
	h.complete("rests")
	if h.noData && h.m.due() {
		h.fail("the query rests, and a batch without data is due")
	}
}

func (h *story) complete(does string) {
	for _, s := range h.s.sources {
		if int(h.taken[s]) != len(h.units[s]) {
			h.fail("the query %s, and has taken %d of %d units of %s", does, h.taken[s], len(h.units[s]), streams[s])
		}
	}
}

// wait lets some minutes pass.
func (h *story) wait() {
	d := time.Duration([]int{3, 7, 10, 25}[h.s.pick(4, "minutes")]) * time.Minute
	h.say("%v pass", d)
	h.w.Clock.Advance(d)
	h.process()
}

// scale asks for another number of partitions from the next start on.
func (h *story) scale() {
	n := 1 + h.s.pick(7, "partitions")
	h.say("%d partitions", n)
	for key, value := range map[string]string{"spark.sql.shuffle.partitions": fmt.Sprint(n), "spark.millrace.streaming.state.repartition": "true"} {
		if err := h.w.Session.Conf().Set(h.w.Context(), key, value); err != nil {
			h.fail("%v", err)
		}
	}
}

// triggered makes a run that ends by itself, which may lose power some times, and then goes on as before.
func (h *story) triggered() {
	opts := []milltest.QueryOption{milltest.Trigger(millrace.AvailableNow())}
	what := h.s.pick(5, "trigger")
	switch {
	case what == 0:
		opts[0] = milltest.Trigger(millrace.Once())
		h.say("once")
	case what == 1:
		opts = append(opts, milltest.WriterOption("finalFlush", "true"))
		h.say("available now, then close everything")
	default:
		h.say("available now")
	}
	h.q.Stop()
	h.again()
	h.flushing = h.flushing || what == 1
	for h.s.pick(2, "crash") == 0 {
		k := 1 + h.s.pick(40, "write")
		h.say("crash at write %d", k)
		crashed, err := h.q.RestartCrashingAt(k, opts...)
		if err != nil && !crashed {
			h.fail("query: %v", err)
		}
		if !crashed {
			h.q.Stop()
			h.again()
			break
		}
		seed := h.s.pick(1000, "survivors")
		h.w.PowerOn(rand.New(rand.NewPCG(uint64(seed), 0)).IntN)
		h.again()
	}
	pending := h.rerun >= 0
	h.q.Restart(opts...)
	if _, err := h.q.Await(); err != nil {
		h.fail("query: %v", err)
	}
	h.account()
	if what > 0 || !pending { // once does what was planned, and nothing else
		h.complete("has ended")
	}
	if what > 0 && h.noData && h.m.due() {
		h.fail("the query has ended, and a batch without data is due")
	}
	if what == 1 && h.m.open() {
		h.fail("the query has ended, and not everything is closed")
	}
	h.again()
	h.say("back to batches as rows come")
	h.q.Restart(milltest.NoTrigger(), milltest.NoWriterOptions())
	h.rested()
}

// again is called between two runs: the model is given what the old one has done for good.
func (h *story) again() {
	h.account()
	h.m.started(h.now())
	h.rerun = -1
	if offsets, commits := h.q.Log(); offsets > commits {
		h.rerun = offsets
	}
}
