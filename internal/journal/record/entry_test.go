package record_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"longhaul/a2a"
	"longhaul/internal/journal/record"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The digest of an event is the same for every program, now and later: this one is not to
// be changed.
func TestDigest(t *testing.T) {
	t.Parallel()
	text := "piece"
	e := opt.Event{
		N: 7, Kind: opt.ArtifactAdded, At: a2a.AtMillis(1_000), PlanID: "plan-a", TaskID: "task-a", RootID: "obj-a", From: "working", To: "working", Reason: "r",
		Round: 1, Try: 2, Attempt: 3, Leg: 4, Revision: 5, Link: "l", ForTask: "f", Principal: "ann", Key: "k",
		Message: &a2a.Message{MessageID: "m"}, Status: &a2a.Message{MessageID: "s"}, Gate: &opt.Gate{ID: "g"}, Answer: &opt.CommandAnswer{CommandID: "c"},
		Chunk: &opt.Chunk{Artifact: a2a.Artifact{ArtifactID: "x", Parts: []a2a.Part{{Text: &text}}}, Append: true, Last: true},
	}
	other := e
	other.Step, other.Objective, other.Status = "remind", &opt.Objective{Metadata: a2a.Metadata{"k": []byte("1")}}, &a2a.Message{MessageID: "s", Parts: []a2a.Part{{Text: &text}}}
	other.Gate = &opt.Gate{ID: "g", Kind: opt.Approval, Title: "Ship?"}
	if !bytes.Equal(record.Digest(e), record.Digest(other)) {
		t.Error("it covers members that another program may not know, or encodes in another way")
	}
	test.Is(t, "digest", "89c29eebebfec428b7d697d47e0f34c3", hex.EncodeToString(record.Digest(e)))
}
