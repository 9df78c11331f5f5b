package workflows_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"

	"longhaul/a2a"
	"longhaul/activities"
	"longhaul/internal/seal"
	"longhaul/internal/test"
	"longhaul/opt"
	"longhaul/opt/machine"
	"longhaul/workflows"
)

// memory keeps blobs. The first with an id stays, as in the journal.
type memory struct {
	blobs map[string][]byte
	down  error // for reads and writes
}

func (m *memory) WriteBlobs(_ context.Context, objectiveID string, blobs map[string][]byte) error {
	for id, data := range blobs {
		if _, ok := m.blobs[objectiveID+"/"+id]; !ok && m.down == nil {
			m.blobs[objectiveID+"/"+id] = bytes.Clone(data)
		}
	}
	return m.down
}

func (m *memory) ReadBlob(_ context.Context, objectiveID, id string) ([]byte, error) {
	data, ok := m.blobs[objectiveID+"/"+id]
	if !ok {
		return nil, fmt.Errorf("blob %s: %w", id, opt.ErrUnknown)
	}
	return data, m.down
}

// size returns the bytes of all blobs.
func (m *memory) size() (n int) {
	for _, data := range m.blobs {
		n += len(data)
	}
	return n
}

// A history is what Temporal and the journal store of values, as the SDK does it.
type history struct {
	t      *testing.T
	kept   *memory
	cipher workflows.Cipher
	inline int // bytes in the history
}

func newHistory(t *testing.T, c workflows.Cipher) *history {
	return &history{t: t, kept: &memory{blobs: map[string][]byte{}}, cipher: c}
}

// put stores a value, checks that it comes back as it was, and returns the claim on it, nil
// if it is in the history.
func (h *history) put(v any) *converter.StorageDriverClaim {
	h.t.Helper()
	p := converted(h.t, h.cipher, v)
	storage := workflows.ExternalStorage(h.kept, h.cipher)
	if proto.Size(p) < storage.PayloadSizeThreshold {
		h.inline += proto.Size(p)
		return nil
	}
	claims, err := storage.Drivers[0].Store(converter.StorageDriverStoreContext{
		Context: h.t.Context(), Target: converter.StorageDriverWorkflowInfo{WorkflowID: planID},
	}, []*commonpb.Payload{p})
	test.OK(h.t, err)
	got, err := h.get(claims[0], h.cipher)
	want, _ := json.Marshal(v)
	if err != nil || string(got) != string(want) {
		h.t.Fatalf("%.80s came back as %.80s, %v", want, got, err)
	}
	for _, text := range claims[0].ClaimData {
		h.inline += len(text)
	}
	return &claims[0]
}

// get reads a stored value with the keys of a cipher.
func (h *history) get(claim converter.StorageDriverClaim, c workflows.Cipher) (json.RawMessage, error) {
	ctx := converter.StorageDriverRetrieveContext{Context: h.t.Context()}
	p, err := workflows.ExternalStorage(h.kept, c).Drivers[0].Retrieve(ctx, []converter.StorageDriverClaim{claim})
	if err != nil {
		return nil, err
	}
	var v json.RawMessage
	return v, workflows.NewDataConverter(c).FromPayload(p[0], &v)
}

// notes returns n messages with texts of a size.
func notes(n, size int) []a2a.Message {
	list := make([]a2a.Message, n)
	for i := range list {
		text := strings.Repeat(fmt.Sprint(i, " "), size)[:size]
		list[i] = a2a.Message{MessageID: fmt.Sprint("note-", i), Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart(text)}}
	}
	return list
}

// results returns the results of n tasks, with artifacts of a size.
func results(n, size int) []opt.Result {
	list := make([]opt.Result, n)
	for i, m := range notes(n, size) {
		list[i] = opt.Result{TaskID: m.MessageID, Name: "Result", Artifacts: []a2a.Artifact{{ArtifactID: m.MessageID, Parts: m.Parts}}}
	}
	return list
}

func jsonSize(v any) int {
	text, _ := json.Marshal(v)
	return len(text)
}

// input returns the input of Run for the n-th task of a plan.
func input(n int, w opt.Work) activities.RunInput {
	w.PlanID, w.TaskID, w.Name, w.Key = planID, fmt.Sprint("task-", n), fmt.Sprint("Task ", n), fmt.Sprint("key-", n)
	ride := opt.Event{N: int64(n), Kind: opt.TaskMoved, TaskID: w.TaskID, To: string(opt.TaskWorking)}
	return activities.RunInput{Work: w, Ride: []opt.Batch{{ObjectiveID: objectiveID, Source: planID, Events: []opt.Event{ride}}}}
}

// What tasks of a plan have in common is stored once: twenty inputs take little more than
// one. Each comes back as it was.
func TestBlobs(t *testing.T) {
	for _, tt := range []struct {
		name string
		of   func(n int) opt.Work
		once any // that all have
	}{
		{"30 notes", func(int) opt.Work { return opt.Work{Messages: notes(30, 4<<10), Notes: 29} }, notes(30, 4<<10)},
		{"6 long notes", func(int) opt.Work { return opt.Work{Messages: notes(6, 20<<10), Notes: 5} }, notes(6, 20<<10)},
		{"9,308 notes", func(int) opt.Work { return opt.Work{Messages: notes(9308, 4)} }, notes(9308, 4)},
		{"notes between tasks", func(n int) opt.Work { return opt.Work{Messages: notes(30+n, 4<<10)} }, notes(49, 4<<10)},
		{"attempts, epochs, and notes that an approval has covered", func(n int) opt.Work {
			return opt.Work{Messages: notes(30-n%3, 4<<10), Notes: 29 - n%3, Attempt: 1 + n%4, Epoch: n % 5}
		}, notes(30, 4<<10)},
		{"results", func(int) opt.Work { return opt.Work{Results: results(6, 20<<10)} }, results(6, 20<<10)},
		{"small results", func(int) opt.Work { return opt.Work{Results: results(60, 2<<10)} }, results(60, 2<<10)},
		{"notes and results", func(n int) opt.Work { return opt.Work{Messages: notes(30, 4<<10), Results: results(n, 20<<10)} }, []any{notes(30, 4<<10), results(19, 20<<10)}},
	} {
		for _, c := range []workflows.Cipher{nil, keys(t, 1)} {
			h := newHistory(t, c)
			for n := range 20 {
				h.put(input(n, tt.of(n)))
			}
			if got, once := h.kept.size()+h.inline, jsonSize(tt.once); got > 2*once {
				t.Errorf("%s, encrypted %v: 20 inputs take %d bytes, and what they have in common %d", tt.name, c != nil, got, once)
			}
		}
	}
}

// The turns of a model store the notes and the conversation once: in the inputs, in the
// outcomes, and in the state of the plan, which continues as a new run.
func TestBlobs_legs(t *testing.T) {
	h := newHistory(t, nil)
	clients := notes(30, 4<<10)
	said := notes(30, 4<<10) // the model has heard them
	for leg := range 20 {
		said = append(said, a2a.Message{MessageID: fmt.Sprint("turn-", leg), Parts: []a2a.Part{a2a.TextPart(strings.Repeat("said ", 200))}})
		memo := test.Value(json.Marshal(map[string]any{"said": said, "turns": leg}))(t)
		h.put(activities.Outcome{State: opt.TaskWorking, Park: &opt.Park{}, Memo: memo})
		h.put(input(leg, opt.Work{Leg: leg + 1, Messages: clients, Memo: memo}))
		h.put(workflows.PlanInput{Going: true, State: machine.PlanState{N: int64(leg), NoteState: machine.NoteState{Notes: clients[1:]}, TaskStates: machine.TaskStates{Memos: map[string]opt.Memo{"task-0": {Data: memo}}}}})
	}
	if got, once := h.kept.size()+h.inline, jsonSize(clients)+jsonSize(said); got > 3*once {
		t.Errorf("20 legs take %d bytes, and what they have in common %d", got, once)
	}
}

// An everyday payload stays in the history.
func TestBlobs_small(t *testing.T) {
	h := newHistory(t, nil)
	if h.put(input(0, opt.Work{Messages: notes(3, 4<<10), Results: results(3, 4<<10)})) != nil || len(h.kept.blobs) != 0 {
		t.Errorf("there are %d blobs", len(h.kept.blobs))
	}
}

// A payload is read whole or not at all, and an activity that cannot read its input is repeated.
func TestBlobs_unread(t *testing.T) {
	unreachable := errors.New("the journal is down")
	for _, tt := range []struct {
		name   string
		change func(h *history)
		reader workflows.Cipher
		want   error
	}{
		{"as it was", func(*history) {}, keys(t, 2, 1), nil},
		{"a segment is lost", func(h *history) {
			for id := range h.kept.blobs {
				if strings.Contains(id, "segment") {
					delete(h.kept.blobs, id)
					return
				}
			}
		}, keys(t, 1), opt.ErrUnknown},
		{"the journal is down", func(h *history) { h.kept.down = unreachable }, keys(t, 1), unreachable},
		{"another key", func(*history) {}, keys(t, 2), seal.ErrKey},
	} {
		h := newHistory(t, keys(t, 1))
		claim := h.put(input(0, opt.Work{Messages: notes(30, 4<<10)}))
		tt.change(h)
		_, err := h.get(*claim, tt.reader)
		test.Error(t, tt.name, tt.want, err)
		if err != nil && workflows.NewFailureConverter(tt.reader).ErrorToFailure(err).GetApplicationFailureInfo().GetNonRetryable() {
			t.Errorf("%s: the activity is not repeated", tt.name)
		}
	}
}

// What cannot be written is not referred to.
func TestBlobs_unwritten(t *testing.T) {
	kept := &memory{blobs: map[string][]byte{}, down: errors.New("the journal is down")}
	_, err := workflows.ExternalStorage(kept, nil).Drivers[0].Store(converter.StorageDriverStoreContext{
		Context: t.Context(), Target: converter.StorageDriverWorkflowInfo{WorkflowID: planID},
	}, []*commonpb.Payload{converted(t, nil, notes(30, 4<<10))})
	test.Error(t, "stored", kept.down, err)
}

// A payload that was stored before there were segments is read.
func TestBlobs_former(t *testing.T) {
	h := newHistory(t, nil)
	data := test.Value(proto.Marshal(converted(t, nil, notes(30, 4<<10))))(t)
	id := workflows.Digest(data)
	h.kept.blobs[objectiveID+"/"+id] = data
	got, err := h.get(converter.StorageDriverClaim{ClaimData: map[string]string{"objective": objectiveID, "id": id}}, nil)
	var list []a2a.Message
	if err == nil {
		err = json.Unmarshal(got, &list)
	}
	test.OK(t, err)
	test.Equal(t, "read", notes(30, 4<<10), list)
}

// While a key is replaced, segments are stored with the new one too, so that the old one can
// go when its payloads are gone.
func TestBlobs_rotated(t *testing.T) {
	h := newHistory(t, keys(t, 1))
	h.put(input(0, opt.Work{Messages: notes(30, 4<<10)}))
	h.cipher = keys(t, 2, 1)
	claim := h.put(input(1, opt.Work{Messages: notes(30, 4<<10)}))
	test.Error(t, "with the new key alone", nil, test.Err(h.get(*claim, keys(t, 2))))
}

// A client cannot take the place of a segment: the digest of what it sends is the id of
// another blob.
func TestBlobs_forged(t *testing.T) {
	h := newHistory(t, nil)
	text := strings.Repeat("note ", 8<<10)
	forged := test.Value(json.Marshal(text))(t)
	test.OK(t, h.kept.WriteBlobs(t.Context(), objectiveID, map[string][]byte{workflows.Digest(forged): []byte("forged")}))
	h.put([]string{text, text, text})
}

// Segments are parts of any document, in their order.
func FuzzSegments(f *testing.F) {
	for _, doc := range []string{`{"a":[],"b\"\\":{"c":[1,{"d":"]}"}]},"e":""}`, ` [ {"a" : [ "x" , 1 ] } ] `, `"` + strings.Repeat("x", 99) + `"`} {
		f.Add([]byte(doc), 1)
		f.Add([]byte(doc), 999)
	}
	f.Fuzz(func(t *testing.T, part []byte, times int) {
		doc := []byte("[" + strings.Repeat(string(part)+",", max(0, times)%1000) + string(part) + "]")
		at := 0
		places, texts := workflows.Segments(doc)
		for i, place := range places {
			if place < at || texts[i] == "" {
				t.Fatalf("the segment %.20q at %d begins before %d", texts[i], place, at)
			}
			at = place + len(texts[i])
		}
	})
}
