package worker_test

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/client"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/opt"
	"longhaul/worker"
)

// greeter is an executor of our own.
type greeter struct{}

func (greeter) Execute(_ context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	return activities.Completed(a2a.Artifact{ArtifactID: "greeting", Parts: []a2a.Part{a2a.TextPart("Hello, " + w.Name)}}), nil
}

// journal keeps nothing; a real one writes where readers find it.
type journal struct{}

func (journal) Record(context.Context, ...opt.Batch) error { return nil }

// A worker of our own runs tasks that name the executor "greeter".
func ExampleNew() {
	temporal, err := client.NewLazyClient(client.Options{HostPort: "localhost:7233"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer temporal.Close()
	w := worker.New(worker.Config{Temporal: temporal, Activities: activities.Config{
		Executors: map[string]activities.Executor{"greeter": greeter{}}, Default: "greeter", Recorder: journal{},
	}})
	_ = w // w.Start() begins to work, w.Stop() lets running tasks end
	fmt.Println("The worker is ready.")
	// Output: The worker is ready.
}
