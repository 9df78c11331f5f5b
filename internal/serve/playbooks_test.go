package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/testsuite"
	sdkworker "go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/activities/echo"
	"longhaul/activities/planner"
	"longhaul/activities/refuse"
	"longhaul/api/call"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/workflows"
)

// The example of the documentation is a valid playbook and does what the text says. It and those
// of checks have every member that a playbook may have, but front, which takes the place of plans.
func TestDocs_playbook(t *testing.T) {
	docs := readFile(t, "../../docs/playbooks.md")
	_, rest, _ := strings.Cut(docs, "```yaml\n")
	example, _, found := strings.Cut(rest, "```\n")
	if !found {
		t.Fatal("there is no example")
	}
	docs += readFile(t, "../../docs/decide.md")
	all := strings.Join(regexp.MustCompile("(?s)```yaml\n.*?```").FindAllString(docs, -1), "")
	for _, name := range members(t) {
		test.Contains(t, "the text", "`"+name+"`", docs)
		if name != "front" && !regexp.MustCompile(`(?m)(^|[{, -])`+name+`:`).MatchString(all) {
			t.Errorf("the example has no %s", name)
		}
	}
	books := test.Value(workSettings{Playbooks: []string{test.File(t, "article.yaml", example)}}.loadPlaybooks(Build{}, nil))(t)
	test.OK(t, books.CheckExecutors("echo", "echo"))
	made := perform(t, books, "Please write an article about tea")
	want := `Mind the spelling of:
Draft
Make an outline
{"sources":"Tea comes from China.\nPeople drink it hot.","topic":"Please write an article about tea","words":500}
· Encyclopedia
· Interview
· Length
· Outline
It was checked: All of it is true.`
	test.Contains(t, "the objective made", want, strings.Join(made, "\n--\n"))
}

// members lists the members that the reader of playbooks accepts.
func members(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, m := range regexp.MustCompile(`(?m)"([a-z-]+)": +func|members\["([a-z]+)"\]`).FindAllStringSubmatch(readFile(t, "../../activities/planner/decode.go")+readFile(t, "../../activities/planner/schedule.go"), -1) {
		names = append(names, m[1]+m[2])
	}
	if len(names) < 25 {
		t.Fatalf("only %q were found", names)
	}
	return names
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data := test.Value(os.ReadFile(name))(t)
	return string(data)
}

// perform runs the plans that books have for a message and returns the texts that the root task
// shows.
func perform(t *testing.T, books *planner.Playbooks, text string) []string {
	t.Helper()
	m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
	name, plans, _, err := books.Match(m)
	if err != nil || name == "" {
		t.Fatalf("playbook %q, error %v", name, err)
	}
	log, err := play(books, opt.Opening{Message: &m, Plans: plans})
	if err != nil {
		t.Fatalf("the objective did not complete: %v", err)
	}
	return log.texts
}

// play carries out an objective, in Temporal's test environment with the real workflows. It
// answers every gate.
func play(books *planner.Playbooks, opening opt.Opening) (*shown, error) {
	o := opt.Objective{ID: opt.NewObjectiveID([16]byte{}), Tenant: "t", Principal: "p", Name: "Test", Status: opt.ObjectiveSubmitted, Root: opt.TaskSubmitted, Attempt: 1}
	opening.Objective = o
	env := (&testsuite.WorkflowTestSuite{}).NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute) // of the machine, which may be busy
	env.SetWorkerOptions(sdkworker.Options{DeadlockDetectionTimeout: time.Minute})
	env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: o.ID, TaskQueue: workflows.TaskQueue})
	env.RegisterWorkflowWithOptions(workflows.Objective, workflow.RegisterOptions{Name: workflows.ObjectiveWorkflow})
	env.RegisterWorkflowWithOptions(workflows.Plan, workflow.RegisterOptions{Name: workflows.PlanWorkflow})
	log := &shown{rootID: o.ID, heard: map[string]bool{}}
	env.RegisterActivity(activities.New(activities.Config{
		Executors: map[string]activities.Executor{"echo": echo.Executor{}, refuse.Kind: refuse.Executor{}}, Default: "echo", Planner: books, Recorder: log,
	}))
	log.asked = func(g opt.Gate) {
		reply := &opt.Reply{GateID: g.ID, Action: opt.Accept}
		for _, q := range g.Questions {
			reply.Action, reply.Answers = "", append(reply.Answers, opt.Answer{ID: q.ID, Answer: []byte(`500`)})
		}
		ref, _ := opt.ParseID(g.TaskID)
		for i, who := range []string{"ann", "eve"} {
			letter := opt.Letter{ObjectiveID: o.ID, PlanID: ref.PlanID, TaskID: g.TaskID, Principal: who, Groups: []string{"editors"}, Reply: reply,
				Message: a2a.Message{MessageID: g.ID, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("here")}}}
			env.RegisterDelayedCallback(func() { _ = env.SignalWorkflowByID(ref.PlanID, workflows.LetterSignal, letter) }, time.Duration(i+1)*time.Minute)
		}
	}
	env.ExecuteWorkflow(workflows.Objective, workflows.ObjectiveInput{Opening: &opening})
	if !env.IsWorkflowCompleted() {
		return log, errors.New("the workflow runs")
	}
	return log, env.GetWorkflowError()
}

// shown is what a root task shows in the end.
type shown struct {
	rootID string
	asked  func(opt.Gate)

	mu    sync.Mutex
	texts []string
	last  string          // state of the root task, with its text
	heard map[string]bool // events, by source and number
}

func (s *shown) Record(_ context.Context, batches ...opt.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range batches {
		for _, e := range b.Events {
			s.onEvent(b.Source, e)
		}
	}
	return nil
}

// onEvent handles an event. It may come more than once.
func (s *shown) onEvent(source string, e opt.Event) {
	key := fmt.Sprint(source, " ", e.N)
	if s.heard[key] {
		return
	}
	s.heard[key] = true
	switch {
	case e.Kind == opt.TaskMoved && e.Gate != nil && e.PlanID != "":
		s.asked(*e.Gate)
	case e.Kind == opt.TaskMoved && e.TaskID == s.rootID:
		s.last = e.To + " "
		if e.Status != nil {
			s.last += e.Status.Text()
		}
	case e.Kind == opt.ArtifactAdded && e.RootID == s.rootID:
		s.texts = append(s.texts, e.Chunk.Artifact.Text())
	}
}

// A message that no skill takes ends rejected, with the list of skills.
func TestPlaybooks_rejects(t *testing.T) {
	for _, tt := range []struct {
		settings workSettings
		build    Build
		text     string
		want     string
	}{
		{workSettings{}, Build{}, "say hello", "rejected No skill takes this message. This agent has no skills."},
		{workSettings{}, Build{}.withEcho(), "say hello", "completed "},
		{workSettings{}, Build{}.withEcho(), "Sing a song", "rejected No skill takes this message. The skills are:\n- research-and-write: "},
		{workSettings{Fallback: "echo"}, Build{}.withEcho(), "Sing a song", "completed "},
	} {
		books := test.Value(tt.settings.loadPlaybooks(tt.build, nil))(t)
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(tt.text)}}
		d, err := playbooks{set: playbookSet(t, books)}.Decide(t.Context(), m)
		if err != nil || d.Plans != nil || d.Answer != nil {
			t.Fatalf("%s: decided %+v, error %v", tt.text, d, err)
		}
		got := ended(t, books, m)
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%+v, %q: ended %q, want %q", tt.settings, tt.text, got, tt.want)
		}
		if why, _ := strings.CutPrefix(got, "rejected "); strings.HasPrefix(got, "rejected ") != (d.Refusal != "") || d.Refusal != "" && d.Refusal != why {
			t.Errorf("%+v, %q: ended %q, but the API expects the refusal %q", tt.settings, tt.text, got, d.Refusal)
		}
	}
}

// Criteria of a message are refused before anything begins, and a message with criteria begins work.
func TestPlaybooks_criteria(t *testing.T) {
	for accept, want := range map[string]string{
		`{"criteria":"a"}`:                        "",
		`{"criteria":"a","rounds":1}`:             "message.metadata." + opt.KeyAccept + ": may have criteria",
		`{"checks":[{"name":"a","holds":"b >"}]}`: "the condition is not CEL",
	} {
		m := a2a.Message{MessageID: "m", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("1 + 2")}}
		m.Metadata = m.Metadata.With(opt.KeyAccept, json.RawMessage(accept))
		d, err := playbooks{set: playbookSet(t, &planner.Playbooks{})}.Decide(t.Context(), m)
		var fault *call.Fault
		switch {
		case want == "" && (err != nil || d.Answer != nil):
			t.Errorf("%s: decided %+v, error %v", accept, d, err)
		case want != "" && (!errors.As(err, &fault) || fault.Kind != call.InvalidParams || !strings.Contains(fault.Error(), want)):
			t.Errorf("%s: error %v, want %q", accept, err, want)
		}
	}
}

// ended returns the last state of the root task for a message, and its text, after the
// worker has made and carried out the plans.
func ended(t *testing.T, books *planner.Playbooks, m a2a.Message) string {
	t.Helper()
	log, _ := play(books, opt.Opening{Message: &m}) // its workflow may have failed
	return log.last
}

func playbookSet(t *testing.T, books *planner.Playbooks) *planner.PlaybookSet {
	t.Helper()
	s := test.Value(planner.NewPlaybookSet(func() (*planner.Playbooks, error) { return books, nil }))(t)
	return s
}

// Mistakes in playbooks are reported before Temporal is started.
func TestDev_checksPlaybooksFirst(t *testing.T) {
	embed := func(context.Context, EmbedConfig) (*Embedded, error) { return nil, errors.New("Temporal was started") }
	for text, want := range map[string]string{
		"name: a\nplan: []\n": "a.yaml:2: ",
		"name: a\ndefault: true\nplans:\n- name: P\n  tasks: [{name: T, executor: nope}]\n": "nope",
	} {
		said := refused(t, 1, Build{Embed: embed}, "dev", "--playbooks", test.File(t, "a.yaml", text), "--addr", "127.0.0.1:0")
		if !strings.Contains(said, want) || strings.Contains(said, "was started") {
			t.Errorf("it said %s\nwant in it %s", said, want)
		}
	}
}
