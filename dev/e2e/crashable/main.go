// Crashable is Longhaul in one process with hooks for tests: it kills itself at a
// point that the environment names, records each run of an executor in a file,
// and lets the test decide when tasks and planners continue.
//
// CRASHABLE_POINT is the name of a point, followed by ":3" for the third time that
// it is reached:
//
//	engine-started         Temporal has the work, the journal does not
//	accepted               the journal has it too, the client has no answer
//	told                   Temporal has the message, the client has no answer
//	outcome-before-record  a task's activity has ended, the journal does not know
//	mid-record             while that is written
//	recorded               it was written, and the workflow has not heard
//	streamed               pieces of an artifact were written, their task still runs
//
// It does not kill itself at "unrecorded": the journal does not take the last piece of a first try.
//
// CRASHABLE_TALLY is the path of the file. See [tally].
//
// CRASHABLE_CLOCK is the path of a file with how far the clock of the process is ahead, such as -3m. See
// [setClock].
//
// CRASHABLE_CONTROL is the URL of the test's control. See [control].
package main

import (
	"context"
	"os"
	"sync"

	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/dev/temporald"
	"longhaul/internal/cli"
	"longhaul/internal/serve"
)

func main() {
	if path := os.Getenv("CRASHABLE_CLOCK"); path != "" {
		setClock(path)
	}
	at := newPoint(os.Getenv("CRASHABLE_POINT"))
	build := serve.Build{Embed: temporald.Embed, Engine: at.engine, Journal: at.journal, Recorder: at.recorder}
	var executor activities.Executor = parkingExecutor{echo.Executor{}}
	if url := os.Getenv("CRASHABLE_CONTROL"); url != "" {
		executor = waitingExecutor{executor, control{url}}
		build.Planner = func(p activities.Planner) activities.Planner { return waitingPlanner{p, control{url}} }
	}
	if path := os.Getenv("CRASHABLE_TALLY"); path != "" {
		t := tally{executor, path, &sync.Map{}}
		executor = t
		build.Recorder = func(r activities.Recorder) activities.Recorder { return t.recorder(at.recorder(r)) }
	}
	build.Executors = map[string]activities.Executor{"echo": executor}
	os.Exit(cli.Run(context.Background(), os.Args[1:], os.Stdout, os.Stderr, build))
}
