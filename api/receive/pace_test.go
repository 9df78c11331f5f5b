package receive_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/receive"
	"longhaul/internal/test"
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

func pace(t *testing.T, run func(t *testing.T, p *receive.Pacer, d *deliveries)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d := &deliveries{err: fmt.Errorf("signal: %w", opt.ErrUnavailable)}
		run(t, receive.NewPacer(d.deliver, zap.NewNop()), d)
	})
}

var said int

// say receives a callback of its own id.
func say(t *testing.T, p *receive.Pacer, in opt.Callback) {
	t.Helper()
	in.TaskID, in.Round = "task", 1
	if in.ID == "" {
		said++
		in.ID = fmt.Sprint("id-", said)
	}
	test.OK(t, p.Receive(t.Context(), in))
}

// simulate waits for a duration of simulated time: in a synctest bubble, time passes as
// soon as all goroutines wait.
func simulate(d time.Duration) {
	<-time.After(d)
}

// Of many texts few are delivered, the first at once and the last at the end. Pieces and
// the outcome are all delivered.
func TestPacer_bounds(t *testing.T) {
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
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
		test.Is(t, "in the end were delivered", "soon, outcome", strings.Join(d.all()[len(got):], ", "))
	})
}

// A repeat of a callback changes nothing, if it waits, if another one has replaced it,
// and if it was delivered.
func TestPacer_repeats(t *testing.T) {
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
		for _, id := range []string{"a", "a", "b", "c", "b", "a", "c"} {
			say(t, p, opt.Callback{ID: id, Text: id})
		}
		simulate(time.Second)
		say(t, p, opt.Callback{ID: "c", Text: "c"})
		simulate(time.Minute)
		test.Is(t, "were delivered", "a, c", strings.Join(d.all(), ", "))
	})
}

// Wakes are paced by themselves.
func TestPacer_wakes(t *testing.T) {
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
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
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
		d.fail = 1
		in := opt.Callback{ID: "a", TaskID: "task", Round: 1, Text: "a"}
		test.Fails(t, "a failed delivery has no error", "", p.Receive(t.Context(), in))
		say(t, p, in)
		d.fail = 3
		say(t, p, opt.Callback{Text: "b"})
		simulate(time.Minute)
		test.Is(t, "were delivered", "a, b", strings.Join(d.all(), ", "))
	})
}

// A callback that waited and could not be delivered takes no place of a newer one.
func TestPacer_latestWins(t *testing.T) {
	piece := &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("x")}}}
	for name, tt := range map[string]struct {
		newer opt.Callback
		slow  bool // the newer one is still on its way when the older one fails
		fails bool // the newer one
		want  string
	}{
		"a text":                 {newer: opt.Callback{Text: "new"}, want: "first, new"},
		"a slow text":            {newer: opt.Callback{Text: "new"}, slow: true, want: "first, new"},
		"a text that fails":      {newer: opt.Callback{Text: "new"}, slow: true, fails: true, want: "first, old"},
		"a piece with a text":    {newer: opt.Callback{Text: "new", Chunk: piece}, want: "first, piece"},
		"a slow piece with text": {newer: opt.Callback{Text: "new", Chunk: piece}, slow: true, want: "first, piece"},
		"a piece without a text": {newer: opt.Callback{Chunk: piece}, want: "first, piece, old"},
		"an outcome":             {newer: opt.Callback{Outcome: &opt.Outcome{State: opt.TaskCompleted}}, want: "first, outcome"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, away := &deliveries{}, fmt.Errorf("signal: %w", opt.ErrUnavailable)
				olds := 0
				p := receive.NewPacer(func(ctx context.Context, in opt.Callback) error {
					switch {
					case in.Text == "old":
						if olds++; olds == 1 {
							simulate(time.Second)
							return away
						}
					case in.ID == "new" && tt.slow:
						simulate(time.Second)
						if tt.fails {
							return away
						}
					}
					return d.deliver(ctx, in)
				}, zap.NewNop())
				say(t, p, opt.Callback{Text: "first"})
				say(t, p, opt.Callback{Text: "old"}) // is delivered after 0.1 s, which fails after 1.1 s
				simulate(500 * time.Millisecond)
				in := tt.newer
				in.ID, in.TaskID, in.Round = "new", "task", 1
				if err := p.Receive(t.Context(), in); (err != nil) != tt.fails {
					t.Error(err)
				}
				simulate(time.Minute)
				test.Is(t, "were delivered", tt.want, strings.Join(d.all(), ", "))
			})
		})
	}
}

// A repeat of a callback that is being delivered gets the result of that delivery, or
// makes its own if the first sender has gone.
func TestPacer_repeatsMeanwhile(t *testing.T) {
	broken := errors.New("broken")
	for name, tt := range map[string]struct {
		err  error // of the first delivery
		gone bool  // its sender
		want string
	}{
		"succeeds":       {nil, false, "a"},
		"fails":          {broken, false, ""},
		"sender is gone": {nil, true, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, calls := &deliveries{}, 0
				p := receive.NewPacer(func(ctx context.Context, in opt.Callback) error {
					if calls++; calls == 1 {
						select {
						case <-ctx.Done():
							return ctx.Err()
						case <-time.After(time.Second):
						}
						if tt.err != nil {
							return tt.err
						}
					}
					return d.deliver(ctx, in)
				}, zap.NewNop())
				in := opt.Callback{ID: "a", TaskID: "task", Round: 1, Text: "a"}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				first := make(chan error, 1)
				go func() { first <- p.Receive(ctx, in) }()
				synctest.Wait()
				repeat := make(chan error, 1)
				go func() { repeat <- p.Receive(t.Context(), in) }()
				synctest.Wait()
				if tt.gone {
					cancel()
				}
				if err := <-first; (err != nil) != (tt.err != nil || tt.gone) {
					t.Errorf("the first ended with %v", err)
				}
				if err := <-repeat; !errors.Is(err, tt.err) {
					t.Errorf("the repeat ended with %v, want %v", err, tt.err)
				}
				test.Is(t, "were delivered", tt.want, strings.Join(d.all(), ", "))
			})
		})
	}
}

// Stop delivers the callbacks that wait at once, and later ones do not wait.
func TestPacer_stop(t *testing.T) {
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
		for _, text := range []string{"a", "b", "c"} {
			say(t, p, opt.Callback{Text: text})
		}
		p.Stop()
		say(t, p, opt.Callback{Text: "d"})
		test.Is(t, "were delivered", "a, c, d", strings.Join(d.all(), ", "))
	})
}

// A round without callbacks for some minutes counts from the beginning.
func TestPacer_forgets(t *testing.T) {
	pace(t, func(t *testing.T, p *receive.Pacer, d *deliveries) {
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
