package serve

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"go.uber.org/zap"

	"longhaul/internal/test"
)

func TestAPISettings_publicGRPC(t *testing.T) {
	listening := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7421}
	for _, tt := range []struct{ grpc, public, want string }{
		{"", "", "127.0.0.1:7421"},
		{"", "https://agent.example.com/base", "agent.example.com:7421"},
		{"", "https://agent.example.com:8443", "agent.example.com:7421"},
		{"grpc.example.com:443", "https://agent.example.com", "grpc.example.com:443"},
	} {
		test.Is(t, fmt.Sprintf("what the card names with %+v", tt), tt.want, (apiSettings{PublicGRPCAddr: tt.grpc, linkSettings: linkSettings{PublicURL: tt.public}}).publicGRPC(listening))
	}
}

func TestAPISettings_listenGRPC(t *testing.T) {
	if l, addr, err := (apiSettings{}).listenGRPC(); l != nil || addr != "" || err != nil {
		t.Errorf("off: %v, %q, error %v", l, addr, err)
	}
	l, addr, err := apiSettings{GRPCAddr: "127.0.0.1:0"}.listenGRPC()
	test.OK(t, err)
	defer l.Close()
	if addr != l.Addr().String() {
		t.Errorf("the card names %s, and %s is listened at", addr, l.Addr())
	}
}

// A start refuses one address for two parts, before anything is started.
func TestRun_sameAddress(t *testing.T) {
	embed := func(context.Context, EmbedConfig) (*Embedded, error) { panic("it was started") }
	said := refused(t, 2, Build{Embed: embed}, "dev", "--addr", "127.0.0.1:7521", "--grpc-addr", "127.0.0.1:7521", "--ops-addr", "127.0.0.1:0", "--temporal-addr", "127.0.0.1:0")
	test.Contains(t, "the text", "--addr and --grpc-addr are both 127.0.0.1:7521: choose another address for one of them\n", said)
}

// A start names all addresses that another process has, with the flags that change them, before
// anything is started; those that are free are not named.
func TestRun_takenAddresses(t *testing.T) {
	var taken [4]string
	for i := range taken {
		l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close()
		taken[i] = l.Addr().String()
	}
	embed := func(context.Context, EmbedConfig) (*Embedded, error) { panic("it was started") }
	said := refused(t, 1, Build{Embed: embed}, "dev", "--addr", taken[0], "--grpc-addr", taken[1], "--temporal-addr", taken[2], "--temporal-ui-addr", "127.0.0.1:0", "--ops-addr", taken[3])
	want := fmt.Sprintf("in use, maybe by another server of Longhaul: %s (--ops-addr), %s (--temporal-addr), %s (--addr), %s (--grpc-addr). Stop that one, or choose other addresses with these flags\n", taken[3], taken[2], taken[0], taken[1])
	if !strings.HasSuffix(said, want) {
		t.Errorf("it said\n%s\nwant\n%s", said, want)
	}
}

// The wait for an address ends with the process.
func TestHost_awaitFree_ends(t *testing.T) {
	l := test.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	h := newHost(zap.NewNop(), Build{})
	h.listensAt("--addr", l.Addr().String())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	test.Error(t, "the call", context.Canceled, h.awaitFree(ctx))
}
