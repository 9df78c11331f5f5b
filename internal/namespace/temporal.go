package namespace

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"longhaul/internal/process"
	"longhaul/workflows"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
)

// Temporal say where Temporal is. "" is the default; for api and worker the
// variables and profiles of Temporal's own tools precede the default.
type Temporal struct {
	TemporalAddr string `help:"Address of Temporal; the default is 127.0.0.1:7233. In dev and temporal, the address of the embedded Temporal; else TEMPORAL_ADDRESS and the address of the profile precede the default." env:"LONGHAUL_TEMPORAL_ADDR" placeholder:"HOST:PORT" common:""`
	Namespace    string `help:"Temporal namespace; the default is \"default\". Except in dev and temporal, TEMPORAL_NAMESPACE and the namespace of the profile precede the default." env:"LONGHAUL_NAMESPACE"`
}

// Elsewhere say how to reach a Temporal that runs elsewhere.
type Elsewhere struct {
	TemporalProfile string `help:"Profile of Temporal's configuration file with the address, namespace, TLS and credentials; the default is TEMPORAL_PROFILE, else \"default\". TEMPORAL_CONFIG_FILE names the file." env:"LONGHAUL_TEMPORAL_PROFILE" placeholder:"NAME"`
}

// Wait say what a worker does about a Temporal that is not ready for it.
type Wait struct {
	TemporalWait    time.Duration `help:"How long a worker waits for Temporal when it starts." default:"1m" env:"LONGHAUL_TEMPORAL_WAIT"`
	CreateNamespace bool          `help:"Create the Temporal namespace and its search attributes if they do not exist." env:"LONGHAUL_CREATE_NAMESPACE"`
}

const (
	defaultTemporalAddr = "127.0.0.1:7233"
	defaultNamespace    = "default"
)

func (s Temporal) ServerAddr() string    { return cmp.Or(s.TemporalAddr, defaultTemporalAddr) }
func (s Temporal) NamespaceName() string { return cmp.Or(s.Namespace, defaultNamespace) }

// A setting is a value and what set it.
type setting struct{ value, from string }

// A Target is the Temporal to connect to.
type Target struct {
	addr, namespace setting
	apiKey          setting // without the key itself
	tls             setting // "off", "on" or "mutual"
	profile         string  // "" if no profile counts
	connection      client.Options
}

// Embedded returns the target for a Temporal in this process.
func (s Temporal) Embedded(addr string) Target {
	return Target{addr: setting{addr, "embedded"}, namespace: setting{s.NamespaceName(), "embedded"}}
}

// Target returns the target for api and worker. Our own settings precede the
// variables TEMPORAL_*, and those precede the profile.
func (s Temporal) Target(e Elsewhere) (Target, error) {
	name := cmp.Or(e.TemporalProfile, os.Getenv("TEMPORAL_PROFILE"), envconfig.DefaultConfigFileProfile)
	file := cmp.Or(os.Getenv("TEMPORAL_CONFIG_FILE"), envconfig.DefaultConfigFilePath())
	load := envconfig.LoadClientConfigProfileOptions{ConfigFileProfile: e.TemporalProfile}
	merged, err := envconfig.LoadClientConfigProfile(load)
	load.DisableEnv = true
	stored, alone := envconfig.LoadClientConfigProfile(load)
	if _, none := os.Stat(file); errors.Is(none, fs.ErrNotExist) && err != nil {
		return Target{}, fmt.Errorf("read profile %s of Temporal: there is no file %s: make it, or name another with TEMPORAL_CONFIG_FILE", name, file)
	}
	if err = cmp.Or(err, alone); err != nil {
		return Target{}, fmt.Errorf("read profile %s of Temporal in %s: %w", name, file, err)
	}
	inFile := fmt.Sprintf("profile %s in %s", name, file)
	t := Target{
		addr:      firstSet(setting{s.TemporalAddr, "temporal-addr"}, setting{merged.Address, origin(inFile, "TEMPORAL_ADDRESS")}, setting{defaultTemporalAddr, "default"}),
		namespace: firstSet(setting{s.Namespace, "namespace"}, setting{merged.Namespace, origin(inFile, "TEMPORAL_NAMESPACE")}, setting{defaultNamespace, "default"}),
		apiKey:    setting{"none", "default"},
		tls:       setting{"off", "default"},
	}
	if !strings.Contains(t.addr.value, ":") { // gRPC would take port 443
		return Target{}, fmt.Errorf("the address of Temporal, %s (from %s), has no port: use %s:7233", t.addr.value, t.addr.from, t.addr.value)
	}
	if !reflect.ValueOf(stored).IsZero() {
		t.profile = name
	}
	if t.connection, err = merged.ToClientOptions(envconfig.ToClientOptionsRequest{}); err != nil {
		return Target{}, fmt.Errorf("read the settings of the connection to Temporal (%s): %w", origin(inFile, "TEMPORAL_TLS"), err)
	}
	if merged.APIKey != "" {
		t.apiKey = setting{"set", origin(inFile, "TEMPORAL_API_KEY")}
	}
	if merged.APIKey != "" && merged.APIKey == stored.APIKey {
		t.connection.Credentials = client.NewAPIKeyDynamicCredentials((&fileKey{file: file, profile: name, key: merged.APIKey}).get)
	}
	if t.connection.ConnectionOptions.TLSDisabled {
		t.tls.from = origin(inFile, "TEMPORAL_TLS")
	} else if config := t.connection.ConnectionOptions.TLS; config != nil {
		t.tls = setting{encryption(config), origin(inFile, "TEMPORAL_TLS")}
		if merged.TLS == nil {
			t.tls.from = "because of the API key"
		}
		if merged.TLS != nil && merged.TLS.ClientCertPath != "" {
			config.GetClientCertificate = (&filePair{cert: merged.TLS.ClientCertPath, key: merged.TLS.ClientKeyPath, last: config.Certificates[0]}).get
			config.Certificates = nil
		}
	}
	return t, nil
}

// encryption describes a TLS configuration.
func encryption(c *tls.Config) string {
	kind := "on"
	if len(c.Certificates) > 0 {
		kind = "mutual"
	}
	if c.ServerName != "" {
		kind += ", server name " + c.ServerName
	}
	if c.InsecureSkipVerify {
		kind += ", without verification of the server"
	}
	return kind
}

// firstSet returns the first setting that has a value.
func firstSet(settings ...setting) setting {
	i := slices.IndexFunc(settings, func(s setting) bool { return s.value != "" })
	return settings[i]
}

// origin names what sets a part of a connection: the variables of the environment
// with a name that is prefix or begins with it and "_", or else inFile.
func origin(inFile, prefix string) string {
	var names []string
	for _, e := range os.Environ() {
		if name, _, _ := strings.Cut(e, "="); name == prefix || strings.HasPrefix(name, prefix+"_") {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return inFile
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// Name returns the name of the namespace.
func (t Target) Name() string { return t.namespace.value }

// Dial returns a client for the target. cfg has the rest.
func (t Target) Dial(cfg workflows.DialConfig) (client.Client, error) {
	cfg.Addr, cfg.Namespace, cfg.Connection, cfg.Local = t.addr.value, t.namespace.value, t.connection, process.IsLocal(t.addr.value)
	return workflows.Dial(cfg)
}

// String names the target in messages.
func (t Target) String() string {
	s := fmt.Sprintf("Temporal at %s (from %s), namespace %s (from %s)", t.addr.value, t.addr.from, t.namespace.value, t.namespace.from)
	if t.profile != "" {
		s += ", profile " + t.profile
	}
	return s
}

// Describe returns the target as lines for the command config, without secrets.
func (t Target) Describe() []string {
	lines := []string{}
	for _, part := range []struct {
		name string
		setting
	}{{"address", t.addr}, {"namespace", t.namespace}, {"tls", t.tls}, {"api key", t.apiKey}} {
		lines = append(lines, fmt.Sprintf("%-10s %s (%s)", part.name, part.value, part.from))
	}
	return lines
}

// A fileKey is an API key in a profile. It is read again when the file has
// changed, so that a key can be replaced while the program runs.
type fileKey struct {
	file, profile string

	mu   sync.Mutex
	seen time.Time // when the file changed before key was read
	key  string
}

// get returns the key. If the file cannot be read, or has no key, get returns the
// last key.
func (k *fileKey) get(context.Context) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	info, err := os.Stat(k.file)
	if err != nil || info.ModTime().Equal(k.seen) {
		return k.key, nil
	}
	stored, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFilePath: k.file, ConfigFileProfile: k.profile, DisableEnv: true,
	})
	if err == nil && stored.APIKey != "" {
		k.key, k.seen = stored.APIKey, info.ModTime()
	}
	return k.key, nil
}

// A filePair is a certificate and its key in files. They are read for each new
// connection, so that they can be replaced while the program runs.
type filePair struct {
	cert, key string

	mu   sync.Mutex
	last tls.Certificate
}

// get returns the certificate, or the last one if the files do not match, as while
// they are being replaced.
func (p *filePair) get(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pair, err := tls.LoadX509KeyPair(p.cert, p.key); err == nil {
		p.last = pair
	}
	last := p.last
	return &last, nil
}
