package answerpage_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/outbox"
	"longhaul/opt/shown"
)

// facts are the terms and details that a page begins with.
func facts(page string) (list []string) {
	for _, m := range regexp.MustCompile(`<d[td]>(.*?)</d[td]>`).FindAllStringSubmatch(page, -1) {
		list = append(list, m[1])
	}
	return list
}

// The page names the objective, the requester, and the consequence of no answer.
func TestPage_facts(t *testing.T) {
	g := approval()
	g.Ladder = []opt.Step{
		{Kind: opt.Remind, After: 3600},
		{Kind: opt.Expire, After: 7200, Action: opt.Accept},
	}
	s := begin(t, g)
	at := s.gates(t)[0].RequestedAt.Time().UTC()
	clock := func(after time.Duration) string { return at.Add(after).Format("2006-01-02 15:04 MST") }
	about := []string{"Objective", "Go", "Asked for by", "carl", "Task", "Approve", "Without an answer"}
	want := append(about, clock(time.Hour)+": reminders are sent", clock(2*time.Hour)+": it is accepted")
	test.Equal(t, "facts", want, facts(s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String()))
	for name, tc := range map[string]struct {
		gate opt.Gate
		want string
	}{
		"no deadline": {approval(), "the task waits, without a deadline"},
		"rejection":   {with(approval(), opt.Step{Kind: opt.Expire, After: 60}), clock(time.Minute) + ": it is rejected"},
		"failure":     {with(clarification(), opt.Step{Kind: opt.Expire, After: 60}), clock(time.Minute) + ": the task fails"},
	} {
		s := begin(t, tc.gate)
		got := facts(s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String())
		test.Is(t, name, tc.want, got[len(got)-1])
	}
}

// In a fork, the page says who has decided about the same object in the original.
func TestPage_original(t *testing.T) {
	s := begin(t, approval())
	if page := s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String(); strings.Contains(page, "Before") {
		t.Errorf("without an original: %s", page)
	}
	s.post(t, s.link(t, 1), "action", "accept")
	ref, _ := opt.ParseID(s.task)
	s.work(s.call(t, "carl", "objectives/fork", fmt.Sprintf(`{"id":%q}`, ref.ObjectiveID)))
	got := facts(s.serve(t, http.MethodGet, s.link(t, 2), "").Body.String())
	want := []string{"Before", "In the original: Accepted by ann: " + s.world.Now().UTC().Format("2006-01-02 15:04 MST") + "."}
	test.Equal(t, "the last fact", want, got[len(got)-2:])
}

func with(g opt.Gate, ladder ...opt.Step) opt.Gate {
	g.Ladder = ladder
	return g
}

// Rejecting is in a form of its own, after all others.
func TestPage_order(t *testing.T) {
	s := begin(t, approval())
	page := s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String()
	var got []string
	for i, form := range strings.Split(page, "<form ")[1:] {
		for _, m := range regexp.MustCompile(`<button ?(.*?) ?name="action" value="(.*?)"`).FindAllStringSubmatch(form, -1) {
			got = append(got, strings.TrimSpace(fmt.Sprint(i, " ", m[2], " ", m[1])))
		}
	}
	want := []string{`0 accept class="accept"`, "1 refine", "2 edit-accept", "3 ask", `4 reject class="reject"`}
	test.Equal(t, "buttons", want, got)
}

// The input for an answer fits the schema, and says which values are allowed.
func TestPage_inputs(t *testing.T) {
	for schema, want := range map[string]string{
		``:                  `<textarea id="answer-0" name="answer-0" rows="2" required>`,
		`{"type":"string"}`: `<textarea id="answer-0" name="answer-0" rows="2" required>`,
		`{"type":"string","minLength":2,"maxLength":9}`:                        `at least 2, at most 9 characters</p>`,
		`{"type":"integer","minimum":100}`:                                     `<p class="about" id="hint-0">a whole number, at least 100</p>` + "\n" + `<input type="number" id="answer-0" name="answer-0" step="1" min="100" aria-describedby="hint-0" required>`,
		`{"type":"integer","minimum":0.5,"maximum":9}`:                         `step="1" max="9"`,
		`{"type":"number","exclusiveMinimum":0,"maximum":1.5}`:                 `a number, more than 0, at most 1.5</p>` + "\n" + `<input type="number" id="answer-0" name="answer-0" step="any" max="1.5"`,
		`{"type":"boolean"}`:                                                   `<label><input type="radio" name="answer-0" value="true" required> Yes</label>`,
		`{"enum":[100,"a <b>",true]}`:                                          "<option value=\"100\">100</option>\n<option value=\"a &lt;b&gt;\">a &lt;b&gt;</option>\n<option value=\"true\">true</option>",
		`{"type":"array","items":{"type":"integer"}}`:                          `as JSON</p>`,
		`{"type":["integer","null"]}`:                                          `<textarea`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":true}`: `<textarea`,
	} {
		s := begin(t, opt.Gate{Kind: opt.Clarification, Questions: []opt.Question{{ID: "a", Question: "What?", Schema: json.RawMessage(schema)}}})
		page := s.serve(t, http.MethodGet, s.link(t, 1), "").Body.String()
		if !strings.Contains(page, want) || !strings.Contains(page, ">What?</") {
			t.Errorf("%s: no %s in\n%s", schema, want, page)
		}
	}
}

// The page of a wrong answer names the question and the mistake.
func TestPage_wrongAnswer(t *testing.T) {
	for answer, want := range map[string]string{
		"0":    "the answer to n is not valid: it must be at least 1",
		"few":  "the answer to n is not valid: it must be a whole number",
		"1.5":  "the answer to n is not valid: it must be a whole number",
		"   ":  "answer 2 is empty",
		"1, 2": "the answer to n is not valid: it must be a whole number",
	} {
		s := begin(t, clarification())
		w := s.post(t, s.link(t, 1), "action", "answer", "answer-0", "Sailors", "answer-1", answer, "answer-2", "plain")
		if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), want+". Go back") {
			t.Errorf("%q: %d, no %q in\n%s", answer, w.Code, want, w.Body)
		}
	}
}

// The page of a gate that is closed says how, by whom and when, but not why.
func TestPage_closed(t *testing.T) {
	for name, tc := range map[string]struct {
		form []string // nil: no answer
		gate opt.Gate
		want string
	}{
		"accepted": {[]string{"action", "accept", "feedback", "canary"}, approval(), "Accepted by bob"},
		"rejected": {[]string{"action", "reject", "feedback", "canary"}, approval(), "Rejected by bob"},
		"refined":  {[]string{"action", "refine", "feedback", "canary"}, approval(), "Sent back to be made better by bob"},
		"edited":   {[]string{"action", "edit-accept", "edited", "canary"}, approval(), "Accepted with changes by bob"},
		"answered": {[]string{"action", "answer", "answer-0", "canary", "answer-1", "3", "answer-2", "plain"}, clarification(), "Answered by bob"},
		"expired":  {nil, with(approval(), opt.Step{Kind: opt.Expire, After: 60}), "Rejected, since no answer came in time"},
		"too late": {nil, with(clarification(), opt.Step{Kind: opt.Expire, After: 60}), "Closed, since no answer came in time"},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, tc.gate)
			path := s.link(t, 1)
			if tc.form == nil {
				s.world.Advance(time.Minute)
			} else {
				want(t, "the answer", s.post(t, s.link(t, 2, func(l *outbox.AnswerLink) { l.Principal = "bob" }), tc.form...), "200 Thank you, your answer was recorded")
			}
			v, err := s.world.Journal().Task(t.Context(), "acme", s.task, shown.TaskWant{})
			if err != nil || v.Decided == nil {
				t.Fatalf("%+v, %v", v.Decided, err)
			}
			w := s.serve(t, http.MethodGet, path, "")
			want(t, "the page", w, "409 Nothing to answer here any more")
			text := tc.want + ": " + v.Decided.At.Time().UTC().Format("2006-01-02 15:04 MST") + "."
			if page := w.Body.String(); !strings.Contains(page, "<p>"+text+"</p>") || strings.Contains(page, "canary") {
				t.Errorf("no %q, or more, in\n%s", text, page)
			}
		})
	}
}
