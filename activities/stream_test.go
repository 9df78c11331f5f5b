package activities_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
)

func TestStream_recordsBatches(t *testing.T) {
	r := &recorder{}
	w := work
	w.Round, w.Attempt = 3, 2
	out, err := run(t, r, w, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		chunk(t, s, "a", "1", false)
		chunk(t, s, "b", "2", true)
		if err := activities.Sleep(ctx, time.Second); err != nil {
			return activities.Outcome{}, err
		}
		chunk(t, s, "a", "3", true)
		return activities.Completed(artifact("c", "4")), nil
	})
	test.OK(t, err)
	want := []string{
		"1-2-a+1", "1-2-b+2 last", "batch " + taskID + "#3.2.1",
		"1-2-a+3 append last", "batch " + taskID + "#3.2.1",
	}
	test.Equal(t, "recorded", want, lines(r.batches))
	wantArtifacts := []a2a.Artifact{artifact("1-2-a", "13"), artifact("1-2-b", "2"), artifact("1-2-c", "4")}
	test.Equal(t, "artifacts", wantArtifacts, out.Artifacts)
	test.Equal(t, "streamed", []string{"1-2-a", "1-2-b"}, out.Streamed)
	checkEvents(t, r.batches, w)
}

// checkEvents checks what all events of a stream have in common.
func checkEvents(t *testing.T, batches []opt.Batch, w activities.Work) {
	t.Helper()
	n := int64(0)
	for _, b := range batches {
		test.Is(t, "batch of objective", work.ObjectiveID, b.ObjectiveID)
		for _, e := range b.Events {
			n++
			if e.N != n || e.Kind != opt.ArtifactAdded || e.PlanID != work.PlanID || e.TaskID != work.TaskID || e.RootID != "root" || e.Round != w.Round || e.Attempt != w.Attempt || e.Try != 1 || e.At.IsZero() {
				t.Errorf("event %d: got %+v", n, e)
			}
		}
	}
}

func TestStream_writesWhenMuchIsHeldBack(t *testing.T) {
	r := &recorder{}
	_, err := run(t, r, work, func(_ context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		for i := range 130 {
			chunk(t, s, "a", fmt.Sprint(i), i == 129)
		}
		return activities.Completed(), nil
	})
	var sizes []int
	for _, b := range r.batches {
		sizes = append(sizes, len(b.Events))
	}
	test.OK(t, err)
	test.Equal(t, "batch sizes", []int{64, 64, 2}, sizes)
	checkEvents(t, r.batches, work)
}

// TestStream_writesAfterACallHasEnded is for executors that stream under a
// separate context, such as for one request.
func TestStream_writesAfterACallHasEnded(t *testing.T) {
	r := &recorder{}
	_, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		call, end := context.WithCancel(ctx)
		err := s.Chunk(call, artifact("a", "1"), false)
		end()
		if err := errors.Join(err, activities.Sleep(ctx, time.Second)); err != nil {
			return activities.Outcome{}, err
		}
		test.Is(t, "batches were written after a second", 1, r.count())
		return activities.Completed(), nil
	})
	test.OK(t, err)
}

// TestStream_leavesPiecesAlone is for executors that use one buffer for all
// pieces.
func TestStream_leavesPiecesAlone(t *testing.T) {
	r := &recorder{}
	out, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		piece := a2a.Artifact{ArtifactID: "a", Parts: make([]a2a.Part, 1)}
		for i := range 3 {
			piece.Parts[0] = a2a.TextPart(fmt.Sprint(i))
			if err := s.Chunk(ctx, piece, i == 2); err != nil {
				return activities.Outcome{}, err
			}
		}
		test.Is(t, "the executor's own piece became", "a", piece.ArtifactID)
		return activities.Completed(), nil
	})
	test.OK(t, err)
	test.Equal(t, "artifacts", []a2a.Artifact{artifact("1-2-a", "012")}, out.Artifacts)
	want := []string{"1-2-a+0", "1-2-a+1 append", "1-2-a+2 append last", "batch " + taskID + "#1.1.1"}
	test.Equal(t, "recorded", want, lines(r.batches))
}

// TestStream_repeatsWhatWasRefused checks that refused events are sent again
// under the same numbers, so that each piece is recorded once.
func TestStream_repeatsWhatWasRefused(t *testing.T) {
	r := &recorder{refuse: 3}
	var told error
	out, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		for i := range 3 {
			told = s.Chunk(ctx, artifact("a", fmt.Sprint(i)), i == 2)
			if err := activities.Sleep(ctx, 60*time.Millisecond); err != nil {
				return activities.Outcome{}, err
			}
		}
		return activities.Completed(), nil
	})
	if err != nil || len(out.Artifacts) != 1 {
		t.Errorf("got %+v, error %v", out, err)
	}
	test.Error(t, "the third Chunk returned", errAway, told)
	seen := map[int64]string{}
	for _, b := range r.batches {
		for i, e := range b.Events {
			text := e.Chunk.Artifact.Text()
			if before, ok := seen[e.N]; ok && before != text || i > 0 && e.N != b.Events[i-1].N+1 {
				t.Errorf("event %d is %q, and was %q", e.N, text, before)
			}
			seen[e.N] = text
		}
	}
	test.Equal(t, "events", map[int64]string{1: "0", 2: "1", 3: "2"}, seen)
	test.Is(t, "the batch that was taken holds events", 3, len(r.batches[len(r.batches)-1].Events))
}

// A run that cannot be recorded uses up no attempt: it is repeated, by Temporal if the journal can
// be reached and does not take its events. An error of the executor uses one up, even if the
// journal fails, too.
func TestStream_cannotBeRecorded(t *testing.T) {
	for name, tt := range map[string]struct {
		then  func(told error) (activities.Outcome, error)
		kind  string
		final bool
		away  error
	}{
		"not taken": {func(error) (activities.Outcome, error) { return activities.Completed(), nil }, activities.RecordError, false, errors.New("no such id")},
		"completed": {func(error) (activities.Outcome, error) { return activities.Completed(), nil }, activities.JournalError, false, errAway},
		"passed on": {func(told error) (activities.Outcome, error) {
			return activities.Outcome{}, fmt.Errorf("show it: %w", told)
		}, activities.JournalError, false, errAway},
		"error": {func(error) (activities.Outcome, error) { return activities.Outcome{}, errors.New("no route") }, activities.ExecutorError, true, errAway},
		"panic": {func(error) (activities.Outcome, error) { panic("no") }, activities.PanicError, true, errAway},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, &recorder{refuse: 1 << 30, refusal: tt.away}, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
				chunk(t, s, "a", "1", false)
				if err := activities.Sleep(ctx, time.Second); err != nil {
					return activities.Outcome{}, err
				}
				told := s.Chunk(ctx, artifact("a", "2"), true)
				test.Error(t, "the second Chunk returned", tt.away, told)
				return tt.then(told)
			})
			if app := application(t, err); app.NonRetryable() != tt.final || app.Type() != tt.kind {
				t.Errorf("%v: type %q, final %t", err, app.Type(), app.NonRetryable())
			}
		})
	}
}

// A journal that holds a write longer than the task may run, as one whose network is lost, does not hold the
// executor: it could not hear that another worker has the task.
func TestStream_journalIsSilent(t *testing.T) {
	r := &silent{}
	_, _ = runWith(t, config(r, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		r.entered, r.release = make(chan struct{}), make(chan struct{})
		defer close(r.release)
		chunk(t, s, "a", "1", false)
		<-r.entered
		ctx, end := context.WithCancel(ctx)
		chunk(t, s, "a", "2", false)
		s.Progress("Half of it", 0.5)
		end()
		var err error
		for i := 0; err == nil && i < 200; i++ {
			err = s.Chunk(ctx, artifact("a", "more"), false)
		}
		test.Error(t, "many pieces", context.Canceled, err)
		return activities.Completed(), nil
	}), work)
}

// A silent recorder waits until it is released.
type silent struct {
	once             sync.Once
	entered, release chan struct{}
}

func (r *silent) Record(context.Context, ...opt.Batch) error {
	r.once.Do(func() { close(r.entered) })
	<-r.release
	return nil
}

// TestStream_recordsBeforeItReturns checks that the journal has all pieces before
// the task ends.
func TestStream_recordsBeforeItReturns(t *testing.T) {
	r := &recorder{}
	_, err := run(t, r, work, func(_ context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		chunk(t, s, "a", "1", true)
		if r.count() != 0 {
			t.Error("a piece was written at once, want it held back for a moment")
		}
		return activities.Failed("no", "No."), nil
	})
	if err != nil || !slices.Equal(lines(r.batches), []string{"1-2-a+1 last", "batch " + taskID + "#1.1.1"}) {
		t.Errorf("recorded %q, error %v", lines(r.batches), err)
	}
}

func chunk(t *testing.T, s activities.Stream, id, text string, last bool) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // which ends outside the bubble of the test
	test.Error(t, "Chunk", nil, s.Chunk(ctx, artifact(id, text), last))
}

// lines returns a line for each event and one for each batch.
func lines(batches []opt.Batch) []string {
	var out []string
	for _, b := range batches {
		for _, e := range b.Events {
			line := e.Chunk.Artifact.ArtifactID + "+" + e.Chunk.Artifact.Text()
			if e.Chunk.Append {
				line += " append"
			}
			if e.Chunk.Last {
				line += " last"
			}
			out = append(out, line)
		}
		out = append(out, "batch "+b.Source)
	}
	return out
}

// Of texts that come fast few are written, the first at once and the last at the end. Their events
// have the numbers of one sequence with those of pieces.
func TestStream_progress(t *testing.T) {
	r := &recorder{}
	const texts = 5000
	out, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		for i := range texts {
			s.Progress(fmt.Sprint("text ", i), float64(i)/texts)
			if i == texts/2 {
				chunk(t, s, "a", "1", true)
			}
			if err := activities.Sleep(ctx, 4*time.Millisecond); err != nil {
				return activities.Outcome{}, err
			}
			if i == 100 && r.count() == 0 {
				t.Error("the first text was not written at once")
			}
		}
		return activities.ParkFor(time.Hour, nil, ""), nil
	})
	if err != nil || len(out.Streamed) != 1 {
		t.Fatalf("got %+v, error %v", out, err)
	}
	shown, pieces, ids := map[string]int{}, 0, map[string]bool{}
	for n, e := range recorded(r.batches) {
		if e.N != int64(n+1) || e.Round != 1 || e.Attempt != 1 || e.Try != 1 || e.TaskID != work.TaskID || e.PlanID != work.PlanID {
			t.Errorf("event %d: got %+v", n+1, e)
		}
		if e.Kind == opt.ArtifactAdded {
			pieces++
			continue
		}
		shown[e.Said()], ids[e.Status.MessageID] = opt.PercentIn(e.Status), true
	}
	first, begun := shown["text 0"]
	if len(shown) < 10 || len(shown) > 30 || len(ids) != len(shown) || pieces != 1 || !begun || first != 0 || shown["text 4999"] != 99 {
		t.Errorf("%d texts with %d ids and %d pieces were written: %v", len(shown), len(ids), pieces, shown)
	}
}

// Texts that say nothing new are not written, and long and odd ones are made fit.
func TestStream_progressTexts(t *testing.T) {
	r := &recorder{}
	_, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		for _, of := range []struct {
			text     string
			fraction float64
		}{{"half", 0.5}, {"half", 0.5}, {"", 7}, {"unknown", math.NaN()}, {"less", -1}, {strings.Repeat("é", opt.MaxProgress), 0}} {
			s.Progress(of.text, of.fraction)
			if err := activities.Sleep(ctx, time.Minute); err != nil {
				return activities.Outcome{}, err
			}
		}
		return activities.Completed(), nil
	})
	var got []string
	for _, e := range recorded(r.batches) {
		got = append(got, fmt.Sprintf("%.7s %d %d", e.Said(), len(e.Said()), opt.PercentIn(e.Status)))
	}
	want := []string{"half 4 50", "100 % 5 100", "unknown 7 0", "less 4 0", "ééééééé 4096 0"}
	test.OK(t, err)
	test.Equal(t, "progress", want, got)
}

// Work that only showed progress is not repeated because the journal does not take that.
func TestStream_progressIsNoReasonToRepeat(t *testing.T) {
	out, err := run(t, &recorder{refuse: 1 << 30}, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		s.Progress("half", 0.5)
		if err := activities.Sleep(ctx, time.Second); err != nil {
			return activities.Outcome{}, err
		}
		return activities.Completed(artifact("a", "1")), nil
	})
	if err != nil || len(out.Artifacts) != 1 {
		t.Errorf("got %+v, error %v", out, err)
	}
}

// recorded returns the events of batches.
func recorded(batches []opt.Batch) (events []opt.Event) {
	for _, b := range batches {
		events = append(events, b.Events...)
	}
	return events
}

// An artifact can be replaced while it is made.
func TestStream_replaces(t *testing.T) {
	r := &recorder{}
	out, err := run(t, r, work, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		chunk(t, s, "a", "1", false)
		chunk(t, s, "a", "2", false)
		if err := s.Replace(ctx, artifact("a", "3"), false); err != nil {
			return activities.Outcome{}, err
		}
		chunk(t, s, "a", "4", true)
		return activities.Completed(), nil
	})
	want := []string{"1-2-a+1", "1-2-a+2 append", "1-2-a+3", "1-2-a+4 append last", "batch " + taskID + "#1.1.1"}
	test.OK(t, err)
	test.Equal(t, "recorded", want, lines(r.batches))
	test.Equal(t, "artifacts", []a2a.Artifact{artifact("1-2-a", "34")}, out.Artifacts)
}

// A leg that replaces what an earlier one has streamed is logged, unless it says so by Replace.
func TestStream_Chunk_logsLoss(t *testing.T) {
	w := work
	w.Leg, w.Streamed = 1, []string{"1-2-a", "1-2-b"}
	core, logs := observer.New(zapcore.WarnLevel)
	cfg := config(&recorder{}, func(ctx context.Context, _ activities.Work, s activities.Stream) (activities.Outcome, error) {
		chunk(t, s, "a", "1", false)
		chunk(t, s, "a", "2", true)
		chunk(t, s, "c", "3", true)
		return activities.Completed(), s.Replace(ctx, artifact("b", "4"), true)
	})
	cfg.Log = zap.New(core)
	test.Value(runWith(t, cfg, w))(t)
	if all := logs.All(); len(all) != 1 || all[0].ContextMap()["artifactId"] != "1-2-a" {
		t.Errorf("logged %+v", all)
	}
}

// A wait for a worker is recorded before the pieces, and is no piece; a short one is not. No work is repeated for it.
// It ends when a worker took the task, which may have waited there, too.
func TestStream_waitedForWorker(t *testing.T) {
	for waited, want := range map[time.Duration][]string{
		time.Minute:            {"task-taken 1 60000 true", "artifact 2 0 false"},
		999 * time.Millisecond: {"artifact 1 0 false"},
	} {
		r, at := &recorder{}, time.Now().Add(-time.Hour)
		pieces, err := activities.RunTaken(t.Context(), r, work, at, waited, func(s activities.Stream) { chunk(t, s, "a", "1", true) })
		var got []string
		for _, b := range r.batches {
			for _, e := range b.Events {
				got = append(got, fmt.Sprint(e.Kind, " ", e.N, " ", e.Waited, " ", e.At.Equal(a2a.At(at))))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || pieces != 1 || err != nil {
			t.Errorf("after %v: %d pieces, error %v, events (-want +got):\n%s", waited, pieces, err, diff)
		}
	}
	if _, err := activities.RunTaken(t.Context(), &recorder{refuse: 1000}, work, time.Now(), time.Minute, func(activities.Stream) {}); err != nil {
		t.Errorf("without the journal: %v", err)
	}
}
