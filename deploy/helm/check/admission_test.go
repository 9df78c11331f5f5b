//go:build linux

package check_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// With a kube-apiserver every object that a test renders is applied to it. There are no
// controllers and nodes: that proves admission, and runs no pod.
var apiserver = flag.String("apiserver", "", "path of a kube-apiserver, which has to admit what is rendered; needs etcd")

// crds are the definitions of objects of other projects, in their modules.
var crds = []struct{ module, file, served string }{
	{"sigs.k8s.io/gateway-api@v1.6.2", "config/crd/standard/gateway.networking.k8s.io_httproutes.yaml", "gateway.networking.k8s.io/v1/httproutes"},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml", "monitoring.coreos.com/v1/servicemonitors"},
	{"github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml", "monitoring.coreos.com/v1/prometheusrules"},
	{"github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases/keda.sh_scaledobjects.yaml", "keda.sh/v1alpha1/scaledobjects"},
	{"github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases/keda.sh_triggerauthentications.yaml", "keda.sh/v1alpha1/triggerauthentications"},
}

// A cluster is an API server on loopback.
type cluster struct {
	url        string
	namespaces atomic.Int32
}

// admitting is the cluster of -apiserver, nil without it.
var admitting *cluster

func TestMain(m *testing.M) {
	flag.Parse()
	code := 1
	if stop, err := startCluster(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		stop()
	} else {
		code = m.Run()
		stop()
	}
	os.Exit(code)
}

// startCluster starts etcd and the API server, and defines the objects of other projects.
// stop, which is never nil, ends both.
func startCluster() (stop func(), err error) {
	if *apiserver == "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "admission")
	var running []*exec.Cmd
	stop = func() {
		for _, cmd := range running {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		return stop, err
	}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return stop, err
	}
	sa, tokens := filepath.Join(dir, "sa.key"), filepath.Join(dir, "tokens")
	err = errors.Join(
		os.WriteFile(sa, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}), 0o600),
		os.WriteFile(tokens, []byte("admin,admin,admin,system:masters\n"), 0o600))
	store, peer, addr := "http://"+freeAddr(), "http://"+freeAddr(), freeAddr()
	_, port, _ := net.SplitHostPort(addr)
	for _, args := range [][]string{
		{"etcd", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", store, "--advertise-client-urls", store,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default=" + peer},
		{*apiserver, "--etcd-servers", store, "--bind-address", "127.0.0.1", "--secure-port", port, "--cert-dir", dir, "--token-auth-file", tokens,
			"--authorization-mode", "RBAC", "--service-cluster-ip-range", "10.0.0.0/24", "--service-account-issuer", "https://kubernetes.default.svc",
			"--service-account-key-file", sa, "--service-account-signing-key-file", sa},
	} {
		log, logErr := os.Create(filepath.Join(dir, filepath.Base(args[0])+".log"))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Stdout, cmd.Stderr = log, log
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // if the test is killed
		if err = errors.Join(err, logErr, cmd.Start()); err != nil {
			return stop, err
		}
		running = append(running, cmd)
	}
	admitting = &cluster{url: "https://" + addr}
	admit = admitting.admit
	if err := admitting.await("/readyz"); err != nil {
		log, _ := os.ReadFile(filepath.Join(dir, filepath.Base(*apiserver)+".log"))
		return stop, fmt.Errorf("%w\n%s", err, log)
	}
	return stop, admitting.define()
}

// define applies crds.
func (c *cluster) define() error {
	for _, crd := range crds {
		out, err := exec.Command("go", "mod", "download", "-json", crd.module).Output()
		var module struct{ Dir string }
		if err := errors.Join(err, json.Unmarshal(out, &module)); err != nil {
			return fmt.Errorf("%s: %w", crd.module, err)
		}
		text, err := os.ReadFile(filepath.Join(module.Dir, crd.file))
		if err != nil {
			return err
		}
		if err := errors.Join(c.apply("", string(text)), c.await("/apis/"+crd.served)); err != nil {
			return fmt.Errorf("%s: %w", crd.file, err)
		}
	}
	return nil
}

// apply applies an object on the side of the server. A warning is an error.
func (c *cluster) apply(namespace, text string) error {
	var head struct {
		APIVersion, Kind string
		Metadata         struct{ Name string }
	}
	if err := yaml.Unmarshal([]byte(text), &head); err != nil {
		return err
	}
	resource, _ := meta.UnsafeGuessKindToResource(schema.FromAPIVersionAndKind(head.APIVersion, head.Kind))
	path := "/apis/" + head.APIVersion
	if head.APIVersion == "v1" {
		path = "/api/v1"
	}
	if namespace != "" {
		path += "/namespaces/" + namespace
	}
	path += "/" + resource.Resource + "/" + head.Metadata.Name
	return c.call(http.MethodPatch, path+"?fieldManager=chart&fieldValidation=Strict", text)
}

func (c *cluster) call(method, path, body string) error {
	r, err := http.NewRequest(method, c.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer admin")
	r.Header.Set("Content-Type", "application/apply-patch+yaml")
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if warnings := answer.Header.Values("Warning"); err == nil && (answer.StatusCode >= 300 || len(warnings) > 0) {
		err = fmt.Errorf("%s %s: %s %q %s", method, path, answer.Status, warnings, bytes.TrimSpace(text))
	}
	return err
}

// await waits until a path is served.
func (c *cluster) await(path string) (err error) {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err = c.call(http.MethodGet, path, ""); err == nil {
			return nil
		}
	}
	return err
}

// newNamespace makes a namespace in which the server warns of pods with rights.
func (c *cluster) newNamespace(t *testing.T) string {
	t.Helper()
	name := fmt.Sprint("agents-", c.namespaces.Add(1))
	if err := c.apply("", "{apiVersion: v1, kind: Namespace, metadata: {name: "+name+", labels: {pod-security.kubernetes.io/warn: restricted}}}"); err != nil {
		t.Fatal(err)
	}
	return name
}

// admit applies objects in a namespace of their own.
func (c *cluster) admit(t *testing.T, texts []string) {
	t.Helper()
	namespace := c.newNamespace(t)
	for _, text := range texts {
		if err := c.apply(namespace, text); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d objects were applied", len(texts))
}

// The server refuses mistakes, and warns of a pod with rights.
func TestAdmission_refuses(t *testing.T) {
	if admitting == nil {
		t.Skip("for make chart-install")
	}
	namespace := admitting.newNamespace(t)
	const pod = `selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}`
	for spec, want := range map[string]string{
		"replicas: -1, " + pod: "must be greater than or equal to 0",
		"copies: 1, " + pod:    "field not declared in schema",
		pod:                    "would violate PodSecurity",
	} {
		err := admitting.apply(namespace, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: wrong}, spec: {"+spec+"}}")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", spec, err, want)
		}
	}
}

func freeAddr() string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer l.Close()
	return l.Addr().String()
}
