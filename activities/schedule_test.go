package activities_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"go.temporal.io/sdk/temporal"

	"longhaul/activities"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A lasting is an objective that does not end.
type lasting struct{}

func (lasting) Task(context.Context, string, string, shown.TaskWant) (shown.TaskView, error) {
	return shown.TaskView{}, nil
}

func (lasting) Peek(context.Context, string, string) (opt.TaskState, int64, error) {
	return opt.TaskWorking, 1, nil
}

func (lasting) C() <-chan struct{} { return nil }
func (lasting) Close()             {}

// A schedule that allows any number of objectives leaves room for the waits of others.
func TestSchedules_AwaitObjective_beside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		s := activities.NewSchedules(activities.ScheduleConfig{Tasks: lasting{}, Watch: func(string) activities.Watch { return lasting{} }})
		await := func(beside bool) error {
			_, err := s.AwaitObjective(ctx, activities.OpenObjective{ObjectiveID: "obj-1", Beside: beside})
			return err
		}
		for range activities.MaxBeside {
			go await(true)
		}
		synctest.Wait()
		if busy, ok := errors.AsType[*temporal.ApplicationError](await(true)); !ok || busy.Type() != activities.BusyError || busy.NextRetryDelay() == 0 {
			t.Errorf("one more got %v", busy)
		}
		ended := make(chan error, 1)
		go func() { ended <- await(false) }()
		synctest.Wait()
		select {
		case err := <-ended:
			t.Errorf("a wait of another schedule ended with %v", err)
		default:
		}
		cancel()
		synctest.Wait()
		test.Error(t, "when the others have ended", context.Canceled, await(true))
	})
}
