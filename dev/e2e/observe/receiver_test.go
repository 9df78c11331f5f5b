package observe_test

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A receiver is a collector of traces.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*tracepb.Span
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body := io.Reader(req.Body)
		if req.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(req.Body)
			if err != nil {
				t.Errorf("read traces: %v", err)
				return
			}
			body = unzipped
		}
		data, err := io.ReadAll(body)
		var got collectorpb.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(data, &got)
		}
		if err != nil {
			t.Errorf("read traces: %v", err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range got.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// trace returns the names of the spans of a trace that have come.
func (r *receiver) trace(id string) map[string]*tracepb.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]*tracepb.Span{}
	for _, s := range r.spans {
		if hex.EncodeToString(s.GetTraceId()) == id {
			names[s.GetName()] = s
		}
	}
	return names
}
