package record

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"longhaul/a2a"
	"longhaul/internal/journal/db"
	"longhaul/opt"
)

// An entry is an event in the form of the tables. It is made before the batch is
// written, so that the writer does not have to encode JSON.
type entry struct {
	opt.Event
	doc           db.Content // the event as JSON
	digest        []byte     // of the event
	added         db.Content // the objective, plan or artifact that it adds
	text          text       // the name and description of the objective or the plan
	givenPlans    db.Content // that came with the message
	tasks         []newTask
	message       db.Content
	messageDigest string
	status        db.Content
	gate          db.Content
	decision      db.Content
	decided       db.Content // how it has closed a gate
}

// A text is an [opt.Text] as it goes into the tables.
type text struct {
	name, description, metadata, dependencies db.Content
	planner                                   string // in the metadata
}

// A newTask is a task that is added.
type newTask struct {
	*opt.Task
	doc, dependencies, metadata db.Content
}

// newEntry returns the entry for an event of an objective.
func newEntry(objectiveID string, e opt.Event) (*entry, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	if e.Kind == opt.ObjectiveOpened && e.Objective.ID != objectiveID {
		return nil, fmt.Errorf("%w of kind %s: it is about another objective", opt.ErrMalformed, e.Kind)
	}
	var s db.Steps
	n := &entry{Event: e, doc: s.Encode(true, e), givenPlans: s.Encode(len(e.Given) > 0, e.Given)}
	n.status, n.gate, n.message = s.Encode(e.Status != nil, e.Status), s.Encode(e.Gate != nil, e.Gate), s.Encode(e.Message != nil, e.Message)
	decided := e.Decided()
	n.decision, n.decided = s.Encode(e.Decision != nil, e.Decision), s.Encode(decided != nil, decided)
	switch e.Kind {
	case opt.ObjectiveOpened:
		n.added, n.text = s.Encode(true, bareObjective(*e.Objective)), newText(&s, e.Objective.Text())
	case opt.PlanAdded:
		n.added, n.text = s.Encode(true, barePlan(*e.Plan)), newText(&s, e.Plan.Text())
		n.tasks = newTasks(&s, e.Plan.Tasks)
	case opt.ObjectiveChanged, opt.PlanChanged:
		n.text = newText(&s, e.Text)
	case opt.PlanRetried, opt.TasksAdded, opt.TasksReopened:
		n.tasks = newTasks(&s, e.Tasks)
	case opt.ArtifactAdded:
		n.added = s.Encode(true, e.Chunk.Artifact)
	}
	if s.Err != nil {
		return nil, fmt.Errorf("%w: %w", opt.ErrMalformed, s.Err)
	}
	n.digest = Digest(e)
	if e.Message != nil {
		n.messageDigest = opt.DigestUnder(e.Key, *e.Message)
	}
	return n, nil
}

// bareObjective returns o without the members that have columns or rows of their
// own.
func bareObjective(o opt.Objective) opt.Objective {
	o.Name, o.Description, o.Metadata, o.Plans = "", "", nil, nil
	return o
}

// barePlan is bareObjective for a plan.
func barePlan(p opt.Plan) opt.Plan {
	p.Name, p.Description, p.Metadata, p.Dependencies, p.Tasks, p.Report = "", "", nil, nil, nil, nil
	return p
}

// bareTask is bareObjective for a task.
func bareTask(t opt.Task) opt.Task {
	t.Name, t.Metadata, t.Dependencies, t.Link, t.Follow, t.Gate, t.Artifacts = "", nil, nil, "", false, nil, nil
	return t
}

func newText(s *db.Steps, t *opt.Text) text {
	planner, _ := t.Metadata.String(opt.KeyPlanner)
	return text{
		planner: planner,
		name:    db.Content(t.Name), description: db.Content(t.Description),
		metadata: s.Encode(len(t.Metadata) > 0, t.Metadata), dependencies: s.Encode(t.Dependencies != nil, t.Dependencies),
	}
}

func newTasks(s *db.Steps, list []*opt.Task) (out []newTask) {
	for _, t := range list {
		out = append(out, newTask{
			Task: t, doc: s.Encode(true, bareTask(*t)),
			dependencies: s.Encode(t.Dependencies != nil, t.Dependencies), metadata: s.Encode(len(t.Metadata) > 0, t.Metadata),
		})
	}
	return out
}

const digestSize = 16 // bytes that are kept of the digest of an event

// Digest returns a digest of e. It covers a fixed list of members, which stays as it is
// when events get more of them: a program that was rolled back reads the events of a newer
// one in a history, and repeats them without the members that it does not know.
func Digest(e opt.Event) []byte {
	of := []any{e.N, e.Kind, e.At.Millis(), e.PlanID, e.TaskID, e.RootID, e.From, e.To, e.Reason, e.Round, e.Try, e.Attempt, e.Leg, e.Revision, e.Link, e.ForTask, e.Principal, e.Key}
	for _, m := range []*a2a.Message{e.Message, e.Status} {
		if m != nil {
			of = append(of, "message", m.MessageID)
		}
	}
	if e.Gate != nil {
		of = append(of, "gate", e.Gate.ID)
		if e.Kind == opt.ExchangeAdded {
			of = append(of, e.Gate.Exchanges[0].MessageID)
		}
	}
	if e.Answer != nil {
		of = append(of, "answer", e.Answer.CommandID)
	}
	if c := e.Chunk; c != nil {
		of = append(of, "chunk", c.Artifact.ArtifactID, c.Append, c.Last)
		for _, p := range c.Artifact.Parts {
			if p.Text != nil {
				of = append(of, *p.Text)
			}
		}
	}
	doc, err := json.Marshal(of)
	if err != nil {
		panic(err) // they are texts, numbers and truth values
	}
	sum := sha256.Sum256(doc)
	return sum[:digestSize]
}

// A batch is what one source has to record.
type batch struct {
	source  string
	entries []*entry
	under   int // as in [opt.Batch]
}

func newBatch(b opt.Batch) (batch, error) {
	out := batch{source: b.Source, under: max(b.Under, 1)}
	for i, e := range b.Events {
		n, err := newEntry(b.ObjectiveID, e)
		if err == nil && i > 0 && e.N != b.Events[i-1].N+1 {
			err = fmt.Errorf("the one before is event %d: %w", b.Events[i-1].N, ErrGap)
		}
		if err != nil {
			return out, fmt.Errorf("event %d of %s from %s: %w", e.N, b.ObjectiveID, b.Source, err)
		}
		out.entries = append(out.entries, n)
	}
	return out, nil
}
