package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/opt"
)

const (
	streamEvery = 50 * time.Millisecond // between two writes of one stream
	streamSoon  = 5 * time.Millisecond  // for which a piece waits for others if none was written for a while
	streamMost  = 64                    // pieces held back at most
	takenAfter  = time.Second           // a wait for a worker that is shown
)

// A stream is the [Stream] of one attempt. It numbers pieces and progress, writes them to
// the journal a few at a time, and keeps the artifacts that they form.
type stream struct {
	recorder Recorder
	contents contents
	work     Work
	log      *zap.Logger
	try      int           // of the attempt
	start    func()        // of the writer; only the first call does it
	wake     chan struct{} // holds one value if something is pending
	quit     func()        // ends the pauses of the writer
	writer   sync.WaitGroup
	writing  sync.Mutex // is held while events are written

	mu        sync.Mutex
	n         int64
	starts    int64 // events about the begin of the try, before its pieces
	pending   []opt.Event
	artifacts []a2a.Artifact // assembled, in the order they began
	progress  *a2a.Message   // waits for its time; a later one takes its place
	shown     progressed     // the latest progress
	err       error          // of the last write; the next Chunk reports it
	refused   bool           // the journal has other events of this try: the outcome brings the artifacts
}

// A progressed value is the latest progress of a stream, and the pace of it.
type progressed struct {
	text    string
	percent int
	times   int       // that progress was shown
	next    time.Time // when it may be shown again
	timer   *time.Timer
}

// newStream returns a stream that writes until it is stopped or ctx, the context
// of the attempt, is done.
func newStream(ctx context.Context, r Recorder, c contents, w Work, try int) *stream {
	until, quit := context.WithCancel(ctx)
	s := &stream{recorder: r, contents: c, work: w, try: try, wake: make(chan struct{}, 1), quit: quit}
	s.start = sync.OnceFunc(func() { s.writer.Go(func() { s.write(ctx, until) }) })
	return s
}

// begin records that the work begins again after a lost worker, or after one that could not reach
// the journal. If the journal does not take the event yet, it is written with the next ones. The
// first try has no separate event: the move that begins the attempt says it.
func (s *stream) begin(ctx context.Context) error {
	s.starting(opt.Event{Kind: opt.TaskTried, At: a2a.At(time.Now()), From: string(opt.TaskWorking), To: string(opt.TaskWorking)})
	return s.flush(ctx) // and kept in s.err
}

// taken shows for how long the first try waited for the worker that took it at a time, unless that was short. In the
// worker it may have waited again, for others.
func (s *stream) taken(at time.Time, waited time.Duration) {
	if waited >= takenAfter {
		s.starting(opt.Event{Kind: opt.TaskTaken, At: a2a.At(at), Waited: waited.Milliseconds()})
	}
}

// starting queues an event about the begin of the try.
func (s *stream) starting(e opt.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	s.starts++
	e.N, e.PlanID, e.TaskID = s.n, s.work.PlanID, s.work.TaskID
	e.Round, e.Attempt, e.Leg, e.Try = s.work.Round, s.work.Attempt, s.work.Leg, s.try
	s.pending = append(s.pending, e)
	s.start()
	s.wakeWriter()
}

// pieces returns how many pieces were streamed.
func (s *stream) pieces() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n - s.starts - int64(s.shown.times)
}

// Chunk implements [Stream].
func (s *stream) Chunk(ctx context.Context, piece a2a.Artifact, last bool) error {
	return s.put(ctx, piece, last, false)
}

// Replace implements [Stream].
func (s *stream) Replace(ctx context.Context, piece a2a.Artifact, last bool) error {
	return s.put(ctx, piece, last, true)
}

func (s *stream) put(ctx context.Context, piece a2a.Artifact, last, replaces bool) error {
	piece.ArtifactID = opt.ArtifactID(s.work.TaskID, piece.ArtifactID)
	s.mu.Lock()
	err := s.err
	begins := s.add(piece, last, replaces)
	full := len(s.pending) >= streamMost
	s.start()
	s.wakeWriter()
	s.mu.Unlock()
	if begins && !replaces && slices.Contains(s.work.Streamed, piece.ArtifactID) {
		s.log.Warn("A leg has replaced an artifact that an earlier leg has streamed: its pieces are lost. Where that is meant, call Replace in the place of Chunk",
			zap.String("artifactId", piece.ArtifactID), zap.Int("leg", s.work.Leg))
	}
	if err == nil && full {
		err = s.flushUntil(ctx)
	}
	return err
}

// Progress implements [Stream].
func (s *stream) Progress(text string, fraction float64) {
	percent := 0
	if fraction > 0 { // and not NaN
		percent = int(100 * min(fraction, 1))
	}
	text = cmp.Or(strings.ToValidUTF8(text[:min(len(text), opt.MaxProgress)], ""), fmt.Sprintf("%d %%", percent))
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == s.shown.text && percent == s.shown.percent {
		return
	}
	s.shown.text, s.shown.percent = text, percent
	waits := s.progress != nil
	m := a2a.AgentMessage(s.work.ContextID, s.work.TaskID, "", text)
	m.Metadata = m.Metadata.WithIf(percent > 0, opt.KeyProgress, percent)
	if s.progress = m; !waits {
		s.shown.timer = time.AfterFunc(time.Until(s.shown.next), s.queueProgress)
	}
}

// queueProgress queues the event for the progress that waits, if any does.
func (s *stream) queueProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.progress == nil {
		return
	}
	s.n++
	s.shown.times++
	s.shown.next = time.Now().Add(opt.ProgressPause(s.shown.times))
	s.progress.MessageID = fmt.Sprintf("%s:progress-%d", SourceOf(s.work), s.n)
	s.pending = append(s.pending, opt.Event{
		N: s.n, Kind: opt.TaskProgressed, At: a2a.At(time.Now()), PlanID: s.work.PlanID, TaskID: s.work.TaskID,
		From: string(opt.TaskWorking), To: string(opt.TaskWorking), Round: s.work.Round, Attempt: s.work.Attempt, Leg: s.work.Leg, Try: s.try,
		Status: s.progress,
	})
	s.progress = nil
	s.start()
	s.wakeWriter()
}

// add appends piece to its artifact, or puts it in its place, and queues the event that says so. It
// reports whether the piece is the first one.
func (s *stream) add(piece a2a.Artifact, last, replaces bool) (begins bool) {
	piece.Parts = slices.Clone(piece.Parts) // the executor may reuse its slice
	i := slices.IndexFunc(s.artifacts, func(a a2a.Artifact) bool { return a.ArtifactID == piece.ArtifactID })
	whole := piece
	whole.Parts = slices.Clone(piece.Parts)
	switch {
	case i < 0:
		s.artifacts = append(s.artifacts, whole)
	case replaces:
		s.artifacts[i] = whole
	default:
		s.artifacts[i].Parts = a2a.AppendParts(s.artifacts[i].Parts, piece.Parts...)
	}
	s.n++
	s.pending = append(s.pending, opt.Event{
		N: s.n, Kind: opt.ArtifactAdded, At: a2a.At(time.Now()), PlanID: s.work.PlanID, TaskID: s.work.TaskID,
		RootID: s.work.RootID, Round: s.work.Round, Attempt: s.work.Attempt, Leg: s.work.Leg, Try: s.try,
		Chunk: &opt.Chunk{Artifact: piece, Append: i >= 0 && !replaces, Last: last},
	})
	return i < 0
}

// write flushes until the stream stops: soon after a piece if none was written for a
// while, otherwise with those that arrive until then. The end of until stops it between two
// writes.
func (s *stream) write(ctx, until context.Context) {
	for {
		select {
		case <-until.Done():
			return
		case <-s.wake:
		}
		if Sleep(until, streamSoon) != nil {
			return
		}
		if s.flush(ctx) != nil { // kept in s.err
			s.wakeWriter()
		}
		if Sleep(until, streamEvery) != nil {
			return
		}
	}
}

// wakeWriter makes the writer write the pending pieces.
func (s *stream) wakeWriter() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// flush writes the pending pieces. Pieces that could not be written stay pending. The journal may hold a write for
// longer than ctx lasts; pieces may be added meanwhile.
func (s *stream) flush(ctx context.Context) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	if s.refused {
		s.pending = nil
	}
	events, err := slices.Clip(s.pending), s.err
	s.mu.Unlock()
	if len(events) == 0 {
		return err
	}
	if err = s.detach(ctx, events); err == nil {
		err = s.recorder.Record(ctx, opt.Batch{ObjectiveID: s.work.ObjectiveID, Source: SourceOf(s.work), Events: events})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.As(err, new(*opt.RewoundError)): // the workflow was reset, and the task runs again under its number
		s.refused, s.pending, s.err = true, nil, nil
	case err != nil:
		s.err = &recordError{err}
	default:
		s.pending, s.err = s.pending[len(events):], nil
	}
	return s.err
}

// flushUntil is flush that returns when ctx ends.
func (s *stream) flushUntil(ctx context.Context) error {
	written := make(chan error, 1)
	s.writer.Go(func() { written <- s.flush(ctx) })
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// detach stores the large contents of events as blobs.
func (s *stream) detach(ctx context.Context, events []opt.Event) (err error) {
	for _, e := range events {
		if c := e.Chunk; c != nil {
			if c.Artifact.Parts, err = s.contents.detach(ctx, c.Artifact.Parts); err != nil {
				return err
			}
		}
	}
	return nil
}

// SourceOf returns the source of the events of a try at a task: each leg and each try
// at it has its own.
func SourceOf(w Work) string {
	name := fmt.Sprintf("%s#%d.%d.%d", w.TaskID, w.Round, w.Attempt, w.Try)
	if w.Leg > 0 {
		name += fmt.Sprintf(".leg-%d", w.Leg)
	}
	if w.Epoch > 1 {
		name += fmt.Sprintf(".epoch-%d", w.Epoch)
	}
	return name
}

// stop ends the writer. It may be called more than once.
func (s *stream) stop() {
	s.mu.Lock()
	if s.shown.timer != nil {
		s.shown.timer.Stop()
	}
	s.mu.Unlock()
	s.quit()
	s.writer.Wait()
}

// finish writes the rest and puts the artifacts of the stream before the artifacts of
// out; every id becomes unique within the objective.
func (s *stream) finish(ctx context.Context, out Outcome) (Outcome, error) {
	s.stop()
	s.queueProgress() // so that what a parked task said last is shown
	if err := s.flush(ctx); err != nil && !s.onlyProgress() {
		return Outcome{}, err
	}
	artifacts := slices.Clone(s.artifacts) // the slice in out belongs to the executor
	for _, a := range artifacts {
		if s.refused {
			break
		}
		out.Streamed = append(out.Streamed, a.ArtifactID)
	}
	for _, a := range out.Artifacts {
		a.ArtifactID = opt.ArtifactID(s.work.TaskID, a.ArtifactID)
		artifacts = append(artifacts, a)
	}
	out.Try = s.try
	var err error
	if out.Gate, err = s.gate(ctx, out.Gate); err != nil {
		return Outcome{}, err
	}
	out.Artifacts, err = s.contents.detachAll(ctx, artifacts)
	return out, err
}

// onlyProgress reports whether all that could not be written is progress or a wait, for which no
// work is repeated.
func (s *stream) onlyProgress() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !slices.ContainsFunc(s.pending, func(e opt.Event) bool { return e.Kind != opt.TaskProgressed && e.Kind != opt.TaskTaken })
}

// gate returns a gate of the executor with references in the place of large
// contents of its object, whose id becomes unique within the objective.
func (s *stream) gate(ctx context.Context, g *opt.Gate) (*opt.Gate, error) {
	if g == nil {
		return nil, nil
	}
	out := *g
	if out.ArtifactID != "" {
		out.ArtifactID = opt.ArtifactID(s.work.TaskID, out.ArtifactID)
	}
	var err error
	out.Object, err = s.contents.detach(ctx, g.Object)
	return &out, err
}
