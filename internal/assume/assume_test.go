package assume_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/internal/assume"
	"longhaul/internal/test"
	"longhaul/opt"
)

// The example of docs/decide.md is valid, and says what its text says.
func TestRead_docs(t *testing.T) {
	docs := test.Value(os.ReadFile("../../docs/decide.md"))(t)
	_, section, _ := strings.Cut(string(docs), "## Rehearsal\n")
	_, rest, _ := strings.Cut(section, "```yaml\n")
	example, _, found := strings.Cut(rest, "```")
	file := filepath.Join(t.TempDir(), "assume.yaml")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil || !found {
		t.Fatal(err, found)
	}
	a := test.Value(assume.Read(file))(t)
	order, llm, ann := a.Tasks["Order"], a.Executors["llm"], a.People[0]
	if a.Requester != "bob" || a.Within != 48*time.Hour || a.Budget.Cost != 5_000_000 || a.Tasks["Form"].Verdict != opt.Ask {
		t.Errorf("got %+v", a)
	}
	if order.Takes.At(0.5) != 32*time.Minute+30*time.Second || order.Fails != 1 || order.Ends != opt.TaskFailed || len(llm.Takes) != 3 || llm.Cost.At(1) != 2_000_000 {
		t.Errorf("got %+v, %+v", order, llm)
	}
	if ann.Name != "ann" || ann.After.At(1) != 4*time.Hour || ann.Action != opt.Accept || ann.Silent {
		t.Errorf("got %+v", ann)
	}
}
