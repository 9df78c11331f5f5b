package journal_test

import (
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/shown"
)

func texts(artifacts []a2a.Artifact) map[string]string {
	out := map[string]string{}
	for _, a := range artifacts {
		out[a.ArtifactID] = a.Text()
	}
	return out
}

func TestArtifacts(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 2), s.moved(0, 0, opt.TaskWorking))
		first := s.piece(0, 0, "a", "one", false)
		first.Chunk.Artifact.Name = "Draft"
		first.Chunk.Artifact.Metadata = a2a.Metadata{}.With("x", 1).With("y", 1)
		more := s.piece(0, 0, "a", "two", true)
		more.Chunk.Artifact.Description = "A draft"
		more.Chunk.Artifact.Metadata = a2a.Metadata{}.With("y", 2)
		s.record(first, s.piece(0, 0, "b", "b", false), s.piece(0, 1, "a", "of another task", false), more, s.piece(0, 0, "c", "from nothing", true))
		want := []a2a.Artifact{
			{
				ArtifactID: "a", Name: "Draft", Description: "A draft",
				Parts:    []a2a.Part{a2a.TextPart("onetwo")},
				Metadata: a2a.Metadata{}.With("x", 1).With("y", 2),
			},
			{ArtifactID: "b", Parts: []a2a.Part{a2a.TextPart("b")}},
			{ArtifactID: "c", Parts: []a2a.Part{a2a.TextPart("from nothing")}},
		}
		test.Equal(t, "artifacts", want, s.view(s.task(0, 0)).Task.Artifacts)

		s.record(s.piece(0, 0, "a", "anew", false), s.piece(0, 0, "a", "and on", true))
		want[0] = a2a.Artifact{ArtifactID: "a", Parts: []a2a.Part{a2a.TextPart("anewand on")}}
		test.Equal(t, "after it was replaced, artifacts", want, s.view(s.task(0, 0)).Task.Artifacts)
		test.Is(t, "the root task shows", 0, len(s.view(s.objective.ID).Task.Artifacts))
		v, err := s.j.Task(t.Context(), tenant, s.task(0, 0), shown.TaskWant{History: -1})
		if err != nil || v.Task.Artifacts != nil {
			t.Errorf("artifacts that were not requested: %v, %v", v.Task.Artifacts, err)
		}
	})
}

// TestArtifacts_ofRoot has a root task show the artifacts of its plan tasks and
// its own.
func TestArtifacts_ofRoot(t *testing.T) {
	each(t, func(t *testing.T, open func() *journal.Journal) {
		s := begin(t, open(), newObjective())
		s.record(planAdded(s.objective, 0, 2))
		shown := func(e opt.Event) opt.Event { e.RootID = s.objective.ID; return e }
		own := opt.Event{Kind: opt.ArtifactAdded, TaskID: s.objective.ID, Chunk: &opt.Chunk{
			Artifact: a2a.Artifact{ArtifactID: "own", Parts: []a2a.Part{a2a.TextPart("own")}},
		}}
		again := own
		again.Chunk = &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "0-0-a", Parts: []a2a.Part{a2a.TextPart("given again")}}}
		s.record(
			shown(s.piece(0, 0, "0-0-a", "one", false)), own, shown(s.piece(0, 1, "0-1-a", "first", false)),
			s.piece(0, 1, "0-1-b", "not shown", false), shown(s.piece(0, 0, "0-0-a", "two", true)),
		)
		want := []string{"0-0-a", "own", "0-1-a"}
		v := s.view(s.objective.ID)
		var got []string
		for _, a := range v.Task.Artifacts {
			got = append(got, a.ArtifactID)
		}
		test.Equal(t, "artifacts of the root task", want, got)
		test.Equal(t, "artifacts of the root task", map[string]string{"0-0-a": "onetwo", "own": "own", "0-1-a": "first"}, texts(v.Task.Artifacts))
		test.Equal(t, "artifacts of the task", map[string]string{"0-0-a": "onetwo"}, texts(s.view(s.task(0, 0)).Task.Artifacts))

		s.record(again)
		test.Is(t, "the root task was given its own, and shows", "given again", texts(s.view(s.objective.ID).Task.Artifacts)["0-0-a"])
	})
}
