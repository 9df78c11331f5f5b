package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"google.golang.org/protobuf/types/known/timestamppb"

	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
)

// The first events of a plan stand in no history: rebuild works them out from the input of the
// run. With them a gate opens, on whose digest people decide. So a change of these events, the
// texts of gates included, needs another version of the rules: see machine.Rules.
func TestReadRun_firstEventsStay(t *testing.T) {
	const want = "489f1735e7b45066eadfb009108cde287ce69227526ac104240bc1551490d40b"
	file := test.Value(os.Open("testdata/reported-first.1.0.json"))(t)
	defer file.Close()
	h := test.Value(client.HistoryFromJSON(file, client.HistoryJSONOptions{}))(t)
	run := test.Value(readRun(t.Context(), payloadReader{data: NewDataConverter(nil)}, h.GetEvents()))(t)
	var events []opt.Event
	opened := false
	for _, f := range run.opened {
		events, opened = append(events, f.Event), opened || f.Gate != nil
	}
	text := test.Value(json.Marshal(events))(t)
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want || !opened {
		t.Errorf("the first events have the digest %x, want %s:\n%s", sum, want, text)
	}
}

// A plan that an objective has begun after its own reset records its first events in an epoch of its own. A run that an
// operator has reset may have recorded others in the one before.
func TestReadRun_firstEventsOfAnotherEpoch(t *testing.T) {
	data := NewDataConverter(nil)
	for epoch, want := range map[int]int{1: 1, 2: 0} {
		plan := opt.Plan{ID: "plan-aaaaaaaaaaaaaaaaaaaaaaaaaa-1", ObjectiveID: "obj-aaaaaaaaaaaaaaaaaaaaaaaaaa", Status: opt.PlanPending, Started: true, Run: 1}
		input := test.Value(data.ToPayloads(PlanInput{State: machine.PlanState{Rules: machine.Rules, Plan: plan, Epoch: epoch, Rewind: epoch > 1}}))(t)
		began := &historypb.WorkflowExecutionStartedEventAttributes{WorkflowType: &commonpb.WorkflowType{Name: PlanWorkflow}, Input: input}
		run, err := readRun(t.Context(), payloadReader{data: data}, []*historypb.HistoryEvent{{
			EventTime: timestamppb.Now(), Attributes: &historypb.HistoryEvent_WorkflowExecutionStartedEventAttributes{WorkflowExecutionStartedEventAttributes: began},
		}})
		test.OK(t, err)
		if got := len(run.opened); got != want {
			t.Errorf("in epoch %d the run has %d first events, want %d", epoch, got, want)
		}
	}
}
