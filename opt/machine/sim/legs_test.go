package sim_test

import (
	"slices"
	"testing"

	"longhaul/a2a"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/opt/machine/sim"
)

// one opens an objective with one task and lets it begin. It returns the task and the
// key of its activity.
func one(s *sim.Story) (task func() *opt.Task, key string) {
	id := s.Open(given(sim.PlanOf("plan", "draft")))
	s.Settle()
	return func() *opt.Task { return s.Objective(id).Plans[0].Tasks[0] }, s.Activities()[0]
}

func completed() *opt.Outcome {
	return &opt.Outcome{State: opt.TaskCompleted, Artifacts: []a2a.Artifact{{ArtifactID: "out", Parts: []a2a.Part{a2a.TextPart("reported")}}}}
}

// ended lists the running activities, which should be these.
func running(s *sim.Story, want ...string) {
	s.Expect(slices.Equal(s.Activities(), want), "%v is running, not %v", s.Activities(), want)
}

// A parked task continues when its wait is over, with its memo.
func TestLegs_continue(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, key := one(s)
		s.End(key, sim.Parked(key, opt.Park{Wait: 60_000, Text: "Waiting for paint."}, "first coat", false))
		s.Settle()
		running(s)
		s.Expect(task().State == opt.TaskWorking, "the task is %s", task().State)
		s.Wait(59_000)
		s.Settle()
		running(s)
		s.Wait(1_000)
		s.Settle()
		running(s, key+":1")
		s.Expect(string(s.Work(key+":1").Memo) == `"first coat"` && s.Work(key+":1").Leg == 1, "the work is %+v", s.Work(key+":1"))
	})
}

// A callback wakes a parked task, also one that parks a moment later. One that has an
// outcome ends the task by way of a leg that returns it.
func TestLegs_wake(t *testing.T) {
	for name, c := range map[string]struct {
		in    opt.Callback
		early bool // it arrives while the leg runs
		wakes bool
	}{
		"nothing":         {in: opt.Callback{}, wakes: true},
		"nothing, early":  {in: opt.Callback{}, early: true, wakes: true},
		"outcome":         {in: opt.Callback{Outcome: completed()}, wakes: true},
		"outcome, early":  {in: opt.Callback{Outcome: completed()}, early: true, wakes: true},
		"progress":        {in: opt.Callback{Text: "Half of it."}},
		"progress, early": {in: opt.Callback{Text: "Half of it."}, early: true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				task, key := one(s)
				c.in.ID, c.in.TaskID, c.in.Round = "c1", task().A2AID(), 1
				callback := func() { s.Callback(c.in); s.Settle() }
				if c.early {
					callback()
				}
				s.End(key, sim.Parked(key, opt.Park{Wait: 60_000}, "", false))
				s.Settle()
				if !c.early {
					callback()
				}
				if c.wakes {
					running(s, key+":1")
				} else {
					running(s)
				}
			})
		})
	}
}

// A note ends the wait of a task that asks for it, also if it comes before the task parks. One to another
// task, and a run under earlier rules, do not.
func TestLegs_note(t *testing.T) {
	for name, c := range map[string]struct {
		park  opt.Park
		task  bool // the note is to the task, not to the objective
		early bool // it arrives while the leg runs
		other bool // it is to another task
		rules int
		wakes bool
	}{
		"to the objective": {park: opt.Park{Wait: 60_000, Notes: true}, rules: machine.Rules, wakes: true},
		"to the task":      {park: opt.Park{Wait: 60_000, Notes: true}, task: true, rules: machine.Rules, wakes: true},
		"early":            {park: opt.Park{Wait: 60_000, Notes: true}, early: true, rules: machine.Rules, wakes: true},
		"to another task":  {park: opt.Park{Wait: 60_000, Notes: true}, other: true, rules: machine.Rules},
		"not asked for":    {park: opt.Park{Wait: 60_000}, rules: machine.Rules},
		"early, not asked": {park: opt.Park{Wait: 60_000}, early: true, rules: machine.Rules},
		"earlier rules":    {park: opt.Park{Wait: 60_000, Notes: true}, rules: 16},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				s.Rules(c.rules)
				id := s.Open(given(sim.PlanOf("plan", "draft", "check")))
				s.Settle()
				key, tasks := s.Activities()[0], s.Objective(id).Plans[0].Tasks
				note := func() {
					switch {
					case c.other:
						s.NoteAs("alice", tasks[1].A2AID())
					case c.task:
						s.NoteAs("alice", tasks[0].A2AID())
					default:
						s.Say(id, false)
					}
					s.Settle()
				}
				if c.early {
					note()
				}
				s.End(key, sim.Parked(key, c.park, "", false))
				s.Settle()
				if !c.early {
					note()
				}
				if c.wakes {
					running(s, key+":1")
				} else {
					running(s)
				}
			})
		})
	}
}

// An outcome that a callback brings while the task is being canceled counts: the work has ended before
// that could stop it.
func TestLegs_outcomeWhileStopping(t *testing.T) {
	for name, end := range map[string]func(key string) machine.Input{
		"stopped": func(key string) machine.Input {
			return machine.Ended{Key: key, Failed: &machine.Failure{Code: "canceled", Canceled: true}}
		},
		"parked": func(key string) machine.Input { return sim.Parked(key, opt.Park{Wait: 60_000}, "", false) },
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				task, key := one(s)
				ref, _ := opt.ParseID(task().A2AID())
				s.Send(opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: task().ID})
				s.Settle()
				s.Callback(opt.Callback{ID: "c1", TaskID: task().A2AID(), Round: 1, Outcome: completed()})
				s.Settle()
				s.End(key, end(key))
				s.Settle()
				last := s.Activities()[0]
				s.End(last, machine.Ended{Key: last, Outcome: *completed()})
				s.Settle()
				s.Expect(task().State == opt.TaskCompleted, "the task is %s", task().State)
			})
		})
	}
}

// A task that parks with the same text again keeps the progress of the callbacks in
// between.
func TestLegs_keepTheProgress(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, key := one(s)
		park := func(key, text string) {
			s.End(key, sim.Parked(key, opt.Park{Wait: 60_000, Text: text}, "", false))
			s.Settle()
		}
		says := func(want string) {
			got := s.Said(task().A2AID())
			s.Expect(got == want, "the task says %q, want %q", got, want)
		}
		park(key, "Waiting.")
		says("Waiting.")
		s.Callback(opt.Callback{ID: "c1", TaskID: task().A2AID(), Round: 1, Text: "Half of it."})
		s.Callback(opt.Callback{ID: "c2", TaskID: task().A2AID(), Round: 1})
		s.Settle()
		park(key+":1", "Waiting.")
		says("Half of it.")
		s.Callback(opt.Callback{ID: "c3", TaskID: task().A2AID(), Round: 1})
		s.Settle()
		park(key+":2", "Waiting for the rest.")
		says("Waiting for the rest.")
	})
}

// A callback for another round, or for a task at a gate, changes nothing.
func TestLegs_lateCallbacks(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, key := one(s)
		s.End(key, sim.Waiting(key, opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}))
		s.Settle()
		s.Callback(opt.Callback{ID: "c1", TaskID: task().A2AID(), Round: 1, Outcome: completed()})
		s.Settle()
		s.Expect(task().State == opt.TaskInputRequired, "the task is %s", task().State)
		s.Accept()
		s.Settle()
		s.Callback(opt.Callback{ID: "c2", TaskID: task().A2AID(), Round: 1, Outcome: completed()})
		s.Settle()
		second := s.Activities()[0]
		s.End(second, sim.Parked(second, opt.Park{Wait: 60_000}, "", false))
		s.Settle()
		running(s)
	})
}

// A chunk of a repeated callback is added once.
func TestLegs_repeatedChunk(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, _ := one(s)
		for range 2 {
			s.Callback(opt.Callback{ID: "c1", TaskID: task().A2AID(), Round: 1, Chunk: &opt.Chunk{
				Artifact: a2a.Artifact{ArtifactID: "page", Parts: []a2a.Part{a2a.TextPart("line")}}, Append: true,
			}})
			s.Settle()
		}
		s.Expect(len(task().Artifacts) == 1 && *task().Artifacts[0].Parts[0].Text == "line", "the artifacts are %+v", task().Artifacts)
	})
}

// The memo survives a failed attempt and a gate.
func TestLegs_keepTheMemo(t *testing.T) {
	play(t, func(s *sim.Story) {
		_, key := one(s)
		s.End(key, sim.Parked(key, opt.Park{}, "kept", false))
		s.Settle()
		s.End(key+":1", machine.Ended{Key: key + ":1", Failed: &machine.Failure{Code: "error", Message: "No."}})
		s.Settle()
		s.Wait(1_000)
		s.Settle()
		second := s.Activities()[0]
		s.Expect(string(s.Work(second).Memo) == `"kept"` && s.Work(second).Attempt == 2 && s.Work(second).Leg == 0, "the work is %+v", s.Work(second))
		s.End(second, sim.Waiting(second, opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}))
		s.Settle()
		s.Accept()
		s.Settle()
		third := s.Activities()[0]
		s.Expect(string(s.Work(third).Memo) == `"kept"` && s.Work(third).Round == 2, "the work is %+v", s.Work(third))
	})
}

// A task that is canceled while it is parked, at a gate or at work first cancels its
// work elsewhere.
func TestLegs_cancel(t *testing.T) {
	for name, begin := range map[string]func(s *sim.Story, key string){
		"parked": func(*sim.Story, string) {},
		"at a gate": func(s *sim.Story, key string) {
			s.Wait(60_000)
			s.Settle()
			s.End(key+":1", sim.Waiting(key+":1", opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}))
			s.Settle()
		},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				task, key := one(s)
				s.End(key, sim.Parked(key, opt.Park{Wait: 60_000}, "number 7", true))
				s.Settle()
				begin(s, key)
				ref, _ := opt.ParseID(task().ID)
				s.Send(opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: task().ID})
				s.Settle()
				s.Expect(len(s.Activities()) == 1, "%v is running", s.Activities())
				last := s.Activities()[0]
				s.Expect(s.Work(last).Cancel && string(s.Work(last).Memo) == `"number 7"`, "the work is %+v", s.Work(last))
				s.Expect(!task().State.Ended() && task().Gate == nil, "the task is %s", task().State)
				s.End(last, machine.Ended{Key: last, Outcome: opt.Outcome{State: opt.TaskFailed, Message: "Number 7 is canceled."}})
				s.Rest()
				s.Expect(task().State == opt.TaskCanceled, "the task is %s", task().State)
			})
		})
	}
}

// A task whose activity elsewhere no worker takes says so once, and waits on.
func TestLegs_untaken(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, key := one(s)
		s.End(key, sim.Parked(key, opt.Park{Elsewhere: &opt.Elsewhere{Queue: "images", Activity: "Resize"}}, "", false))
		s.Settle()
		running(s, key+":1", key+":1:watch-0")
		s.End(key+":1:watch-0", machine.Watched{Key: key + ":1:watch-0", Beat: opt.Beat{Digest: "d", Untaken: true}})
		s.Settle()
		running(s, key+":1")
		s.End(key+":1", machine.Ended{Key: key + ":1", Outcome: opt.Outcome{State: opt.TaskFailed, Code: "no-paper", Message: "No paper."}})
		s.Settle()
		s.Expect(len(s.Activities()) == 1 && s.Work(s.Activities()[0]).Leg == 2, "%v is running", s.Activities())
		s.Rest()
		s.Expect(task().State == opt.TaskFailed && task().Reason == "no-paper", "the task is %s, %s", task().State, task().Reason)
	})
}

// A task knows the usage of the tasks before it, also those of other plans, and its own.
func TestLegs_spent(t *testing.T) {
	play(t, func(s *sim.Story) {
		s.Open(given(sim.PlanOf("one", "a"), sim.PlanOf("two", "b", "c")))
		for _, want := range [][2]int64{{0, 0}, {7, 0}, {14, 7}, {21, 0}} { // of the objective, of the task
			s.Settle()
			key := s.Activities()[0]
			w := s.Work(key)
			s.Expect(w.Spent.Input == want[0] && w.SpentHere.Input == want[1], "%s knows of %d and %d, want %v", key, w.Spent.Input, w.SpentHere.Input, want)
			out := opt.Outcome{State: opt.TaskCompleted, Usage: &opt.Usage{Input: 7}}
			if want[0] == 7 { // the second activity continues in another leg
				out.State, out.Park = opt.TaskWorking, &opt.Park{}
			}
			s.End(key, machine.Ended{Key: key, Outcome: out})
		}
	})
}

// credential is a gate at which the task waits for an authorization.
var credential = opt.Gate{Kind: opt.Credential, Title: "Log in.", Actions: []opt.Action{opt.Accept, opt.Reject}}

// watching returns the end of a leg that opens a gate, or that leaves it open without one, and
// is followed by a leg that watches.
func watching(key string, gate *opt.Gate, memo string) machine.Input {
	return machine.Ended{Key: key, Outcome: opt.Outcome{State: opt.TaskAuthRequired, Gate: gate, Park: &opt.Park{Wait: 60_000}, Memo: []byte(memo), OnCancel: true}}
}

// Work elsewhere is watched while its task waits for an authorization: at times, when it
// wakes the task, also in a plan that is paused. The gate closes when the work continues.
func TestLegs_watchAtGate(t *testing.T) {
	for name, end := range map[string]struct {
		in   opt.Outcome
		want opt.TaskState
	}{
		"goes on":   {opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Wait: 60_000}}, opt.TaskWorking},
		"completed": {*completed(), opt.TaskCompleted},
		"failed":    {opt.Outcome{State: opt.TaskFailed, Code: "bad", Message: "It failed."}, opt.TaskFailed},
		"asks":      {opt.Outcome{State: opt.TaskInputRequired, Gate: &opt.Gate{Kind: opt.Approval, Title: "Good?", Actions: []opt.Action{opt.Accept}}}, opt.TaskInputRequired},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *sim.Story) {
				task, key := one(s)
				s.End(key, watching(key, &credential, `"asked"`))
				s.Settle()
				running(s)
				gate := task().Gate
				s.Expect(task().State == opt.TaskAuthRequired && gate != nil, "the task is %s", task().State)
				s.Send(opt.Command{Kind: opt.UpdateObjective, ObjectiveID: gateObjective(task()), Status: string(opt.ObjectiveBlocked)})
				s.Settle()
				s.Wait(60_000)
				s.Settle()
				running(s, key+":1")
				s.End(key+":1", watching(key+":1", nil, `"asked"`))
				s.Settle()
				s.Expect(task().Gate != nil && task().Gate.ID == gate.ID, "the gate is %+v", task().Gate)
				s.Callback(opt.Callback{ID: "c1", TaskID: task().A2AID(), Round: 1, Outcome: completed()})
				s.Settle()
				running(s)
				s.Callback(opt.Callback{ID: "c2", TaskID: task().A2AID(), Round: 1})
				s.Settle()
				running(s, key+":2")
				s.Send(opt.Command{Kind: opt.UpdateObjective, ObjectiveID: gateObjective(task()), Status: string(opt.ObjectiveWorking)})
				s.End(key+":2", machine.Ended{Key: key + ":2", Outcome: end.in})
				s.Settle()
				s.Expect(task().State == end.want && (task().Gate == nil || task().Gate.ID != gate.ID), "the task is %s at %+v", task().State, task().Gate)
				if end.want == opt.TaskWorking {
					s.Callback(opt.Callback{ID: "c3", TaskID: task().A2AID(), Round: 1}) // from work that began in the round before
					s.Settle()
					s.Expect(len(s.Activities()) == 1 && s.Work(s.Activities()[0]).Round == 2, "%v is running", s.Activities())
				}
			})
		})
	}
}

func gateObjective(t *opt.Task) string {
	ref, _ := opt.ParseID(t.ID)
	return ref.ObjectiveID
}

// An answer counts also if it comes while the work elsewhere is looked at, and the next round
// begins after that look, with the memo before it.
func TestLegs_answerWhileWatched(t *testing.T) {
	play(t, func(s *sim.Story) {
		_, key := one(s)
		s.End(key, watching(key, &credential, `"asked"`))
		s.Settle()
		s.Wait(60_000)
		s.Settle()
		running(s, key+":1")
		s.Accept()
		s.Settle()
		running(s, key+":1")
		s.End(key+":1", machine.Ended{Key: key + ":1", Outcome: opt.Outcome{State: opt.TaskWorking, Park: &opt.Park{Wait: 60_000}, Memo: []byte(`"it goes on"`)}})
		s.Settle()
		s.Expect(len(s.Activities()) == 1, "%v is running", s.Activities())
		w := s.Work(s.Activities()[0])
		s.Expect(w.Round == 2 && w.Leg == 0 && len(w.Replies) == 1 && string(w.Memo) == `"asked"`, "the work is %+v", w)
	})
}

// A client that moves a task to working, at a gate for an authorization, says that it was
// given: the task continues.
func TestLegs_authorizedByHand(t *testing.T) {
	play(t, func(s *sim.Story) {
		task, key := one(s)
		s.End(key, watching(key, &credential, `"asked"`))
		s.Settle()
		ref, _ := opt.ParseID(task().ID)
		s.Send(opt.Command{Kind: opt.MoveTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: task().ID, Status: string(opt.TaskWorking), Principal: "alice"})
		s.Settle()
		s.Expect(len(s.Activities()) == 1, "%v is running", s.Activities())
		w := s.Work(s.Activities()[0])
		s.Expect(w.Round == 2 && len(w.Replies) == 1 && w.Replies[0].Action == opt.Accept && w.Replies[0].DecidedBy == "alice", "the work is %+v", w)
	})
}

// Work elsewhere is canceled also while it is looked at.
func TestLegs_cancelWhileWatched(t *testing.T) {
	for _, whole := range []bool{false, true} {
		play(t, func(s *sim.Story) {
			task, key := one(s)
			s.End(key, watching(key, &credential, `"number 7"`))
			s.Settle()
			s.Wait(60_000)
			s.Settle()
			ref, _ := opt.ParseID(task().ID)
			if whole {
				s.Send(status(ref.ObjectiveID, opt.ObjectiveCanceled))
			} else {
				s.Send(opt.Command{Kind: opt.CancelTask, ObjectiveID: ref.ObjectiveID, PlanID: ref.PlanID, TaskID: task().ID})
			}
			s.Settle()
			s.End(key+":1", watching(key+":1", nil, `"number 7"`))
			s.Settle()
			s.Expect(len(s.Activities()) == 1, "%v is running", s.Activities())
			last := s.Activities()[0]
			s.Expect(s.Work(last).Cancel && string(s.Work(last).Memo) == `"number 7"`, "the work is %+v", s.Work(last))
			s.End(last, machine.Ended{Key: last, Outcome: opt.Outcome{State: opt.TaskFailed, Message: "Number 7 is canceled."}})
			s.Rest()
			s.Expect(task().State == opt.TaskCanceled, "the task is %s", task().State)
		})
	}
}

// The wait of a task for a worker is no part of its time if Temporal times it out.
func TestLegs_timedOut(t *testing.T) {
	play(t, func(s *sim.Story) {
		_, key := one(s)
		s.Wait(7_200_000)
		s.End(key, machine.Ended{Key: key, Failed: &machine.Failure{Code: opt.ReasonTimeout, Message: "It took too long."}})
		s.Settle()
		s.Rest()
	})
}
