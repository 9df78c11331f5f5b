package api_test

import (
	"fmt"
	"strings"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The pages of a list have each task once, also while tasks are added.
func TestListTasks_pages(t *testing.T) {
	s := newService(t)
	for i := range 12 { // a task of a plan and a root task each
		s.send(t, fmt.Sprint("m", i), "slow")
	}
	seen := map[string]int{}
	token, pages := "", 0
	for {
		n := s.call(t, "ListTasks", fmt.Sprintf(`{"pageSize":10,"pageToken":%q}`, token))
		result := n.at("result")
		tasks, _ := result.at("tasks").v.([]any)
		for _, task := range tasks {
			seen[node{task}.at("id").String()]++
		}
		s.send(t, fmt.Sprint("late", pages), "Write")
		if pages++; pages == 1 && result.at("totalSize").String() != "24" {
			t.Errorf("totalSize is %v", result.at("totalSize"))
		}
		if token = result.at("nextPageToken").String(); token == "" {
			break
		}
		if len(tasks) != 10 || pages > 10 {
			t.Fatalf("page %d has %d tasks", pages, len(tasks))
		}
	}
	for i := range 12 {
		for _, id := range []string{"obj-" + u(fmt.Sprint("m", i)), "task-" + u(fmt.Sprint("m", i)) + "-1-0"} {
			test.Is(t, id+" was listed times", 1, seen[id])
		}
	}
}

// The last page has no token, also when it is full.
func TestListTasks_lastPage(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	if got := s.call(t, "ListTasks", `{"pageSize":2}`); !got.at("result").has("nextPageToken") || got.at("result", "nextPageToken").String() != "" {
		t.Errorf("answer is %v", got)
	}
}

// A token is valid only for its own list.
func TestListTasks_tokens(t *testing.T) {
	s := newService(t)
	s.send(t, "m", "slow")
	token := s.call(t, "ListTasks", `{"pageSize":1,"contextId":"obj-`+u("m")+`"}`).at("result", "nextPageToken").String()
	for name, tc := range map[string]struct {
		params string
		who    string
		ok     bool
	}{
		"the same list":          {`{"contextId":"obj-` + u("m") + `","pageToken":"` + token + `"}`, "acme/ann", true},
		"another page size":      {`{"contextId":"obj-` + u("m") + `","pageSize":2,"includeArtifacts":true,"pageToken":"` + token + `"}`, "acme/ann", true},
		"a colleague's":          {`{"contextId":"obj-` + u("m") + `","pageToken":"` + token + `"}`, "acme/bob", true},
		"another tenant's":       {`{"contextId":"obj-` + u("m") + `","pageToken":"` + token + `"}`, "rival/rob", false},
		"another context":        {`{"pageToken":"` + token + `"}`, "acme/ann", false},
		"another state":          {`{"contextId":"obj-` + u("m") + `","status":"TASK_STATE_WORKING","pageToken":"` + token + `"}`, "acme/ann", false},
		"a later time":           {`{"contextId":"obj-` + u("m") + `","statusTimestampAfter":"2026-01-01T00:00:00Z","pageToken":"` + token + `"}`, "acme/ann", false},
		"with a letter changed":  {`{"contextId":"obj-` + u("m") + `","pageToken":"` + strings.ToLower(token) + `"}`, "acme/ann", false},
		"cut short":              {`{"contextId":"obj-` + u("m") + `","pageToken":"` + token[:10] + `"}`, "acme/ann", false},
		"the number of the page": {`{"contextId":"obj-` + u("m") + `","pageToken":"2"}`, "acme/ann", false},
	} {
		t.Run(name, func(t *testing.T) {
			n := s.call(t, "ListTasks", tc.params, "Authorization", "Bearer "+tc.who)
			if tc.ok && n.has("error") {
				t.Errorf("refused: %v", n)
			}
			if !tc.ok {
				wantCode(t, n, "-32602")
			}
		})
	}
	wantCode(t, s.call(t, "objectives/list", `{"pageToken":"`+token+`"}`), "-32602")
}

func TestListObjectives_pages(t *testing.T) {
	s := newService(t)
	for i := range 25 {
		s.call(t, "objectives/create", fmt.Sprintf(`{"name":"O%d"}`, i))
	}
	var sizes []int
	seen := map[string]bool{}
	for token := ""; ; {
		result := s.call(t, "objectives/list", fmt.Sprintf(`{"pageToken":%q}`, token)).at("result")
		list, _ := result.at("objectives").v.([]any)
		sizes = append(sizes, len(list))
		for _, o := range list {
			seen[node{o}.at("id").String()] = true
			if (node{o}).has("plans") {
				t.Error("plans are shown unasked")
			}
		}
		if !result.has("nextPageToken") {
			break
		}
		token = result.at("nextPageToken").String()
	}
	if fmt.Sprint(sizes) != "[10 10 5]" || len(seen) != 25 {
		t.Errorf("pages of %v with %d objectives", sizes, len(seen))
	}
	with := s.call(t, "objectives/list", `{"includePlans":true,"pageSize":1}`).at("result", "objectives", "0")
	if !with.has("plans") {
		t.Errorf("plans are missing: %v", with)
	}
}

func TestGetTask_history(t *testing.T) {
	s := newService(t)
	id := s.send(t, "m", "slow").at("id").String()
	for i := range 120 {
		m := a2a.Message{MessageID: fmt.Sprint("n", i), TaskID: id, Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}
		test.OK(t, s.world.Letter(t.Context(), opt.Letter{ObjectiveID: id, TaskID: id, Principal: "ann", Message: m}))
	}
	for length, want := range map[string]int{"": 100, `,"historyLength":0`: 0, `,"historyLength":3`: 3, `,"historyLength":1000`: 121, `,"historyLength":null`: 100, `,"history_length":2`: 2} {
		task := s.call(t, "GetTask", `{"id":"`+id+`"`+length+`}`).at("result")
		history, _ := task.at("history").v.([]any)
		if len(history) != want || task.has("history") != (want > 0) {
			t.Errorf("history%s has %d messages, want %d", length, len(history), want)
		}
		if want == 3 && (node{history[2]}).at("messageId").String() != "n119" {
			t.Errorf("the last message is %v", history[2])
		}
	}
}
