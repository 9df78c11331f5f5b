package main

import (
	"context"
	"fmt"
	"os"

	"longhaul/activities"
)

// A tally is an executor that records its beginning and its end, each with one
// write to the end of a file that all processes share:
//
//	<key> <attempt> <process id> <nanoseconds since the epoch> begin|end|error
//
// The written lines survive a kill of the process, which is all that the tests need.
type tally struct {
	activities.Executor
	path string
}

func (t tally) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
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
	_, err = fmt.Fprintf(f, "%s %d %d %d %s\n", w.Key, w.Attempt, os.Getpid(), trueNow().UnixNano(), what)
	return err
}
