package namespace

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

// Our own settings precede the variables of Temporal's tools, those precede the
// profile, and that precedes our defaults.
func TestTemporalSettings_elsewhere(t *testing.T) {
	file := test.File(t, "temporal.toml", `
[profile.default]
address = "default.example.com:7233"

[profile.prod]
address = "prod.example.com:7233"
namespace = "work"
api_key = "key-of-profile"

[profile.plain]
namespace = "work"
`)
	const prod, plain = "profile prod in FILE", "profile plain in FILE"
	for _, tt := range []struct {
		name string
		own  Temporal
		more Elsewhere
		env  map[string]string
		want []string
	}{
		{name: "nothing is set", env: map[string]string{"TEMPORAL_CONFIG_FILE": os.DevNull},
			want: []string{"127.0.0.1:7233 (default)", "default (default)", "off (default)", "none (default)"}},
		{name: "the default profile",
			want: []string{"default.example.com:7233 (profile default in FILE)", "default (default)", "off (default)", "none (default)"}},
		{name: "a profile", more: Elsewhere{TemporalProfile: "prod"},
			want: []string{"prod.example.com:7233 (" + prod + ")", "work (" + prod + ")", "on (because of the API key)", "set (" + prod + ")"}},
		{name: "the profile of the environment", env: map[string]string{"TEMPORAL_PROFILE": "plain"},
			want: []string{"127.0.0.1:7233 (default)", "work (" + plain + ")", "off (default)", "none (default)"}},
		{name: "our profile before that of the environment", more: Elsewhere{TemporalProfile: "plain"}, env: map[string]string{"TEMPORAL_PROFILE": "prod"},
			want: []string{"127.0.0.1:7233 (default)", "work (" + plain + ")", "off (default)", "none (default)"}},
		{name: "variables before the profile", more: Elsewhere{TemporalProfile: "prod"},
			env:  map[string]string{"TEMPORAL_ADDRESS": "env.example.com:7233", "TEMPORAL_NAMESPACE": "env", "TEMPORAL_API_KEY": "key-of-env", "TEMPORAL_TLS_SERVER_NAME": "other"},
			want: []string{"env.example.com:7233 (TEMPORAL_ADDRESS)", "env (TEMPORAL_NAMESPACE)", "on, server name other (TEMPORAL_TLS_SERVER_NAME)", "set (TEMPORAL_API_KEY)"}},
		{name: "our settings before variables", own: Temporal{TemporalAddr: "own.example.com:7233", Namespace: "own"}, more: Elsewhere{TemporalProfile: "prod"},
			env:  map[string]string{"TEMPORAL_ADDRESS": "env.example.com:7233", "TEMPORAL_NAMESPACE": "env", "TEMPORAL_TLS": "false"},
			want: []string{"own.example.com:7233 (temporal-addr)", "own (namespace)", "off (TEMPORAL_TLS)", "set (" + prod + ")"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("TEMPORAL_CONFIG_FILE", file)
			for name, value := range tt.env {
				t.Setenv(name, value)
			}
			got := test.Value(tt.own.Target(tt.more))(t)
			var lines []string
			for i, name := range []string{"address", "namespace", "tls", "api key"} {
				lines = append(lines, fmt.Sprintf("%-10s ", name)+strings.ReplaceAll(tt.want[i], "FILE", file))
			}
			test.Equal(t, "the target", lines, got.Describe())
		})
	}
}

// A wrong setting is found before anything is served.
func TestTemporalSettings_mistakes(t *testing.T) {
	file := test.File(t, "temporal.toml", "[profile.bad.tls]\nclient_cert_path = \"/nowhere/client.pem\"\nclient_key_path = \"/nowhere/client.key\"\n"+
		"[profile.short]\naddress = \"temporal.example.com\"\n")
	broken := test.File(t, "broken.toml", "[profile")
	for _, tt := range []struct {
		profile, file string
		want          []string
	}{
		{"missing", file, []string{"read profile missing of Temporal in " + file, "unable to find profile missing"}},
		{"bad", file, []string{"profile bad in " + file, "/nowhere/client.pem"}},
		{"", broken, []string{"profile default of Temporal in " + broken}},
		{"prod", file + ".none", []string{"there is no file " + file + ".none", "TEMPORAL_CONFIG_FILE"}},
		{"short", file, []string{"the address of Temporal, temporal.example.com (from profile short in " + file + "), has no port: use temporal.example.com:7233"}},
	} {
		t.Setenv("TEMPORAL_CONFIG_FILE", tt.file)
		_, err := Temporal{}.Target(Elsewhere{TemporalProfile: tt.profile})
		for _, want := range tt.want {
			test.Fails(t, fmt.Sprintf("profile %q", tt.profile), want, err)
		}
	}
}

// An API key in a profile can be replaced while the program runs. A file that is
// being written keeps the last key.
func TestFileKey(t *testing.T) {
	file := test.File(t, "temporal.toml", "[profile.prod]\napi_key = \"first\"\n")
	k := &fileKey{file: file, profile: "prod", key: "first"}
	for i, step := range []struct{ content, want string }{
		{"[profile.prod]\napi_key = \"first\"\n", "first"},
		{"[profile.prod]\napi_key = \"second\"\n", "second"},
		{"[profile.prod]\napi_", "second"},
		{"", "second"},
		{"[profile.prod]\napi_key = \"third\"\n", "third"},
	} {
		test.OK(t, os.WriteFile(file, []byte(step.content), 0o600))
		at := time.Unix(int64(1000+i), 0)
		test.OK(t, os.Chtimes(file, at, at))
		if got, err := k.get(t.Context()); got != step.want || err != nil {
			t.Errorf("after %q: key %q, error %v; want %q", step.content, got, err, step.want)
		}
	}
	test.OK(t, os.Remove(file))
	test.Is(t, "without the file: key", "third", test.Value(k.get(t.Context()))(t))
}

// Each connection uses the certificate that the files have then. Files that do
// not match keep the last one.
func TestFilePair(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	store := func(c, k []byte) {
		t.Helper()
		for path, content := range map[string][]byte{cert: c, key: k} {
			test.OK(t, os.WriteFile(path, content, 0o600))
		}
	}
	firstCert, firstKey := certificate(t)
	secondCert, secondKey := certificate(t)
	p := &filePair{cert: cert, key: key}
	for i, step := range []struct{ cert, key, want []byte }{
		{firstCert, firstKey, firstCert}, {secondCert, firstKey, firstCert}, {secondCert, secondKey, secondCert},
	} {
		store(step.cert, step.key)
		got := test.Value(p.get(nil))(t)
		if want, _ := pem.Decode(step.want); !bytes.Equal(got.Certificate[0], want.Bytes) {
			t.Errorf("step %d: another certificate", i)
		}
	}
}

// The commands in messages work for the Temporal that they are about.
func TestTarget_commands(t *testing.T) {
	own := Target{addr: setting{"t.example.com:7233", "temporal-addr"}, namespace: setting{"work", "namespace"}}
	profile := Target{addr: setting{"t.example.com:7233", "profile prod in x"}, namespace: setting{"work", "namespace"}, profile: "prod"}
	both := Target{addr: setting{"t.example.com:7233", "TEMPORAL_ADDRESS"}, namespace: setting{"work", "namespace"}, profile: "prod"}
	cloud := Target{addr: setting{"work.a1b2c.tmprl.cloud:7233", "temporal-addr"}, namespace: setting{"work.a1b2c", "namespace"}}
	names := []string{"LonghaulState", "LonghaulTenant"}
	for _, tt := range []struct{ got, want string }{
		{own.createCommand(Week), "temporal operator namespace create --namespace work --retention 168h --address t.example.com:7233"},
		{profile.createCommand(Week), "temporal operator namespace create --namespace work --retention 168h --profile prod"},
		{both.retentionCommand(90 * time.Minute), "temporal operator namespace update --namespace work --retention 2h --profile prod --address t.example.com:7233"},
		{own.attributesCommand(names), "temporal operator search-attribute create --namespace work --name LonghaulState --type Keyword --name LonghaulTenant --type Keyword --address t.example.com:7233"},
		{cloud.createCommand(Week), "tcld namespace create --namespace work.a1b2c --region REGION --retention-days 7"},
		{cloud.retentionCommand(25 * time.Hour), "tcld namespace retention set --namespace work.a1b2c --retention-days 2"},
		{cloud.attributesCommand(names), "tcld namespace search-attributes add --namespace work.a1b2c --search-attribute LonghaulState=Keyword --search-attribute LonghaulTenant=Keyword"},
	} {
		if tt.got != tt.want {
			t.Errorf("command\n%s, want\n%s", tt.got, tt.want)
		}
	}
}

// certificate makes a certificate and its key, as PEM.
func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private := test.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	serial := test.Value(rand.Int(rand.Reader, big.NewInt(1<<62)))(t)
	der := test.Value(x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: serial}, &x509.Certificate{SerialNumber: serial}, &private.PublicKey, private))(t)
	encoded := test.Value(x509.MarshalPKCS8PrivateKey(private))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}
