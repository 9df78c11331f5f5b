package needs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"longhaul/internal/needs"
)

// A tested is a test that notes how it ends.
type tested struct {
	testing.TB
	failed, skipped string
}

func (t *tested) Name() string { return "TestX" }

func (t *tested) Fatal(args ...any) { t.failed = fmt.Sprint(args...); runtime.Goexit() }

func (t *tested) Skip(args ...any) { t.skipped = fmt.Sprint(args...); runtime.Goexit() }

// run returns how a test ends that needs a program.
func run(t *testing.T, name string) *tested {
	in, ended := &tested{TB: t}, make(chan struct{})
	go func() {
		defer close(ended)
		needs.Tools(in, "sh", name)
	}()
	<-ended
	return in
}

func TestTools(t *testing.T) {
	t.Setenv(needs.LeftOut, "")
	if got := run(t, "sh"); got.failed != "" || got.skipped != "" || !strings.HasSuffix(needs.Tool(t, "sh"), "/sh") {
		t.Errorf("with a program: %+v", got)
	}
	if got := run(t, "no-such-tool"); !strings.HasSuffix(got.failed, "apt-get install no-such-tool") || got.skipped != "" {
		t.Errorf("without a program: %+v", got)
	}
	list := filepath.Join(t.TempDir(), "list")
	t.Setenv(needs.LeftOut, list)
	for range 2 {
		if got := run(t, "no-such-tool"); got.failed != "" || !strings.HasSuffix(got.skipped, "apt-get install no-such-tool") {
			t.Errorf("left out: %+v", got)
		}
	}
	dir, _ := os.Getwd()
	line := "no-such-tool\t" + dir + "\tTestX\n"
	if got, err := os.ReadFile(list); string(got) != line+line {
		t.Errorf("the list is %q, %v", got, err)
	}
}
