package console_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"longhaul/a2a"
	"longhaul/api/service/servicetest"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// approval returns a gate with an object.
func approval(object ...a2a.Part) *opt.Gate {
	return &opt.Gate{Kind: opt.Approval, Title: "Publish?", Description: "Read it first.", Object: object, Actions: []opt.Action{opt.Accept, opt.Reject, opt.Refine, opt.EditAccept, opt.Ask}}
}

// open returns the id of the only gate that is open.
func (s *site) open(t *testing.T) string {
	t.Helper()
	list, total, err := s.world.Journal().Interrupts(t.Context(), "acme", shown.InterruptFilter{})
	if err != nil || total != 1 {
		t.Fatalf("%d gates are open, %v", total, err)
	}
	return list[0].Gate.ID
}

// digestIn returns the digest in the forms of a page.
func digestIn(t *testing.T, p page) string {
	t.Helper()
	_, rest, ok := strings.Cut(p.html, `name="digest" value="`)
	if !ok {
		t.Fatalf("no form in %s", p.text)
	}
	digest, _, _ := strings.Cut(rest, `"`)
	return digest
}

// answer sends a form of the page of a gate, as it was loaded before.
func (b *browser) answer(gate string, p page, fields ...string) page {
	b.t.Helper()
	form := url.Values{"digest": {digestIn(b.t, p)}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return b.post("/console/inbox/"+gate, form)
}

// Each action decides, and the page shows the decision at once, with its author and its
// object.
func TestGate_actions(t *testing.T) {
	for name, tc := range map[string]struct {
		form   []string
		action opt.Action
		want   []string
	}{
		"accept":      {[]string{"action", "accept", "feedback", "Well done"}, opt.Accept, []string{"Accepted by ann", "Well done"}},
		"reject":      {[]string{"action", "reject", "feedback", "Too long\r\nreally"}, opt.Reject, []string{"Rejected by ann", "Too long really"}},
		"refine":      {[]string{"action", "refine", "feedback", "Shorter"}, opt.Refine, []string{"Sent back to be made better by ann", "Shorter"}},
		"edit-accept": {[]string{"action", "edit-accept", "edited", "My own text"}, opt.EditAccept, []string{"Accepted with changes by ann", "As it was accepted", "My own text"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, approval(a2a.TextPart("The draft")))
			s.send(t, "acme/carl", "Go")
			gate, b := s.open(t), s.signedIn(t, "acme/ann")
			before := b.get("/console/inbox/" + gate)
			before.wants(t, "Publish?", "Read it first.", "The draft", "Asked for by carl", "the task waits, without a deadline")
			after := b.answer(gate, before, tc.form...)
			if after.status != http.StatusOK || after.path != "/console/inbox/"+gate {
				t.Fatalf("the answer: %d at %s: %s", after.status, after.path, after.text)
			}
			after.wants(t, append(tc.want, "As it was decided on", "The draft")...)
			after.holds(t, `!name="digest"`)
			v, err := s.world.Journal().Task(t.Context(), "acme", gate[:strings.LastIndexByte(gate, ':')], shown.TaskWant{})
			if err != nil || v.Decided == nil || v.Decided.Action != tc.action || v.Decided.DecidedBy != "ann" {
				t.Errorf("decided: %+v, %v", v.Decided, err)
			}
			b.answer(gate, before, tc.form...).shows(t, http.StatusOK, tc.want[0])
		})
	}
}

// Only what the gate offers is on the page.
func TestGate_offers(t *testing.T) {
	s := begin(t, &opt.Gate{Kind: opt.Approval, Title: "Go on?", Actions: []opt.Action{opt.Accept, opt.Reject}})
	s.send(t, "acme/carl", "Go")
	p := s.signedIn(t, "acme/ann").get("/console/inbox/" + s.open(t))
	p.holds(t, `value="accept"`, `value="reject"`, `!value="refine"`, `!value="edit-accept"`, `!value="ask"`, `!value="answer"`)
}

// A question stays with the gate, which stays open.
func TestGate_ask(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	p := b.answer(gate, b.get("/console/inbox/"+gate), "action", "ask", "question", "Why <b>now</b>?")
	p.wants(t, "Said here ann", "Why <b>now</b>?", "Your answer", "decides nothing")
	test.Is(t, "the open gate", gate, s.open(t))
}

// The page counts the messages of which it does not show all, and leads to a file that has all
// of them.
func TestGate_unshown(t *testing.T) {
	s := begin(t, approval())
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	var p page
	for i := range opt.MostExchanges + 1 {
		p = b.get("/console/inbox/" + gate)
		p.wants(t, "!not all is shown")
		p = b.answer(gate, p, "action", "ask", "question", fmt.Sprintf("Why %d?", i))
	}
	p.wants(t, "!Why 0?", "Messages of which not all is shown here: 1.", "Why 20?")
	_, rest, _ := strings.Cut(p.html, `id="unshown"`)
	_, rest, _ = strings.Cut(rest, `href="`)
	path, _, _ := strings.Cut(rest, `"`)
	file := b.get(path)
	file.holds(t, "Why 0?", "Why 20?")
	if kind := file.header.Get("Content-Disposition"); !safeName.MatchString(kind) {
		t.Errorf("the file is sent as %q", kind)
	}
}

func TestGate_clarification(t *testing.T) {
	g := &opt.Gate{Kind: opt.Clarification, Title: "Some questions", Questions: []opt.Question{
		{ID: "who", Question: "For whom?"},
		{ID: "n", Question: "How many?", Schema: json.RawMessage(`{"type":"integer","minimum":1,"maximum":9}`)},
		{ID: "form", Question: "Which form?", Schema: json.RawMessage(`{"enum":["plain","rich"]}`)},
		{ID: "sure", Question: "Sure?", Schema: json.RawMessage(`{"type":"boolean"}`)},
		{ID: "list", Question: "Which ones?", Schema: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)},
	}}
	s := begin(t, g)
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	before := b.get("/console/inbox/" + gate)
	before.holds(t, `<textarea id="answer-0"`, `<input type="number" id="answer-1"`, `min="1" max="9"`, `<option value="rich">rich</option>`,
		`<input type="radio" name="answer-3" value="false" required>`, "as JSON")
	answers := []string{"action", "answer", "answer-0", "Sailors", "answer-1", "12", "answer-2", "rich", "answer-3", "false", "answer-4", "[1, 2]"}
	wrong := b.answer(gate, before, answers...)
	test.Is(t, "a wrong answer", http.StatusBadRequest, wrong.status)
	wrong.wants(t, "the answer to n is not valid: it must be at most 9", "Sailors", "[1, 2]")
	wrong.holds(t, `value="12"`, `<option selected value="rich">`, `value="false" required checked>`)
	answers[5] = "3"
	after := b.answer(gate, wrong, answers...)
	after.wants(t, "Answered by ann", "For whom? Sailors", "How many? 3", "Which form? rich", "Sure? false", "Which ones? [ 1, 2 ]")
}

// Of two people who answer at once, one decides. The other sees who it was and keeps the
// text.
func TestGate_secondAnswer(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate := s.open(t)
	ann, bob := s.signedIn(t, "acme/ann"), s.signedIn(t, "acme/bob")
	annSaw, bobSaw := ann.get("/console/inbox/"+gate), bob.get("/console/inbox/"+gate)
	ann.answer(gate, annSaw, "action", "accept")
	p := bob.answer(gate, bobSaw, "action", "reject", "feedback", "A long reason")
	test.Is(t, "the second answer", http.StatusConflict, p.status)
	p.wants(t, "Accepted by ann: ", "Your answer was not used.", "What you wrote A long reason", "Accepted by ann")
	own := ann.answer(gate, annSaw, "action", "reject", "feedback", "Changed my mind")
	own.wants(t, "Accepted by ann: ", "Changed my mind")
}

// The page names the tasks that follow a decision, and shows the steps before now and after it.
func TestGate_follow(t *testing.T) {
	s := beginWorld(t, servicetest.Config{
		Planner: func(opt.Objective, *a2a.Message) (servicetest.Made, bool) {
			ask := &opt.Gate{Kind: opt.Approval, Title: "Publish?", Actions: []opt.Action{opt.Accept, opt.Reject}, Ladder: []opt.Step{{Kind: opt.Remind, After: 60}, {Kind: opt.Escalate, After: 120, To: &opt.Responders{Principals: []string{"dan"}}}, {Kind: opt.Expire, After: 3600}}}
			return servicetest.Made{Plans: []opt.PlanSpec{{Name: "Notes", Tasks: []opt.TaskSpec{{Name: "Approve", Ask: ask}, {Name: "Publish"}, {Name: "Tell"}}}}}, true
		},
	})
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	b.get("/console/inbox/"+gate).wants(t, "After Accept Publish After Reject the plan “Notes” fails, without: Publish", "asked now")
	s.world.Advance(time.Minute)
	b.get("/console/inbox/"+gate).wants(t, "asked reminders were sent now", "others may answer, too", "it is rejected")
}

// A gate that expired meanwhile says so.
func TestGate_expired(t *testing.T) {
	g := approval(a2a.TextPart("The draft"))
	g.Ladder = []opt.Step{{Kind: opt.Remind, After: 60}, {Kind: opt.Expire, After: 3600}}
	s := begin(t, g)
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	before := b.get("/console/inbox/" + gate)
	before.wants(t, "reminders are sent", "it is rejected")
	s.world.Advance(time.Minute)
	s.world.Advance(time.Hour)
	p := b.answer(gate, before, "action", "accept", "feedback", "Yes")
	p.wants(t, "Rejected, since no answer came in time: ", "What you wrote Yes")
	b.get("/console/inbox/"+gate).wants(t, "Rejected, since no answer came in time")
}

// An answer about another object than the gate shows decides nothing.
func TestGate_otherObject(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	p := b.post("/console/inbox/"+gate, url.Values{"digest": {"sha256:00"}, "action": {"refine"}, "feedback": {"Shorter, please"}})
	p.wants(t, "The object has changed since you opened the page. Nothing was decided.", "Shorter, please")
	p.holds(t, `id="refine-form" open`)
	test.Is(t, "the open gate", gate, s.open(t))
}

// An answer without a worker is stored, and the page says so. If another one was first in
// the end, the page says that.
func TestGate_pending(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate := s.open(t)
	ann, bob := s.signedIn(t, "acme/ann"), s.signedIn(t, "acme/bob")
	saw := ann.get("/console/inbox/" + gate)
	s.world.Sleep()
	p := ann.answer(gate, saw, "action", "accept")
	p.wants(t, "Your answer is stored.")
	p.holds(t, `!value="accept"`)
	other := bob.answer(gate, saw, "action", "reject", "feedback", "No, since")
	s.world.Wake()
	ann.get("/console/inbox/"+gate+"?"+p.query).wants(t, "Accepted by ann")
	bob.get("/console/inbox/"+gate+"?"+other.query).wants(t, "Accepted by ann: ", "No, since", "the task did not wait for it")
	ann.get("/console/inbox/"+gate).wants(t, "!No, since")
}

// The page of a stored answer says so only until the answer is judged, also at a gate that
// stays open then.
func TestGate_pendingVote(t *testing.T) {
	g := approval(a2a.TextPart("The draft"))
	g.Responders = &opt.Responders{Accepts: 2}
	s := begin(t, g)
	s.send(t, "acme/carl", "Go")
	gate, ann, bob := s.open(t), s.signedIn(t, "acme/ann"), s.signedIn(t, "acme/bob")
	saw := ann.get("/console/inbox/" + gate)
	again := func(of page) page { return ann.get(of.path + "?" + of.query) }

	s.world.Sleep()
	asked := ann.answer(gate, saw, "action", "ask", "question", "Why?")
	again(asked).wants(t, "Your answer is stored.")
	s.world.Wake()
	again(asked).wants(t, "!Your answer is stored.")
	s.world.Sleep()
	voted := ann.answer(gate, saw, "action", "accept")
	again(voted).wants(t, "Your answer is stored.")
	s.world.Wake()
	again(voted).wants(t, "Votes ann: accept", "You have answered. The task waits for others.")
	s.world.Sleep()
	refused := ann.answer(gate, saw, "action", "accept", "feedback", "Once more")
	s.world.Wake()
	again(refused).wants(t, "You have answered. The task waits for others.", "the same person has decided there before")
	bob.answer(gate, bob.get("/console/inbox/"+gate), "action", "accept")
	again(voted).wants(t, "Accepted by bob", "!was not used")
}

// The page shows who may answer, and the votes; after a vote it says that others are
// missing.
func TestGate_votes(t *testing.T) {
	g := approval(a2a.TextPart("The draft"))
	g.Actions = []opt.Action{opt.Accept, opt.Reject}
	g.Responders = &opt.Responders{Principals: []string{"ann", "bob", "dan"}, NotRequester: true, Accepts: 2}
	s := begin(t, g)
	s.send(t, "acme/carl", "Go")
	gate := s.open(t)
	ann, bob, carl := s.signedIn(t, "acme/ann"), s.signedIn(t, "acme/bob"), s.signedIn(t, "acme/carl")
	carl.get("/console/inbox/"+gate).wants(t, "ann, bob, dan, but not who asked for the work; 2 have to accept", "Others answer here.")
	p := ann.answer(gate, ann.get("/console/inbox/"+gate), "action", "accept")
	p.wants(t, "Votes ann: accept", "You have answered. The task waits for others.")
	bob.answer(gate, bob.get("/console/inbox/"+gate), "action", "accept").wants(t, "Accepted by bob", "Other replies", "ann")
	carl.get("/console/inbox").wants(t, "Nothing waits for you.")
}

// A caller who may only read sees the gate and no form, and cannot send one.
func TestGate_readOnly(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/rita runs:read")
	p := b.get("/console/inbox/" + gate)
	p.wants(t, "The draft", "lacks the scope approvals:respond")
	p.holds(t, `!value="accept"`, "!(1)")
	b.get("/console/inbox").wants(t, "Publish?")
	b.post("/console/inbox/"+gate, url.Values{"action": {"accept"}}).shows(t, http.StatusForbidden)
	test.Is(t, "the open gate", gate, s.open(t))
}

func TestGate_otherTenant(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft"), a2a.Part{Raw: []byte("x")}))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "umbrella/eve")
	for _, p := range []page{b.get("/console/inbox/" + gate), b.get("/console/inbox/" + gate + "/parts/1"), b.post("/console/inbox/"+gate, url.Values{"action": {"accept"}}), b.get("/console/inbox/nothing:1")} {
		p.shows(t, http.StatusNotFound, "!draft")
	}
	test.Is(t, "the open gate", gate, s.open(t))
}

// An object that comes back after it was sent back is compared with the former one.
func TestGate_refined(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("Dear all,\nthe fair is on Monday.\nBring your own cups.\nYours")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	b.answer(gate, b.get("/console/inbox/"+gate), "action", "refine", "feedback", "It is on Tuesday")
	s.world.Gate(gate[:strings.LastIndexByte(gate, ':')], *approval(a2a.TextPart("Dear all,\nthe fair is on Tuesday.\nBring your own cups.\nBring friends.\nYours")))
	p := b.get("/console/inbox/" + s.open(t))
	p.wants(t, "Publish? (2nd time)", "It was sent back once before.", "Sent back by ann It is on Tuesday", "Changes since then")
	p.holds(t, `<div class="removed"><span class="sign" aria-hidden="true">−</span><span class="unseen">removed: </span><span>the fair is on </span><mark>Monday</mark><span>.</span></div>`,
		`<span>the fair is on </span><mark>Tuesday</mark><span>.</span></div>`, `<span>Bring friends.</span></div>`, `<div class="same"><span class="sign" aria-hidden="true"> </span><span>Dear all,</span></div>`)
	b.get("/console/inbox/"+gate).wants(t, "Sent back to be made better by ann", "the fair is on Monday.", "The task waits again")
}

// A comparison has three lines around a change, and says how many others it leaves out.
func TestGate_refinedLong(t *testing.T) {
	lines := strings.Fields("a b c d e f g h i Monday k l m n o p q r s t")
	s := begin(t, approval(a2a.TextPart(strings.Join(lines, "\n"))))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	b.answer(gate, b.get("/console/inbox/"+gate), "action", "refine", "feedback", "It is on Tuesday")
	lines[9] = "Tuesday"
	s.world.Gate(gate[:strings.LastIndexByte(gate, ':')], *approval(a2a.TextPart(strings.Join(lines, "\n"))))
	p := b.get("/console/inbox/" + s.open(t))
	p.wants(t, "… 6 lines without a change g h i − removed: Monday + added: Tuesday k l m … 7 lines without a change")
}

// A gate of a fork has a line with who has decided about the same object in the original.
func TestGate_original(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	first, b := s.open(t), s.signedIn(t, "acme/ann")
	page := b.get("/console/inbox/" + first)
	page.wants(t, "!In the original")
	b.answer(first, page, "action", "accept")
	ref, _ := opt.ParseID(first[:strings.LastIndexByte(first, ':')])
	s.signedIn(t, "acme/carl").press("/console/objectives/"+ref.ObjectiveID, "fork", "fork", "repeat", "1")
	again := b.get("/console/inbox/" + s.open(t))
	if !strings.Contains(again.html, "<dt>Before</dt><dd><bdi>In the original: Accepted by ann: ") || digestIn(t, again) != digestIn(t, page) {
		t.Errorf("the page is %s", again.text)
	}
}

// The page of a gate that is closed is none without its list.
func TestGate_closedWithoutList(t *testing.T) {
	s := begin(t, approval(a2a.TextPart("The draft")))
	s.send(t, "acme/carl", "Go")
	gate, b := s.open(t), s.signedIn(t, "acme/ann")
	b.answer(gate, b.get("/console/inbox/"+gate), "action", "accept")
	if p := s.signedIn(t, "acme/bob").get("/console/inbox/" + gate + "?stored=x&page=garbage"); p.status != http.StatusBadRequest {
		t.Errorf("%d: %s", p.status, p.text)
	}
}
