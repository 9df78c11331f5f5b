package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"sync"

	"longhaul/activities"
	"longhaul/opt"
)

// A tally is an executor that records its beginning and its end, each with one
// write to the end of a file that all processes share:
//
//	<key> <attempt> <process id> <nanoseconds since the epoch> begin|end|error|unrecorded <try>
//
// A line "unrecorded" says that the journal has not taken pieces of the try. The written lines survive a
// kill of the process, which is all that the tests need.
type tally struct {
	activities.Executor
	path  string
	works *sync.Map // by source of the pieces
}

// recorder returns a recorder that notes which pieces the journal does not take.
func (t tally) recorder(r activities.Recorder) activities.Recorder { return talliedRecorder{r, t} }

type talliedRecorder struct {
	activities.Recorder
	tally tally
}

func (r talliedRecorder) Record(ctx context.Context, batches ...opt.Batch) error {
	err := r.Recorder.Record(ctx, batches...)
	if err == nil || len(batches) == 0 {
		return err
	}
	if w, ok := r.tally.works.Load(batches[0].Source); ok {
		return cmp.Or(r.tally.note(w.(activities.Work), "unrecorded"), err)
	}
	return err
}

func (t tally) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	t.works.Store(activities.SourceOf(w), w)
	if err := t.note(w, "begin"); err != nil {
		return activities.Outcome{}, err
	}
	outcome, err := t.Executor.Execute(ctx, w, out)
	what := "end"
	if err != nil {
		what = "error"
	}
	if err := t.note(w, what); err != nil {
		return activities.Outcome{}, err
	}
	return outcome, err
}

func (t tally) note(w activities.Work, what string) error {
	f, err := os.OpenFile(t.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%s %d %d %d %s %d\n", w.Key, w.Attempt, os.Getpid(), trueNow().UnixNano(), what, w.Try)
	return err
}
