package agent_test

import (
	"strings"
	"testing"
)

func TestLoad(t *testing.T) {
	for _, tt := range []struct{ file, want string }{
		{"agents:\n  a: {url: 'https://a.example.com', version: '1.0', hosts: [b.example.com], max-wait: 72h, poll: 5m, patience: 1m, artifacts: 3, bytes: 10}\nhops: 2\n", ""},
		{"", "the file needs agents"},
		{"agents: {}", "the file needs agents"},
		{"agent: {}", `agents.yaml:1: member "agent" is unknown (did you mean agents?); the members are hops, agents`},
		{"agents: {a: }", "agent a: needs a url"},
		{"agents: {A: {url: 'https://a.example.com'}}", "agent A: the name must be 1 to 63 of a-z, 0-9 and -"},
		{"agents: {a: {url: 'ftp://a.example.com'}}", "agent a: url must be the URL of an agent, such as https://agent.example.com"},
		{"agents: {a: {url: 'https://a.example.com', version: '2.0'}}", `agent a: version must be "1.0" or "0.3", not "2.0"`},
		{"agents: {a: {url: 'https://a.example.com', poll: 1ms}}", "agent a: poll must be at least 1s"},
		{"agents: {a: {url: 'https://a.example.com', bytes: -1}}", "agent a: has a limit below 0"},
		{"agents: {a: {url: 'https://a.example.com', headers: {X: '${NOT_SET}'}}}", "agent a: headers: the environment variable NOT_SET is not set"},
		{"agents: {a: {url: 'https://a.example.com', headers: {A2A-Version: '0.1'}}}", `agent a: headers: "A2A-Version" cannot be chosen`},
		{"agents: {a: {url: 'https://a.example.com', headers: {X: \"a\\nb\"}}}", `agent a: headers: "X" and its value cannot be a header`},
		{"agents: {a: {url: 'https://a.example.com', card-keys: 'https://a.example.com/.well-known/jwks.json'}}", ""},
		{"agents: {a: {url: 'https://a.example.com', card-keys: 'ftp://a.example.com'}}", "agent a: card-keys: must be a file, or a URL such as"},
		{"agents: {a: {url: 'https://a.example.com', card-keys: no-such-file}}", "agent a: card-keys: open no-such-file"},
		{"agents: {a: {url: 'https://a.example.com', card-keys: load_test.go}}", "agent a: card-keys: these are no public keys"},
		{"hops: 1000\nagents: {a: {url: 'https://a.example.com'}}", "hops must be 1 to 100"},
	} {
		_, err := load(t, tt.file)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got the error %v, want %q", tt.file, err, tt.want)
		}
	}
}
