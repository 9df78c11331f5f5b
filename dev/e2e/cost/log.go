package cost

import (
	"context"
	"fmt"
	"path"
	"strings"
	"sync"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc"

	"longhaul/activities"
	"longhaul/api/service"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// A Log lists the cost of one objective at a time. It lists nothing outside of
// [Log.Run]. Its zero value is ready to use. It is safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	steps []*Step
	types map[string]string // of workflows and activities, by task token
	root  string            // type of the first workflow that was started
	ended chan struct{}     // closed when that workflow has completed; nil when nothing is listed
}

// Runs returns the costs of n objectives, one after another. It runs a few before
// them to fill caches.
func (l *Log) Runs(ctx context.Context, n int, once func(context.Context) error) ([]Cost, error) {
	const before = 5
	var costs []Cost
	for range before + n {
		cost, err := l.Run(ctx, once)
		if err != nil {
			return nil, err
		}
		costs = append(costs, cost)
	}
	return costs[before:], nil
}

// Run calls once, waits until the workflow that it started has completed, and
// returns the steps. Only one Run may be in progress.
func (l *Log) Run(ctx context.Context, once func(context.Context) error) (Cost, error) {
	ended := make(chan struct{})
	l.mu.Lock()
	l.steps, l.types, l.root, l.ended = nil, map[string]string{}, "", ended
	l.mu.Unlock()
	err := once(ctx)
	if err == nil {
		select {
		case <-ended:
		case <-ctx.Done():
			err = fmt.Errorf("wait until the workflow has completed: %w", ctx.Err())
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = nil
	var cost Cost
	for _, step := range l.steps {
		cost = append(cost, *step)
	}
	return cost, err
}

// Adjust makes a client list its requests in l.
func (l *Log) Adjust(o *client.Options) {
	o.ConnectionOptions.DialOptions = append(o.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			return l.request(path.Base(method), req, reply, func() error { return invoke(ctx, method, req, reply, conn, opts...) })
		}))
}

// request lists a request that send makes: a poll only if it returns a task.
func (l *Log) request(method string, req, reply any, send func() error) error {
	if strings.HasPrefix(method, "Poll") {
		err := send()
		if subject := l.noteType(reply); subject != "" {
			l.add(Step{Kind: Request, What: method + " " + subject})
		}
		return err
	}
	kind := Request
	if strings.HasSuffix(method, "Heartbeat") {
		kind = Heartbeat
	}
	step := l.add(Step{kind, strings.TrimSpace(method + " " + l.describe(req)), priceOf(req)})
	err := send()
	l.addReply(step, req, reply, err)
	return err
}

// add lists a step, unless no Run is in progress.
func (l *Log) add(step Step) *Step {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		l.steps = append(l.steps, &step)
	}
	return &step
}

// addReply adds the reply to a step: tasks that need no poll, or an error.
func (l *Log) addReply(step *Step, req, reply any, err error) {
	var eager []string
	switch r := reply.(type) {
	case *workflowservice.StartWorkflowExecutionResponse:
		eager = append(eager, l.noteType(r.GetEagerWorkflowTask()))
	case *workflowservice.RespondWorkflowTaskCompletedResponse:
		eager = append(eager, l.noteType(r.GetWorkflowTask()))
		for _, task := range r.GetActivityTasks() {
			eager = append(eager, l.noteType(task))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		step.What += ": " + err.Error()
		return
	}
	for _, subject := range eager {
		if subject != "" {
			step.What += " → " + subject
		}
	}
	if r, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest); ok && l.ended != nil && l.types[string(r.TaskToken)] == l.root {
		for _, command := range r.GetCommands() {
			if command.GetCommandType() == enumspb.COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION {
				close(l.ended)
				l.ended = nil
				return
			}
		}
	}
}

// noteType stores the type of the task in reply and returns it, "" if reply has no task, as
// after an empty poll.
func (l *Log) noteType(reply any) string {
	task, ok := reply.(interface{ GetTaskToken() []byte })
	if !ok || len(task.GetTaskToken()) == 0 {
		return ""
	}
	subject := typeOf(reply)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended != nil {
		l.types[string(task.GetTaskToken())] = subject
	}
	return subject
}

// typeOf returns the type of the activity or workflow that a message names.
func typeOf(message any) string {
	if m, ok := message.(interface{ GetActivityType() *commonpb.ActivityType }); ok {
		return m.GetActivityType().GetName()
	}
	if m, ok := message.(interface{ GetWorkflowType() *commonpb.WorkflowType }); ok {
		return m.GetWorkflowType().GetName()
	}
	return ""
}

// describe describes a request: its type, and the commands of a workflow task.
func (l *Log) describe(req any) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	subject := typeOf(req)
	if subject != "" && l.root == "" {
		l.root = subject
	}
	if task, ok := req.(interface{ GetTaskToken() []byte }); ok {
		subject = l.types[string(task.GetTaskToken())]
	}
	done, ok := req.(*workflowservice.RespondWorkflowTaskCompletedRequest)
	if !ok {
		return subject
	}
	var commands []string
	for _, command := range done.GetCommands() {
		what := command.GetCommandType().String()
		if name := typeOf(command.GetScheduleActivityTaskCommandAttributes()); name != "" {
			what += " " + name
		}
		commands = append(commands, what)
	}
	return subject + ": " + strings.Join(commands, ", ")
}

// Journal returns a journal that lists the batches it records in l, and its reads.
func (l *Log) Journal(j service.Journal) service.Journal { return listedJournal{j, l} }

// Recorder returns a recorder that lists the batches it records in l.
func (l *Log) Recorder(r activities.Recorder) activities.Recorder { return listedRecorder{r, l} }

func (l *Log) batch(source string, batches []opt.Batch) {
	var events []string
	for _, b := range batches {
		for _, e := range b.Events {
			events = append(events, strings.TrimSpace(string(e.Kind)+" "+e.To))
		}
	}
	l.add(Step{Kind: Batch, What: source + ": " + strings.Join(events, ", ")})
}

type listedJournal struct {
	service.Journal
	log *Log
}

func (j listedJournal) Record(ctx context.Context, batches ...opt.Batch) error {
	j.log.batch("API", batches)
	return j.Journal.Record(ctx, batches...)
}

func (j listedJournal) Task(ctx context.Context, tenant, id string, want shown.TaskWant) (shown.TaskView, error) {
	j.log.add(Step{Kind: Read, What: "task"})
	return j.Journal.Task(ctx, tenant, id, want)
}

func (j listedJournal) Peek(ctx context.Context, tenant, id string) (opt.TaskState, int64, error) {
	j.log.add(Step{Kind: Read, What: "state of a task"})
	return j.Journal.Peek(ctx, tenant, id)
}

func (j listedJournal) Objective(ctx context.Context, tenant, id string) (*opt.Objective, error) {
	j.log.add(Step{Kind: Read, What: "objective"})
	return j.Journal.Objective(ctx, tenant, id)
}

type listedRecorder struct {
	activities.Recorder
	log *Log
}

func (r listedRecorder) Record(ctx context.Context, batches ...opt.Batch) error {
	r.log.batch("worker", batches)
	return r.Recorder.Record(ctx, batches...)
}
