package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"longhaul/a2a"
	"longhaul/client"
	"longhaul/opt"
)

// A desk stands in for an agent in the examples: it has one task, which waits for an
// approval until it is answered.
type desk struct{ answered bool }

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var call struct {
		Method string `json:"method"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.answered = d.answered || call.Method == "SendMessage"
	state, text, gate := "INPUT_REQUIRED", "Publish it?", `,"metadata":{"openwop":{"interrupt":{"kind":"approval","interruptId":"task-1:1","title":"Publish it?","actions":["accept","reject"]}}}`
	if d.answered {
		state, text, gate = "COMPLETED", "Published.", ""
	}
	task := `{"id":"obj-1","contextId":"c","status":{"state":"TASK_STATE_` + state + `","message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"` + text + `"}]}}` + gate + `}`
	result := map[string]string{
		"objectives/create": `{"objective":{"id":"obj-1","name":"Publish the report","status":"submitted"}}`,
		"objectives/update": `{"objective":{"id":"obj-1","name":"Publish the report","status":"working"}}`,
		"SubscribeToTask":   `{"task":` + task + `}`, "SendMessage": `{"task":` + task + `}`, "GetTask": task,
	}[call.Method]
	answer := `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
	if call.Method == "SubscribeToTask" {
		w.Header().Set("Content-Type", "text/event-stream")
		answer = "data: " + answer + "\n\n"
	}
	_, _ = w.Write([]byte(answer))
}

// Create an objective, start it, wait until it needs a person, and answer.
func Example() {
	agent := httptest.NewServer(&desk{}) // in its place: a Longhaul server
	defer agent.Close()
	ctx, c := context.Background(), client.New(client.Config{URL: agent.URL})

	// The key makes a repeat safe, also by a program that was started again.
	objective, err := c.CreateObjective(ctx, client.NewObjective{Key: "report-42", Name: "Publish the report"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if objective, err = c.Start(ctx, objective.ID); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(objective)
	task, err := c.Wait(ctx, objective.ID) // for minutes or weeks
	for ; err == nil && !task.Status.State.Terminal(); task, err = c.Wait(ctx, objective.ID) {
		gate, ok := client.Gate(task.Metadata)
		if !ok {
			break // it waits for something else, such as an authorization
		}
		fmt.Println(gate.Title, gate.Actions)
		if _, err := c.Answer(ctx, task.ID, client.Reply{GateID: gate.ID, Action: opt.Accept}); err != nil {
			fmt.Println(err)
			return
		}
	}
	fmt.Println(task, err)
	// Output:
	// objective obj-1 Publish the report: working
	// Publish it? [accept reject]
	// task obj-1: completed, Published. <nil>
}

// Send a message, with an id that makes a repeat safe.
func ExampleClient_Send() {
	agent := httptest.NewServer(&desk{})
	defer agent.Close()
	c := client.New(client.Config{URL: agent.URL})
	m := a2a.Message{MessageID: "report-42", Parts: []a2a.Part{a2a.TextPart("Publish the report")}}
	e, err := c.Send(context.Background(), m, client.SendOptions{ReturnImmediately: true, Retry: true})
	fmt.Println(e, err)
	// Output: task obj-1: completed, Published. <nil>
}

// Follow a task. A connection that breaks is continued after the last event.
func ExampleClient_Subscribe() {
	agent := httptest.NewServer(&desk{answered: true})
	defer agent.Close()
	c := client.New(client.Config{URL: agent.URL})
	for e, err := range c.Subscribe(context.Background(), "obj-1", "") {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(e)
	}
	// Output: task obj-1: completed, Published.
}

// What an agent adds to a task is in its metadata.
func ExampleGate() {
	var m a2a.Metadata
	if err := json.Unmarshal([]byte(`{"openwop": {"interrupt": {"kind": "approval", "interruptId": "task-1:1", "title": "Publish it?"}}}`), &m); err != nil {
		fmt.Println(err)
		return
	}
	gate, ok := client.Gate(m)
	fmt.Println(gate.ID, gate.Kind, gate.Title, ok)
	// Output: task-1:1 approval Publish it? true
}

// An error of an agent has a reason, on which programs branch.
func ExampleHasReason() {
	err := fmt.Errorf("pause it: %w", &client.Error{Message: "Stale revision: the objective is at revision 4", Reason: client.ReasonStale, Info: map[string]string{"revision": "4"}})
	fmt.Println(client.HasReason(err, client.ReasonStale))
	// Output: true
}
