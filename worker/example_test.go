package worker_test

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"longhaul/activities"
	"longhaul/worker"
)

// refuser is an executor of our own.
type refuser struct{}

func (refuser) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	return activities.Rejected("not-today", "This worker does not run "+w.Name+" today."), nil
}

// A worker of our own runs tasks that name the executor "refuser".
func ExampleNew() {
	temporal, err := client.NewLazyClient(client.Options{HostPort: "localhost:7233"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer temporal.Close()
	var journal activities.Recorder // writes where readers find it
	w := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"refuser": refuser{}}, Default: "refuser", Recorder: journal,
	}})
	_ = w // w.Start() begins to work, w.Stop() waits for running tasks
	fmt.Println("The worker is ready.")
	// Output: The worker is ready.
}
