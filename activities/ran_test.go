package activities_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/internal/test"
)

// The outcome of a leg and the error of an attempt say how long it ran, without the wait for a limit.
func TestRun_measures(t *testing.T) {
	for name, failure := range map[string]error{"an outcome": nil, "an error": errors.New("no route")} {
		synctest.Test(t, func(t *testing.T) {
			cfg := config(&recorder{}, func(context.Context, activities.Work, activities.Stream) (activities.Outcome, error) {
				time.Sleep(1500 * time.Millisecond)
				return activities.Completed(), failure
			})
			cfg.Limits = map[string]int{cfg.Default: 1}
			acts, ran := activities.New(cfg), make(chan int64, 2)
			for range 2 {
				go func() {
					out, err := acts.Run(t.Context(), activities.RunInput{Work: work})
					if failed, ok := errors.AsType[*temporal.ApplicationError](err); ok && failed.Details(&out.Ran) != nil {
						t.Errorf("%s: the error is %v", name, err)
					}
					ran <- out.Ran
				}()
			}
			for range 2 {
				test.Is(t, name+": ms that it ran", 1500, <-ran)
			}
		})
	}
}
