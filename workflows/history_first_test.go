package workflows

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"go.temporal.io/sdk/client"

	"longhaul/internal/test"
	"longhaul/opt"
)

// The first events of a plan stand in no history: rebuild works them out from the input of the
// run. With them a gate opens, on whose digest people decide. So a change of these events, the
// texts of gates included, needs another version of the rules: see machine.Rules.
func TestReadRun_firstEventsStay(t *testing.T) {
	const want = "489f1735e7b45066eadfb009108cde287ce69227526ac104240bc1551490d40b"
	file, err := os.Open("testdata/reported-first.1.0.json")
	test.OK(t, err)
	defer file.Close()
	h, err := client.HistoryFromJSON(file, client.HistoryJSONOptions{})
	test.OK(t, err)
	run, err := readRun(t.Context(), payloadReader{data: NewDataConverter(nil)}, h.GetEvents())
	test.OK(t, err)
	var events []opt.Event
	opened := false
	for _, f := range run.opened {
		events, opened = append(events, f.Event), opened || f.Gate != nil
	}
	text, err := json.Marshal(events)
	test.OK(t, err)
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want || !opened {
		t.Errorf("the first events have the digest %x, want %s:\n%s", sum, want, text)
	}
}
