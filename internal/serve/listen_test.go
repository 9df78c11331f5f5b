package serve

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
)

func TestAPISettings_publicGRPC(t *testing.T) {
	listening := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7421}
	for _, tt := range []struct{ grpc, public, want string }{
		{"", "", "127.0.0.1:7421"},
		{"", "https://agent.example.com/base", "agent.example.com:7421"},
		{"", "https://agent.example.com:8443", "agent.example.com:7421"},
		{"grpc.example.com:443", "https://agent.example.com", "grpc.example.com:443"},
	} {
		if got := (apiSettings{PublicGRPCAddr: tt.grpc, linkSettings: linkSettings{PublicURL: tt.public}}).publicGRPC(listening); got != tt.want {
			t.Errorf("%+v: the card names %s", tt, got)
		}
	}
}

// Both addresses must be on loopback, since callers are not authenticated.
func TestRun_reach(t *testing.T) {
	for _, tt := range []struct{ addr, grpc, want string }{
		{"0.0.0.0:0", "127.0.0.1:0", `--addr "0.0.0.0:0" can be reached from other machines`},
		{"127.0.0.1:0", "0.0.0.0:0", `--grpc-addr "0.0.0.0:0" can be reached from other machines`},
		{"127.0.0.1:0", "here", `--grpc-addr "here" is not an address`},
	} {
		var stderr strings.Builder
		args := []string{"api", "--addr", tt.addr, "--grpc-addr", tt.grpc, "--data-dir", t.TempDir(), "--temporal-addr", "127.0.0.1:1"}
		if code := runCommand(t.Context(), args, io.Discard, &stderr, Build{}); code != 2 || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s, %s: exit code %d, standard error:\n%s", tt.addr, tt.grpc, code, stderr.String())
		}
	}
}

func TestAPISettings_listenGRPC(t *testing.T) {
	if l, addr, err := (apiSettings{}).listenGRPC(t.Context()); l != nil || addr != "" || err != nil {
		t.Errorf("off: %v, %q, error %v", l, addr, err)
	}
	l, addr, err := apiSettings{GRPCAddr: "127.0.0.1:0"}.listenGRPC(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if addr != l.Addr().String() {
		t.Errorf("the card names %s, and %s is listened at", addr, l.Addr())
	}
	if _, _, err := (apiSettings{GRPCAddr: addr}).listenGRPC(t.Context()); err == nil || !strings.Contains(err.Error(), "choose another address with --grpc-addr") {
		t.Errorf("a taken address: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := (apiSettings{GRPCAddr: addr}).listenGRPC(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a taken address, at the end of the process: error %v", err)
	}
}
