package grpc_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/status"

	"longhaul/internal/test"
)

// A stall is a connection whose streams begin a message and do not end it.
type stall struct {
	conn  net.Conn
	frame *http2.Framer

	mu     sync.Mutex // over writes and what follows
	window map[uint32]int
	whole  int // window of the connection
	closed map[uint32]bool
	change *sync.Cond
	pong   bool
	err    error
}

func newStall(t *testing.T, addr string) *stall {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	test.OK(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	s := &stall{conn: conn, frame: http2.NewFramer(conn, conn), window: map[uint32]int{}, whole: 65535, closed: map[uint32]bool{}}
	s.change = sync.NewCond(&s.mu)
	_, err = conn.Write([]byte(http2.ClientPreface))
	if err == nil {
		err = s.frame.WriteSettings()
	}
	test.OK(t, err)
	go s.read()
	return s
}

// read notes what the server allows, and which streams it closes.
func (s *stall) read() {
	for {
		f, err := s.frame.ReadFrame()
		s.mu.Lock()
		switch f := f.(type) {
		case *http2.SettingsFrame:
			if !f.IsAck() {
				_ = s.frame.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if f.IsAck() {
				s.pong = true
			} else {
				_ = s.frame.WritePing(true, f.Data)
			}
		case *http2.WindowUpdateFrame:
			if f.StreamID == 0 {
				s.whole += int(f.Increment)
			} else {
				s.window[f.StreamID] += int(f.Increment)
			}
		case *http2.HeadersFrame:
			if f.StreamEnded() {
				s.closed[f.StreamID] = true
			}
		case *http2.RSTStreamFrame:
			s.closed[f.StreamID] = true
		}
		s.err = err
		s.change.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// open begins n streams, each with the first bytes of a message of a size, as many as the server
// takes. It returns when the server has seen all that.
func (s *stall) open(t *testing.T, method, credential string, n, first, size int) {
	t.Helper()
	chunk := make([]byte, 16<<10)
	for i := range n {
		id := uint32(2*i + 1)
		var head bytes.Buffer
		enc := hpack.NewEncoder(&head)
		enc.SetMaxDynamicTableSize(0) // blocks can be sent in any order
		for _, f := range [][2]string{{":method", "POST"}, {":scheme", "http"}, {":path", method}, {":authority", "127.0.0.1"},
			{"content-type", "application/grpc"}, {"te", "trailers"}, {"a2a-version", "1.0"}, {"authorization", credential}} {
			_ = enc.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
		}
		s.mu.Lock()
		s.window[id] = 65535
		s.check(t, s.frame.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: head.Bytes(), EndHeaders: true}))
		s.mu.Unlock()
		begin := binary.BigEndian.AppendUint32([]byte{0}, uint32(size))
		for sent := 0; sent < first; {
			s.mu.Lock()
			for !s.closed[id] && s.err == nil && (s.whole < 5 || s.window[id] < 5) {
				s.change.Wait()
			}
			if s.closed[id] || s.err != nil {
				s.mu.Unlock()
				break
			}
			data := chunk[:min(len(chunk), first-sent, s.whole, s.window[id])]
			if sent == 0 {
				data = append(begin, data[5:]...)
			}
			s.check(t, s.frame.WriteData(id, false, data))
			sent, s.whole, s.window[id] = sent+len(data), s.whole-len(data), s.window[id]-len(data)
			s.mu.Unlock()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.check(t, s.frame.WritePing(false, [8]byte{}))
	for !s.pong && s.err == nil {
		s.change.Wait()
	}
	s.check(t, s.err)
}

func (s *stall) check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		s.mu.Unlock()
		t.Fatal(err)
	}
}

// A thousand streams that stop in the middle of a message hold little memory, if their senders
// have no valid credentials, and also if they have.
func TestMemory_stalledStreams(t *testing.T) {
	const streams, perConn, most = 1000, 200, 64 << 20
	for name, tc := range map[string]struct {
		method, credential string
		first, size        int
	}{
		"wrong credentials":  {"/lf.a2a.v1.A2AService/SendMessage", "Bearer nobody", 512 << 10, 16<<20 - 1},
		"wrong, of a stream": {"/lf.a2a.v1.A2AService/SubscribeToTask", "Bearer nobody", 512 << 10, 16<<20 - 1},
		"health":             {"/grpc.health.v1.Health/Check", "", 512 << 10, 16<<20 - 1},
		"health, small":      {"/grpc.health.v1.Health/Watch", "", 4000, 4001},
		"reflection":         {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", "", 512 << 10, 16<<20 - 1},
		"right credentials":  {"/lf.a2a.v1.A2AService/SendMessage", "Bearer acme/bo", 60 << 10, 16<<20 - 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, func(c *config) { c.MaxMessage, c.Authenticate = 0, callerOf })
			l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
			go func() { _ = s.grpc.Serve(l) }()
			before := memory()
			for range streams / perConn {
				newStall(t, l.Addr().String()).open(t, tc.method, tc.credential, perConn, tc.first, tc.size)
			}
			if grown := memory() - before; grown > most {
				t.Errorf("%d stalled streams hold %d MiB, want less than %d", streams, grown>>20, most>>20)
			} else {
				t.Logf("%d stalled streams hold %d KiB", streams, grown>>10)
			}
			runtime.KeepAlive(s)
		})
	}
}

// memory returns the bytes that the process holds.
func memory() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapInuse + m.StackInuse)
}

// A compressed message is read, unless it is larger than a message may be.
func TestCompressed(t *testing.T) {
	s := newService(t)
	get := func(id string) error {
		_, err := s.GetTask(with(t), &a2apb.GetTaskRequest{Id: id}, grpc.UseCompressor(gzip.Name))
		return err
	}
	wantFault(t, "small", get("nobody's"), codes.NotFound, "TASK_NOT_FOUND")
	wantFault(t, "large", get(strings.Repeat("x", 70<<10)), codes.ResourceExhausted, "")
}

// A message of a caller who is not authenticated is not decompressed.
func TestCompressed_unauthenticated(t *testing.T) {
	c := &tallied{Compressor: encoding.GetCompressor(gzip.Name)}
	encoding.RegisterCompressor(c)
	s := newService(t)
	for credential, want := range map[string]codes.Code{"Bearer nobody": codes.Unauthenticated, "Bearer acme/bo": codes.NotFound} {
		c.times.Store(0)
		_, err := s.GetTask(with(t, "authorization", credential), &a2apb.GetTaskRequest{Id: "x"}, grpc.UseCompressor(c.Name()))
		if got := c.times.Load(); status.Code(err) != want || got > 0 != (want == codes.NotFound) {
			t.Errorf("%s: %v, decompressed %d times", credential, err, got)
		}
	}
}

// A tallied compressor says how often a message was decompressed.
type tallied struct {
	encoding.Compressor
	times atomic.Int64
}

func (c *tallied) Name() string { return "tallied" }

func (c *tallied) Decompress(r io.Reader) (io.Reader, error) {
	c.times.Add(1)
	return c.Compressor.Decompress(r)
}

// One address may have so many connections that others can still connect.
func TestConnections(t *testing.T) {
	s := newService(t)
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = s.grpc.Serve(l) }()
	var open []net.Conn
	for i := range 300 {
		conn := test.Value(net.Dial("tcp", l.Addr().String()))(t)
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			if i < 256 {
				t.Errorf("connection %d: %v", i, err)
			}
			break
		}
		open = append(open, conn)
	}
	test.Is(t, "one address connections", 256, len(open))
}
