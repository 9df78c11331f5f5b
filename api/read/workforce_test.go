package read

import (
	"context"
	"errors"
	"testing"
	"time"

	"longhaul/opt/shown"
)

// Pages get the latest answer of Temporal, and do not wait for the next one; an old answer is none.
func TestWorkforce(t *testing.T) {
	now := time.Now()
	answers, asked := make(chan error), make(chan bool)
	w := workforce{now: func() time.Time { return now }, ask: func(context.Context) (shown.Workforce, error) {
		asked <- true
		return shown.Workforce{Workers: []shown.WorkerLoad{{Name: "one"}}}, <-answers
	}}
	go func() { <-asked; answers <- nil }()
	expect := func(when string, want bool) {
		t.Helper()
		if got, ok := w.get(t.Context(), workforceFirst); ok != want || len(got.Workers) != 1 {
			t.Errorf("%s: %+v, %v", when, got, ok)
		}
	}
	expect("at first", true)
	now = now.Add(workforceAge)
	expect("while it is asked again", true)
	<-asked
	answers <- errors.New("away")
	<-w.asking
	now = now.Add(workforceStale)
	expect("without an answer since then", false)
	<-asked
	answers <- nil
	<-w.asking
	expect("once it answers", true)
}
