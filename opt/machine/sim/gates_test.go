package sim_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/sim"
)

// refined opens an objective whose gate is about the results of "outline", and
// sends them back once.
func refined(s *sim.Story) (id string) {
	id = s.Open(given(sim.PlanOf("plan", "search", "outline", "!gate", "draft")))
	s.Rest()
	s.Decide(opt.Refine, "alice")
	s.Rest()
	return id
}

// An object that is sent back is made again by another A2A task, which gets the remark.
// Then the gate opens again with the new object.
func TestGates_refine(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := refined(s)
		tasks := s.Objective(id).Plans[0].Tasks
		outline, gate := tasks[1], tasks[2]
		s.Expect(tasks[0].Run == 0, "search was made again, though it was not sent back")
		s.Expect(outline.Run == 2 && outline.State == opt.TaskCompleted, "outline is %s in attempt %d", outline.State, outline.Run)
		s.Expect(len(outline.Refined) == 1 && outline.Refined[0].Remark() == "better", "outline got %v", outline.Refined)
		s.Expect(gate.State == opt.TaskInputRequired && gate.Run == 0, "the gate is %s in attempt %d", gate.State, gate.Run)
		if gate.Gate == nil || gate.Gate.ID != opt.GateID(gate.ID, 2) {
			t.Errorf("the open gate is %+v, want the second one of %s", gate.Gate, gate.ID)
			return
		}
		test.Equal(t, "the object of the second gate is not the new outline", outline.Artifacts[0].Parts, gate.Gate.Object)
		s.Accept()
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// A plan after a question that was replaced, which a client has skipped before, stays so in the next attempt.
func TestGates_skippedBeforeReplan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("check", "!gate"), sim.PlanOf("publish", "print"), sim.PlanOf("tell", "mail")))
		s.Rest()
		s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: opt.PlanID(id, 2), Status: string(opt.PlanSkipped)})
		s.Rest()
		s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
		s.Settle()
		s.EndPlanning(sim.PlanOf("check", "!gate"))
		s.Rest()
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Rest()
		s.Send(status(id, opt.ObjectiveSubmitted))
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveSubmitted, "before it is started it is %s", s.Objective(id).Status)
		s.Send(status(id, opt.ObjectiveWorking))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Attempt == 2 && o.Plans[0].Reason == opt.Replanned, "attempt %d, the question is %s (%s)", o.Attempt, o.Plans[0].Status, o.Plans[0].Reason)
		s.Expect(o.Plans[1].Status == opt.PlanSkipped, "the plan after it is %s", o.Plans[1].Status)
	})
}

// Plans that came in the place of a question, or of one after it, run in the next attempt like others.
func TestGates_retryAfterReplan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := replanned(s, sim.PlanOf("write", "text"), sim.PlanOf("publish", "print"), sim.PlanOf("tell", "mail"))
		s.End(s.Activities()[0], sim.Completed(s.Activities()[0], s.Work(s.Activities()[0]).TaskID))
		s.Settle()
		s.End(s.Activities()[0], machine.Ended{Key: s.Activities()[0], Outcome: opt.Outcome{State: opt.TaskFailed}})
		again(s, id)
		for _, p := range s.Objective(id).Plans[2:] {
			s.Expect(p.Status == opt.PlanCompleted, "%s is %s (%s)", p.Name, p.Status, p.Reason)
		}
	})
}

// Nor does it matter that they ask something themselves.
func TestGates_canceledAfterReplan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := replanned(s, sim.PlanOf("check", "!gate"), sim.PlanOf("publish", "print"), sim.PlanOf("tell", "mail"))
		s.Wait(1)
		s.Send(opt.Command{Kind: opt.UpdatePlan, ObjectiveID: id, PlanID: opt.PlanID(id, 4), Status: string(opt.PlanSkipped)})
		s.Rest()
		s.Send(status(id, opt.ObjectiveCanceled))
		again(s, id)
		o := s.Objective(id)
		s.Expect(o.Plans[2].Reason == opt.BlockedByInput, "the question is %s (%s)", o.Plans[2].Status, o.Plans[2].Reason)
		s.Accept()
		s.Rest()
		o = s.Objective(id)
		for _, p := range o.Plans[2:] {
			s.Expect(p.Status == opt.PlanCompleted, "%s is %s (%s)", p.Name, p.Status, p.Reason)
		}
		s.Expect(o.Status == opt.ObjectiveCompleted, "the objective is %s (%s)", o.Status, o.Reason)
	})
}

// replanned opens an objective with a question, in the place of which plans come.
func replanned(s *sim.Story, plans ...opt.PlanSpec) (id string) {
	id = s.Open(given(sim.PlanOf("check", "!gate"), sim.PlanOf("publish", "print")))
	s.Rest()
	s.Send(opt.Command{Kind: opt.Replan, ObjectiveID: id})
	s.Settle()
	s.EndPlanning(plans...)
	s.Settle()
	return id
}

// again begins the next attempt at an objective that comes to its end.
func again(s *sim.Story, id string) {
	for _, to := range []opt.ObjectiveStatus{opt.ObjectiveSubmitted, opt.ObjectiveWorking} {
		s.Rest()
		s.Send(status(id, to))
	}
	s.Rest()
}

// The task that makes an object again gets the remark in its work.
func TestGates_refineTellsTheExecutor(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine, "alice")
		s.Settle()
		running := s.Activities()
		s.Expect(len(running) == 1, "%v run", running)
		w := s.Work(running[0])
		s.Expect(len(w.Refined) == 1 && w.Refined[0].Remark() == "better", "the executor is told %v", w.Refined)
		last := w.Messages[len(w.Messages)-1]
		s.Expect(last.Text() == "better" || last.Parts[len(last.Parts)-1].Text != nil, "the last message is %q", last.Text())
		author, _ := last.Metadata.String(opt.KeyAuthor)
		s.Expect(author == "alice", "its author is %q", author)
	})
}

// Later tasks get the edited object, also those that name the task
// that made it first.
func TestGates_editAccept(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft", "review")
		plan.Tasks[3].Uses = []string{"task-0"}
		s.Open(given(plan))
		s.Rest()
		s.Decide(opt.EditAccept, "alice")
		s.Settle()
		for _, want := range []int{1, 2} { // results of draft, then of review
			w := s.Work(s.Activities()[0])
			s.Expect(len(w.Results) == want, "%s gets %d results", w.Name, len(w.Results))
			last := w.Results[want-1].Artifacts[0]
			s.Expect(last.Text() == "edited", "%s gets %q", w.Name, last.Text())
			s.End(s.Activities()[0], sim.Completed(s.Activities()[0], w.TaskID))
			s.Settle()
		}
	})
}

// A plan that is canceled while something is made again ends.
func TestGates_canceledWhileSentBack(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		s.Decide(opt.Refine, "alice")
		s.Settle()
		s.Send(status(id, opt.ObjectiveCanceled))
		s.Rest()
		o := s.Objective(id)
		s.Expect(o.Status == opt.ObjectiveCanceled && o.Plans[0].Tasks[1].State == opt.TaskCanceled, "%s, the gate %s", o.Status, o.Plans[0].Tasks[1].State)
	})
}

// Deputies decide for those who may, as far as they have no part in the work; persons and seats count once.
func TestGates_deputies(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate")
		plan.Tasks[1].Ask.Responders = &opt.Responders{Principals: []string{"bob", "carol"}, Accepts: 2}
		id := s.Open(given(plan))
		s.Rest()
		gate := s.Objective(id).Plans[0].Tasks[1].Gate
		for _, step := range []struct {
			who  string
			seat opt.Seat
			want opt.Verdict
		}{
			{"dora", opt.Seat{Principal: "bob"}, opt.Accepted},
			{"dora", opt.Seat{Principal: "carol"}, opt.HasVoted},
			{"eve", opt.Seat{Principal: "bob"}, opt.NotAllowed},
			{"bob", opt.Seat{}, opt.HasVoted},
			{"alice", opt.Seat{Principal: "carol"}, opt.NotAllowed},
			{"eve", opt.Seat{Principal: "alice"}, opt.NotAllowed},
			{"eve", opt.Seat{Principal: "carol", MadeBy: "alice"}, opt.NotAllowed},
			{"eve", opt.Seat{Principal: "carol", MadeBy: "ops"}, opt.Accepted},
		} {
			m := s.DecideAt(*gate, opt.Accept, step.who, step.seat)
			s.Rest()
			s.Expect(s.Verdict(id, m) == step.want, "%s for %+v: %s, want %s", step.who, step.seat, s.Verdict(id, m), step.want)
		}
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// Only named principals decide, as many as the gate needs; one principal counts once.
func TestGates_responders(t *testing.T) {
	two := &opt.Responders{Principals: []string{"bob", "carol"}, Groups: []string{"editors"}, NotRequester: true, Accepts: 2}
	lenient := &opt.Responders{Accepts: 2, NoVeto: true}
	type step struct {
		who    string
		action opt.Action
		want   opt.Verdict
	}
	for name, tt := range map[string]struct {
		who   *opt.Responders
		steps []step
		ends  opt.ObjectiveStatus
	}{
		"two accept": {two, []step{{"alice", opt.Accept, opt.NotAllowed}, {"dave", opt.Accept, opt.NotAllowed}, {"bob", opt.Accept, opt.Accepted},
			{"bob", opt.Accept, opt.HasVoted}, {"carol", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
		"veto":              {two, []step{{"bob", opt.Accept, opt.Accepted}, {"carol", opt.Reject, opt.Accepted}}, opt.ObjectiveFailed},
		"without veto":      {lenient, []step{{"bob", opt.Reject, opt.Accepted}, {"alice", opt.Accept, opt.Accepted}, {"carol", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
		"rejected by two":   {lenient, []step{{"bob", opt.Reject, opt.Accepted}, {"alice", opt.Accept, opt.Accepted}, {"carol", opt.Reject, opt.Accepted}}, opt.ObjectiveFailed},
		"one of two edits":  {two, []step{{"bob", opt.EditAccept, opt.NotOffered}}, opt.ObjectiveBlocked},
		"not the requester": {&opt.Responders{NotRequester: true}, []step{{"alice", opt.Accept, opt.NotAllowed}, {"bob", opt.Accept, opt.Accepted}}, opt.ObjectiveCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				plan := sim.PlanOf("plan", "outline", "!gate")
				plan.Tasks[1].Ask.Responders = tt.who
				id := s.Open(given(plan))
				s.Rest()
				gate := s.Objective(id).Plans[0].Tasks[1].Gate
				for i, step := range tt.steps {
					m := s.DecideAt(*gate, step.action, step.who)
					s.Rest()
					s.Expect(s.Verdict(id, m) == step.want, "step %d, %s by %s: %s, want %s", i, step.action, step.who, s.Verdict(id, m), step.want)
				}
				s.Expect(s.Objective(id).Status == tt.ends, "the objective is %s, want %s", s.Objective(id).Status, tt.ends)
			})
		})
	}
}

// A change by hand takes the place of no decision that a gate reserves for some.
func TestGates_respondersByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "outline", "!gate", "draft")
		plan.Tasks[1].Ask.Responders = &opt.Responders{Principals: []string{"bob"}}
		id := s.Open(given(plan))
		s.Rest()
		p := s.Objective(id).Plans[0]
		for _, c := range []opt.Command{
			{Kind: opt.MoveTask, TaskID: p.Tasks[1].ID, Status: string(opt.TaskCompleted)},
			{Kind: opt.MoveTask, TaskID: p.Tasks[1].ID, Status: string(opt.TaskWorking)},
			{Kind: opt.UpdatePlan, Status: string(opt.PlanCompleted)},
			{Kind: opt.UpdatePlan, Status: string(opt.PlanSkipped)}, // plans that depend on it would begin
		} {
			c.ObjectiveID, c.PlanID = id, p.ID
			sent := s.Send(c)
			s.Rest()
			s.Expect(s.Answer(sent) != nil && s.Answer(sent).Refusal != nil, "%s %s is not refused", c.Kind, c.Status)
		}
		s.Decide(opt.Accept, "bob")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// A decision about something else than the gate shows is refused, and decides
// nothing.
func TestGates_objectDigest(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		shown := *s.Objective(id).Plans[0].Tasks[1].Gate
		other := shown
		other.ObjectDigest = "sha256:00"
		refused := s.DecideAt(other, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Verdict(id, refused) == opt.OtherThing, "the verdict is %s", s.Verdict(id, refused))
		s.Expect(s.Objective(id).Status == opt.ObjectiveBlocked, "the objective is %s", s.Objective(id).Status)
		s.DecideAt(shown, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveCompleted, "the objective is %s", s.Objective(id).Status)
	})
}

// A decision at a gate that has closed does not count at the next gate of the task.
func TestGates_formerGate(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		former := *s.Objective(id).Plans[0].Tasks[1].Gate
		s.Decide(opt.Refine, "alice")
		s.Rest()
		former.ObjectDigest = ""
		late := s.DecideAt(former, opt.Accept, "alice")
		s.Rest()
		s.Expect(s.Verdict(id, late) == opt.NotWaiting, "the verdict is %q", s.Verdict(id, late))
		s.Expect(s.Objective(id).Status == opt.ObjectiveBlocked, "the objective is %s", s.Objective(id).Status)
	})
}

// A message without a decision is kept in the gate, which stays open.
func TestGates_comment(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "outline", "!gate")))
		s.Rest()
		m := s.Comment(*s.Objective(id).Plans[0].Tasks[1].Gate)
		s.Rest()
		gate := s.Objective(id).Plans[0].Tasks[1].Gate
		s.Expect(gate != nil && len(gate.Exchanges) == 1 && gate.Exchanges[0].MessageID == m, "the gate is %+v", gate)
	})
}

// A gate whose object no task can make again does not offer to refine it.
func TestGates_offersRefine(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks []string
		want  bool
	}{
		"with a task that made it": {[]string{"outline", "!gate"}, true},
		"without one":              {[]string{"!gate"}, false},
	} {
		play(t, func(s *sim.Story) {
			id := s.Open(given(sim.PlanOf("plan", tt.tasks...)))
			s.Rest()
			gate := s.Objective(id).Plans[0].Tasks[len(tt.tasks)-1].Gate
			s.Expect(gate.Allows(opt.Refine) == tt.want, "%s: the gate offers %v", name, gate.Actions)
		})
	}
}

// A task behind an approval gets the notes that the approval has covered, and no later one: a
// note of a client must not change what runs after the decision.
func TestGates_noteAfterTheApproval(t *testing.T) {
	for name, tt := range map[string]struct {
		before bool // the note comes while the approval is open
		blind  bool // the answer names no digest
		want   int  // notes that the task behind it gets
	}{
		"after it":            {},
		"while it is open":    {before: true, want: 1},
		"and was not decided": {before: true, blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				id := s.Open(given(sim.PlanOf("plan", "?gate", "run")))
				s.Rest()
				gate := s.Objective(id).Plans[0].Tasks[0].Gate
				if tt.before {
					s.Say(id, false)
					s.Rest()
					shown := s.Objective(id).Plans[0].Tasks[0].Gate
					s.Expect(len(shown.Exchanges) == 1 && shown.ObjectDigest != gate.ObjectDigest, "the gate shows %v", shown.Exchanges)
					old := *gate
					old.ObjectDigest = "sha256:0"
					verdict := s.DecideAt(old, opt.Accept, "alice")
					s.Rest()
					s.Expect(s.Verdict(id, verdict) == opt.OtherThing, "an answer to an earlier view was %s", s.Verdict(id, verdict))
					gate = shown
				}
				answer := *gate
				if tt.blind {
					answer.ObjectDigest = ""
				}
				s.DecideAt(answer, opt.Accept, "alice")
				if !tt.before {
					s.Say(id, false)
				}
				s.Settle()
				w := s.Work(s.Activities()[0])
				s.Expect(w.Notes == tt.want, "the task gets %d notes, want %d", w.Notes, tt.want)
			})
		})
	}
}

// Of two approvals the later one counts: a note to the task behind both that was approved there
// reaches the task.
func TestGates_noteAtTheSecondApproval(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "?first", "?second", "run")))
		s.Rest()
		tasks := s.Objective(id).Plans[0].Tasks
		s.DecideAt(*tasks[0].Gate, opt.Accept, "alice")
		s.Rest()
		s.NoteAs("bob", tasks[2].A2AID())
		s.Rest()
		shown := s.Objective(id).Plans[0].Tasks[1].Gate
		s.Expect(len(shown.Exchanges) == 1, "the second gate shows %v", shown.Exchanges)
		s.DecideAt(*shown, opt.Accept, "alice")
		s.Settle()
		w := s.Work(s.Activities()[0])
		s.Expect(w.NotesTo == 1, "the task gets %d notes, want the one that was approved", w.NotesTo)
	})
}

// An approval shows the notes that the tasks behind it will get, also those from before it
// opened, and its digest covers them.
func TestGates_noteBeforeTheApproval(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "draft", "?gate", "run")))
		s.Settle()
		key := s.Activities()[0]
		root, own := s.SayAs("bob", id, false), s.NoteAs("carol", s.Work(key).TaskID)
		s.Settle()
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Rest()
		gate := s.Objective(id).Plans[0].Tasks[1].Gate
		var shown []string
		for _, e := range gate.Exchanges {
			shown = append(shown, e.MessageID+" of "+e.AskedBy)
		}
		s.Expect(cmp.Equal(shown, []string{root + " of bob", own + " of carol"}), "the gate shows %q", shown)
		s.Expect(gate.ObjectDigest != gate.Digest(), "the digest covers no note")
		s.DecideAt(*gate, opt.Accept, "alice")
		s.Settle()
		w := s.Work(s.Activities()[0])
		s.Expect(w.Name == "run" && w.Notes == 1, "%s gets %d notes", w.Name, w.Notes)
	})
}

// An approval counts the notes that it does not show any more, from before it opened and from
// then on.
func TestGates_manyNotes(t *testing.T) {
	for name, early := range map[string]int{"before it opened": opt.MostExchanges + 1, "while it is open": 0, "both": 1} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				id := s.Open(given(sim.PlanOf("plan", "draft", "?gate", "run")))
				s.Settle()
				key := s.Activities()[0]
				for range early {
					s.SayAs("bob", id, false)
				}
				s.Settle()
				s.End(key, sim.Completed(key, s.Work(key).TaskID))
				s.Rest()
				for range opt.MostExchanges + 1 - early {
					s.SayAs("bob", id, false)
				}
				s.Rest()
				gate := s.Objective(id).Plans[0].Tasks[1].Gate
				s.Expect(len(gate.Exchanges) == opt.MostExchanges && gate.Unshown() == 1, "the gate shows %d notes, and %d not", len(gate.Exchanges), gate.Unshown())
			})
		})
	}
}

// Messages that executors get name who sent them, also if their metadata name another one.
func TestGates_authors(t *testing.T) {
	for _, starts := range []bool{false, true} {
		play(t, func(s *sim.Story) {
			id := s.Open(func(o *opt.Opening) {
				given(sim.PlanOf("plan", "draft"))(o)
				if o.Idle = starts; !starts {
					o.Message.Metadata = o.Message.Metadata.With(opt.KeyAuthor, "mallory")
				}
			})
			by := "alice"
			if starts {
				by = "bob"
				s.SayAs(by, id, true)
			}
			s.Settle()
			author, _ := s.Work(s.Activities()[0]).Messages[0].Metadata.String(opt.KeyAuthor)
			s.Expect(author == by, "the request is of %q, want %q", author, by)
		})
	}
}

// Who starts another's objective, writes a note to it or changes its plans has shaped the work,
// like the one who asked for it.
func TestGates_requesters(t *testing.T) {
	for name, shape := range map[string]func(s *sim.Story, id string){
		"a note":  func(s *sim.Story, id string) { s.SayAs("bob", id, false) },
		"a start": func(s *sim.Story, id string) { s.SayAs("bob", id, true) },
		"a plan": func(s *sim.Story, id string) {
			s.Send(opt.Command{Kind: opt.AddTasks, ObjectiveID: id, PlanID: opt.PlanID(id, 1), Principal: "bob", Tasks: []opt.TaskSpec{{Name: "more"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				plan := sim.PlanOf("plan", "?gate", "run")
				plan.Tasks[0].Ask.Responders = &opt.Responders{NotRequester: true}
				id := s.Open(func(o *opt.Opening) {
					given(plan)(o)
					o.Idle = name == "a start"
				})
				s.Rest()
				shape(s, id)
				s.Rest()
				gate := s.Objective(id).Plans[0].Tasks[0].Gate
				for _, who := range []string{"alice", "bob"} {
					reply := s.DecideAt(*gate, opt.Accept, who)
					s.Rest()
					s.Expect(s.Verdict(id, reply) == opt.NotAllowed, "%s: %s", who, s.Verdict(id, reply))
				}
				reply := s.DecideAt(*gate, opt.Accept, "carol")
				s.Rest()
				s.Expect(s.Verdict(id, reply) == opt.Accepted, "carol: %s", s.Verdict(id, reply))
			})
		})
	}
}

// What an approval has covered holds in the plans that follow, too, but not in those that were
// made later.
func TestGates_noteAfterTheApprovalOfAnotherPlan(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("first", "?gate"), sim.PlanOf("second", "run")))
		s.Rest()
		s.Wait(1)
		s.Accept()
		note := s.Say(id, false)
		s.Settle()
		key := s.Activities()[0]
		work := s.Work(key)
		s.Expect(s.Verdict(id, note) == opt.Noted && work.Name == "run" && work.Notes == 0, "%s gets %d notes", work.Name, work.Notes)
		s.Wait(1)
		later := sim.PlanOf("later", "more")
		s.Send(opt.Command{Kind: opt.CreatePlan, ObjectiveID: id, Plan: &later})
		s.Settle()
		s.End(key, sim.Completed(key, work.TaskID))
		s.Settle()
		work = s.Work(s.Activities()[0])
		s.Expect(work.Name == "more" && work.Notes == 1, "%s gets %d notes", work.Name, work.Notes)
	})
}

// Who has shaped the work is still its requester in a retry, and so are those who retry and start it.
func TestGates_requestersAfterARetry(t *testing.T) {
	play(t, func(s *sim.Story) {
		plan := sim.PlanOf("plan", "?gate", "run")
		plan.Tasks[0].Ask.Responders = &opt.Responders{NotRequester: true}
		id := s.Open(func(o *opt.Opening) {
			given(plan)(o)
			o.Idle = true
		})
		s.SayAs("bob", id, true)
		s.Rest()
		s.Decide(opt.Reject, "carol")
		s.Rest()
		s.Expect(s.Objective(id).Status == opt.ObjectiveFailed, "the objective is %s", s.Objective(id).Status)
		again, start := status(id, opt.ObjectiveSubmitted), status(id, opt.ObjectiveWorking)
		again.Principal, start.Principal = "dave", "erin"
		s.Send(again)
		s.Rest()
		s.Send(start)
		s.Rest()
		gate := s.Objective(id).Plans[0].Tasks[0].Gate
		for _, who := range []string{"alice", "bob", "dave", "erin"} {
			reply := s.DecideAt(*gate, opt.Accept, who)
			s.Rest()
			s.Expect(s.Verdict(id, reply) == opt.NotAllowed, "%s: %s", who, s.Verdict(id, reply))
		}
	})
}

// A note to a task shapes the plans that use its results, too.
func TestGates_requestersOfResults(t *testing.T) {
	play(t, func(s *sim.Story) {
		later := sim.PlanOf("later", "?gate")
		later.Tasks[0].Ask.Responders = &opt.Responders{NotRequester: true}
		id := s.Open(given(sim.PlanOf("first", "draft"), later))
		s.Settle()
		key := s.Activities()[0]
		s.NoteAs("bob", s.Work(key).TaskID)
		s.Settle()
		s.End(key, sim.Completed(key, s.Work(key).TaskID))
		s.Rest()
		gate := s.Objective(id).Plans[1].Tasks[0].Gate
		reply := s.DecideAt(*gate, opt.Accept, "bob")
		s.Rest()
		s.Expect(s.Verdict(id, reply) == opt.NotAllowed, "bob: %s", s.Verdict(id, reply))
	})
}

// Who shapes the work by a note to a task is recorded as one of its requesters at once, though the
// objective has nothing else to record. Another note is no news.
func TestGates_requestersAreRecorded(t *testing.T) {
	play(t, func(s *sim.Story) {
		id := s.Open(given(sim.PlanOf("plan", "?gate", "run")))
		s.Rest()
		task := s.Objective(id).Plans[0].Tasks[1].A2AID()
		for _, who := range []string{"bob", "bob", "alice"} {
			s.NoteAs(who, task)
			s.Rest()
			s.Expect(slices.Equal(s.Objective(id).Shapers, []string{"bob"}), "after a note of %s: %v", who, s.Objective(id).Shapers)
		}
	})
}
