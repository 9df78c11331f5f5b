package service_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/service"
	"longhaul/opt"
)

// deliveries records callbacks, and fails as often as it has to.
type deliveries struct {
	mu   sync.Mutex
	fail int
	err  error
	got  []opt.Callback
}

func (d *deliveries) deliver(_ context.Context, in opt.Callback) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail--; d.fail >= 0 {
		return d.err
	}
	d.got = append(d.got, in)
	return nil
}

// all returns the deliveries, in a word each.
func (d *deliveries) all() (words []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, in := range d.got {
		switch {
		case in.Outcome != nil:
			words = append(words, "outcome")
		case in.Chunk != nil:
			words = append(words, "piece")
		case in.Text == "":
			words = append(words, "wake")
		default:
			words = append(words, in.Text)
		}
	}
	return words
}

func pace(t *testing.T, run func(t *testing.T, p *service.Pacer, d *deliveries)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &deliveries{err: fmt.Errorf("signal: %w", opt.ErrUnavailable)}
		run(t, service.NewPacer(d.deliver, zap.NewNop()), d)
	})
}

var said int

// say receives a callback of its own id.
func say(t *testing.T, p *service.Pacer, in opt.Callback) {
	t.Helper()
	in.TaskID, in.Round = "task", 1
	if in.ID == "" {
		said++
		in.ID = fmt.Sprint("id-", said)
	}
	if err := p.Receive(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

// simulate waits for a duration of simulated time: in a synctest bubble, time passes as
// soon as all goroutines wait.
func simulate(d time.Duration) {
	<-time.After(d)
}

// Of many texts few are delivered, the first at once and the last at the end. Pieces and
// the outcome are all delivered.
func TestPacer_bounds(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		const texts = 5000
		for i := range texts {
			say(t, p, opt.Callback{Text: fmt.Sprint("text ", i)})
			if i%50 == 0 {
				say(t, p, opt.Callback{Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("x")}}}})
			}
			simulate(4 * time.Millisecond)
		}
		simulate(time.Minute)
		synctest.Wait()
		got := d.all()
		pieces := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != "piece" }))
		if n := len(got) - pieces; n > 30 || n < 10 || pieces != texts/50 || got[0] != "text 0" || got[len(got)-1] != fmt.Sprint("text ", texts-1) {
			t.Errorf("%d texts and %d pieces were delivered, the last is %q", n, pieces, got[len(got)-1])
		}
		say(t, p, opt.Callback{Text: "soon"}) // waits, and the outcome takes its place
		say(t, p, opt.Callback{Text: "sooner"})
		say(t, p, opt.Callback{Outcome: &opt.Outcome{State: opt.TaskCompleted}})
		simulate(time.Minute)
		synctest.Wait()
		if tail := strings.Join(d.all()[len(got):], ", "); tail != "soon, outcome" {
			t.Errorf("in the end %s were delivered", tail)
		}
	})
}

// A repeat of a callback changes nothing, if it waits, if another one has replaced it,
// and if it was delivered.
func TestPacer_repeats(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		for _, id := range []string{"a", "a", "b", "c", "b", "a", "c"} {
			say(t, p, opt.Callback{ID: id, Text: id})
		}
		simulate(time.Second)
		say(t, p, opt.Callback{ID: "c", Text: "c"})
		simulate(time.Minute)
		if got := strings.Join(d.all(), ", "); got != "a, c" {
			t.Errorf("%s were delivered", got)
		}
	})
}

// Wakes are paced by themselves.
func TestPacer_wakes(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		for range 100 {
			say(t, p, opt.Callback{})
			say(t, p, opt.Callback{Text: "x"})
		}
		simulate(time.Minute)
		if got := strings.Join(d.all(), ", "); got != "wake, x, wake, x" && got != "wake, x, x, wake" {
			t.Errorf("%s were delivered", got)
		}
	})
}

// A delivery that fails is reported to the sender, whose repeat is delivered. The
// callbacks that waited are delivered later.
func TestPacer_failures(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		d.fail = 1
		in := opt.Callback{ID: "a", TaskID: "task", Round: 1, Text: "a"}
		if err := p.Receive(t.Context(), in); err == nil {
			t.Error("a failed delivery has no error")
		}
		say(t, p, in)
		d.fail = 3
		say(t, p, opt.Callback{Text: "b"})
		simulate(time.Minute)
		if got := strings.Join(d.all(), ", "); got != "a, b" {
			t.Errorf("%s were delivered", got)
		}
	})
}

// Stop delivers the callbacks that wait at once, and later ones do not wait.
func TestPacer_stop(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		for _, text := range []string{"a", "b", "c"} {
			say(t, p, opt.Callback{Text: text})
		}
		p.Stop()
		say(t, p, opt.Callback{Text: "d"})
		if got := strings.Join(d.all(), ", "); got != "a, c, d" {
			t.Errorf("%s were delivered", got)
		}
	})
}

// A round without callbacks for some minutes counts from the beginning.
func TestPacer_forgets(t *testing.T) {
	pace(t, func(t *testing.T, p *service.Pacer, d *deliveries) {
		for range 200 {
			say(t, p, opt.Callback{Text: "x"})
			simulate(30 * time.Second)
		}
		simulate(5 * time.Minute)
		say(t, p, opt.Callback{Text: "a"})
		simulate(200 * time.Millisecond)
		before := len(d.all())
		say(t, p, opt.Callback{Text: "b"})
		if after := len(d.all()); after != before+1 {
			t.Errorf("%d were delivered after %d", after, before)
		}
	})
}
