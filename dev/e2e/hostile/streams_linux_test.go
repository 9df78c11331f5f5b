package hostile_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"longhaul/internal/test"
)

// resident returns the bytes of memory that the process holds.
func (i installation) resident(t *testing.T) int {
	t.Helper()
	text := test.Value(os.ReadFile(fmt.Sprintf("/proc/%d/status", i.process.PID())))(t)
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(text)
	kib := test.Value(strconv.Atoi(string(found[1])))(t)
	return kib << 10
}

// A caller with a wrong key opens a thousand streams over gRPC, each with a message of 16 MiB
// that stops after half a MiB.
func TestHostile_streams(t *testing.T) {
	t.Parallel()
	i := newInstallation(t)
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: protocols}
	defer transport.CloseIdleConnections()
	begin := append(binary.BigEndian.AppendUint32([]byte{0}, 16<<20-1), make([]byte, 512<<10)...)
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	before := i.resident(t)
	var calls sync.WaitGroup
	statuses := make(chan string, 1000)
	for range cap(statuses) {
		calls.Go(func() {
			stopped, stop := io.Pipe()
			defer func() { _ = stop.Close() }()
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+i.grpc+"/lf.a2a.v1.A2AService/SendMessage", io.MultiReader(bytes.NewReader(begin), stopped))
			if err != nil {
				statuses <- err.Error()
				return
			}
			r.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "A2a-Version": {"1.0"}, "Authorization": {"Bearer lh_aaaaaaaaaaaaaaaa_" + strings.Repeat("a", 52)}}
			res, err := transport.RoundTrip(r)
			if err != nil {
				statuses <- err.Error()
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			statuses <- res.Header.Get("Grpc-Status") + res.Trailer.Get("Grpc-Status")
		})
	}
	calls.Wait()
	grown := i.resident(t) - before
	close(statuses)
	counted := map[string]int{}
	for status := range statuses {
		counted[status]++
	}
	t.Logf("%d KiB more, answers %v", grown>>10, counted)
	if grown > 64<<20 {
		t.Errorf("resident memory grew by %d MiB, want less than 64", grown>>20)
	}
	if counted["16"] == 0 || counted["0"] > 0 {
		t.Errorf("answers by status: %v, want UNAUTHENTICATED (16)", counted)
	}
}
