package crash_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"longhaul/internal/test"
)

var sumsFile = flag.String("sums", "", "file to which each run that passes adds a line: seconds, operations that were checked, and the name of the test")

// addUp has a world add its line when its test ends.
func (w *world) addUp() {
	began := time.Now()
	w.t.Cleanup(func() {
		if *sumsFile != "" && !w.t.Failed() {
			appendLine(w.t, *sumsFile, fmt.Appendf(nil, "%.0f %d %s", time.Since(began).Seconds(), w.checked, w.t.Name()))
		}
	})
}

func appendLine(t *testing.T, path string, line []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	test.OK(t, err)
	_, err = f.Write(append(line, '\n'))
	test.OK(t, err)
	test.OK(t, f.Close())
}
