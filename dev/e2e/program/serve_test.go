package program_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
	"github.com/a2aproject/a2a-go/v2/a2asrv"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/e2e/program/writer"
	"longhaul/internal/test"
	"longhaul/opt"
)

// A conversation is what a client sees of the agent of package writer.
type conversation struct{ Progress, Question, Draft, Letter string }

const words = "one two three four five six seven eight"

var conversed = conversation{"of 8", "Publish it?", words, "Published after the answer yes"}

// An agent for the server of the official SDK is the same agent, for the same client, when Serve runs
// it; there it survives that its process is killed at work, and while it asks.
func TestServe(t *testing.T) {
	t.Parallel()
	test.Equal(t, "on the server of the SDK", conversed, talk(t, inMemory(t), func(string) {}))
	site, worker := newServed(t)
	got := talk(t, site.URL(), func(string) {
		worker.Kill()
		worker = site.Start(harness.Worker)
	})
	test.Equal(t, "by Serve", conversed, got)
}

// A cancellation reaches the agent, whose words are the last of the task of the plan.
func TestServe_cancels(t *testing.T) {
	t.Parallel()
	site, _ := newServed(t)
	c := site.Client()
	task := c.MustSendUntil(t.Context(), t, harness.Message{ID: "m", Text: words})
	c.AwaitText(t, within, task.ID, " of 8")
	c.MustCancel(t.Context(), t, task.ID)
	c.AwaitState(t, within, task.ID, "CANCELED")
	if done := c.AwaitEnd(t, within, opt.TaskID(planOf(t, task.ID), 0)); done.State != "CANCELED" || done.Message != "The draft is thrown away." {
		t.Errorf("the task of the plan is %s", done.Raw)
	}
}

// inMemory serves the agent with the SDK, and returns the URL.
func inMemory(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	mux.Handle("/", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(writer.Agent{})))
	mux.Handle("/.well-known/agent-card.json", a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
		Name: "Writer", Version: "1", SupportedInterfaces: []*a2a.AgentInterface{a2a.NewAgentInterface(server.URL, a2a.TransportProtocolJSONRPC)},
	}))
	return server.URL
}

// newServed starts the program that serves the agent, beside a Temporal, and returns its worker.
func newServed(t *testing.T) (*harness.Site, *harness.Process) {
	t.Helper()
	temporal := harness.NewSite(t, harness.Dev)
	temporal.Start(harness.Temporal)
	site := harness.NewSite(t, "longhaul/dev/e2e/program/served")
	site.TemporalAddr = temporal.TemporalAddr
	site.Env = []string{"LONGHAUL_FALLBACK=reject"}
	worker := site.Start(harness.Worker)
	site.Start(harness.API)
	return site, worker
}

// talk has a conversation with the agent at url. It calls between when the agent has shown some words,
// and when it has asked.
func talk(t *testing.T, url string, between func(taskID string)) (c conversation) {
	t.Helper()
	ctx := t.Context()
	card := test.Value(agentcard.NewResolver(http.DefaultClient).Resolve(ctx, url))(t)
	client := test.Value(a2aclient.NewFromCard(ctx, card))(t)
	t.Cleanup(func() { _ = client.Destroy() })
	send := func(taskID a2a.TaskID, text string) a2a.TaskID {
		t.Helper()
		m := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))
		m.TaskID = taskID
		result := test.Value(client.SendMessage(ctx, &a2a.SendMessageRequest{Message: m, Config: &a2a.SendMessageConfig{ReturnImmediately: true}}))(t)
		return result.TaskInfo().TaskID
	}
	await := func(id a2a.TaskID, what string, is func(*a2a.Task) bool) {
		t.Helper()
		harness.Eventually(t, within, what, func() error { return look(ctx, client, id, is) })
	}
	id := send("", words)
	await(id, "some words are shown", func(task *a2a.Task) bool {
		if said := statusText(task); strings.Contains(said, "of 8") {
			c.Progress = "of 8"
		}
		return c.Progress != "" && len(strings.Fields(artifactText(task, "draft"))) >= 2
	})
	between(string(id))
	await(id, "it asks", func(task *a2a.Task) bool {
		c.Question = statusText(task)
		return task.Status.State == a2a.TaskStateInputRequired
	})
	between(string(id))
	send(id, "yes")
	await(id, "it ends", func(task *a2a.Task) bool {
		c.Draft, c.Letter = strings.TrimSpace(artifactText(task, "draft")), artifactText(task, "letter")
		return task.Status.State == a2a.TaskStateCompleted
	})
	return c
}

// look reads a task once, and returns nil if it is as wanted.
func look(ctx context.Context, client *a2aclient.Client, id a2a.TaskID, is func(*a2a.Task) bool) error {
	task, err := client.GetTask(ctx, &a2a.GetTaskRequest{ID: id})
	if err == nil && !is(task) {
		err = errors.New("not yet: " + string(task.Status.State) + " " + statusText(task))
	}
	return err
}

func statusText(task *a2a.Task) string {
	if m := task.Status.Message; m != nil && len(m.Parts) > 0 {
		return m.Parts[0].Text()
	}
	return ""
}

func artifactText(task *a2a.Task, name string) (text string) {
	for _, a := range task.Artifacts {
		for _, p := range a.Parts {
			if a.Name == name {
				text += p.Text()
			}
		}
	}
	return text
}
