package main

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"longhaul/activities"
	"longhaul/api/service"
	"longhaul/opt"
)

// A point is where the process kills itself.
type point struct {
	name string
	left atomic.Int64 // times until the process kills itself
}

func newPoint(spec string) *point {
	name, nth, _ := strings.Cut(spec, ":")
	p := &point{name: name}
	n, err := strconv.ParseInt(nth, 10, 64)
	if err != nil {
		n = 1
	}
	p.left.Store(n)
	return p
}

// reached reports whether the process must kill itself here.
func (p *point) reached(name string) bool { return p.name == name && p.left.Add(-1) == 0 }

// pass kills the process if it must end here.
func (p *point) pass(name string) {
	if p.reached(name) {
		killSelf()
	}
}

func killSelf() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // wait for the signal
}

type engine struct {
	service.Engine
	at *point
}

func (p *point) engine(e service.Engine) service.Engine { return engine{e, p} }

func (e engine) Start(ctx context.Context, o opt.Opening) (opt.Opening, error) {
	out, err := e.Engine.Start(ctx, o)
	if err == nil {
		e.at.pass("engine-started")
	}
	return out, err
}

func (e engine) Letter(ctx context.Context, l opt.Letter) error {
	err := e.Engine.Letter(ctx, l)
	if err == nil {
		e.at.pass("told")
	}
	return err
}

type journal struct {
	service.Journal
	at *point
}

func (p *point) journal(j service.Journal) service.Journal { return journal{j, p} }

func (j journal) Record(ctx context.Context, batches ...opt.Batch) error {
	err := j.Journal.Record(ctx, batches...)
	if err == nil {
		j.at.pass("accepted")
	}
	return err
}

type recorder struct {
	activities.Recorder
	at *point
}

func (p *point) recorder(r activities.Recorder) activities.Recorder { return recorder{r, p} }

func (r recorder) Record(ctx context.Context, batches ...opt.Batch) error {
	if r.at.name == "unrecorded" && slices.ContainsFunc(batches, func(b opt.Batch) bool { return slices.ContainsFunc(b.Events, isLastPiece) }) {
		return opt.ErrUnavailable
	}
	outcome := slices.ContainsFunc(batches, func(b opt.Batch) bool { return slices.ContainsFunc(b.Events, isOutcome) })
	if outcome {
		r.at.pass("outcome-before-record")
	}
	if slices.ContainsFunc(batches, func(b opt.Batch) bool { return slices.ContainsFunc(b.Events, isEnd) }) {
		r.at.pass("end-before-record")
	}
	if outcome && r.at.reached("mid-record") {
		go func() {
			time.Sleep(time.Duration(rand.Int64N(int64(2 * time.Millisecond))))
			killSelf()
		}()
	}
	err := r.Recorder.Record(ctx, batches...)
	switch {
	case err != nil:
	case outcome:
		r.at.pass("recorded")
	case strings.Contains(batches[0].Source, "#"):
		r.at.pass("streamed")
	}
	return err
}

// isEnd reports whether e ends an objective.
func isEnd(e opt.Event) bool {
	return e.Kind == opt.ObjectiveMoved && opt.ObjectiveStatus(e.To).Ended()
}

// isOutcome reports whether e says that a plan task completed or waits.
func isOutcome(e opt.Event) bool {
	to := opt.TaskState(e.To)
	return e.Kind == opt.TaskMoved && e.PlanID != "" && (to == opt.TaskCompleted || to.Waiting())
}

// isLastPiece reports whether e is the last piece of an artifact, in the first try.
func isLastPiece(e opt.Event) bool { return e.Chunk != nil && e.Chunk.Last && e.Try <= 1 }
