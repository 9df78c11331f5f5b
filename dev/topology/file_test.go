package topology_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
	"go.yaml.in/yaml/v3"

	"longhaul/dev/topology"
	"longhaul/internal/test"
)

// secrets runs the script that makes .env, into a file of the test.
func secrets(t *testing.T, checkout string) map[string]string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "env")
	script := exec.Command(filepath.Join(checkout, "deploy/compose/secrets.sh"), file)
	if out, err := script.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	made := test.Value(dotenv.Read(file))(t)
	test.Is(t, "the mode of "+file, 0o600, test.Value(os.Stat(file))(t).Mode().Perm())
	if out, err := exec.Command(filepath.Join(checkout, "deploy/compose/secrets.sh"), file).CombinedOutput(); err == nil {
		t.Errorf("the script overwrites secrets: %s", out)
	}
	return made
}

func load(t *testing.T) (project *types.Project, checkout string, variables map[string]string) {
	t.Helper()
	checkout, err := topology.Checkout()
	test.OK(t, err)
	variables = secrets(t, checkout)
	project, err = topology.Load(t.Context(), checkout, variables)
	test.OK(t, err)
	return project, checkout, variables
}

// Without one of the secrets nothing starts, and the message says how to make them.
func TestFile_secrets(t *testing.T) {
	_, checkout, variables := load(t)
	for name := range variables {
		some := map[string]string{}
		for other, value := range variables {
			if other != name {
				some[other] = value
			}
		}
		test.Fails(t, "without "+name, "deploy/compose/secrets.sh", test.Err(topology.Load(context.Background(), checkout, some)))
	}
}

// The file has no values of secrets: only references to the variables of .env.
func TestFile_noSecretLiterals(t *testing.T) {
	project, checkout, variables := load(t)
	for name, value := range variables {
		if len(value) < 32 {
			t.Errorf("%s has %d characters", name, len(value))
		}
	}
	secret := regexp.MustCompile(`PASSWORD|_PWD|SECRET|TOKEN|KEY`)
	for _, s := range project.Services {
		for name, value := range s.Environment {
			if value != nil && *value != "" && secret.MatchString(name) && !contains(variables, *value) {
				t.Errorf("%s has %s, and it is not from .env", s.Name, name)
			}
		}
	}
	text := test.Value(os.ReadFile(filepath.Join(checkout, topology.FileName)))(t)
	if url := regexp.MustCompile(`://[^:/\s]+:[^$\s][^@\s]*@`).Find(text); url != nil {
		t.Errorf("a URL has a password: %s", url)
	}
}

func contains(m map[string]string, value string) bool {
	for _, v := range m {
		if v == value {
			return true
		}
	}
	return false
}

// Temporal runs in the versions that the tests run against.
func TestFile_versions(t *testing.T) {
	project, checkout, _ := load(t)
	mod := test.Value(os.ReadFile(filepath.Join(checkout, "dev/go.mod")))(t)
	for service, module := range map[string]string{
		"temporal": "go.temporal.io/server", "temporal-schema": "go.temporal.io/server", "temporal-ui": "github.com/temporalio/ui-server/v2",
	} {
		found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + ` v(\S+)`).FindSubmatch(mod)
		_, tag, _ := strings.Cut(project.Services[service].Image, ":")
		if found == nil || string(found[1]) != tag {
			t.Errorf("%s runs %s, dev/go.mod has %s %s", service, project.Services[service].Image, module, found)
		}
	}
	tagged := regexp.MustCompile(`:v?\d+\.\d+(\.\d+)?(-[a-z]+)?$`)
	for _, s := range project.Services {
		if s.Build == nil && !tagged.MatchString(s.Image) {
			t.Errorf("the image of %s has no version: %s", s.Name, s.Image)
		}
	}
	rootMod, rootErr := os.ReadFile(filepath.Join(checkout, "go.work"))
	dockerfile, err := os.ReadFile(filepath.Join(checkout, "Dockerfile"))
	if err != nil || rootErr != nil {
		t.Fatal(err, rootErr)
	}
	version := regexp.MustCompile(`(?m)^go (\S+)`).FindSubmatch(rootMod)
	if version == nil || !strings.Contains(string(dockerfile), "FROM golang:"+string(version[1])+"-") {
		t.Errorf("the Dockerfile builds with another Go than that of go.work: %s", version)
	}
}

// Every service that runs for long has a health check, starts again after a failure,
// and is published on loopback only. What it mounts exists.
func TestFile_services(t *testing.T) {
	project, _, _ := load(t)
	ends := []string{"migrate", "temporal-schema"}
	for _, s := range project.Services {
		if slices.Contains(ends, s.Name) {
			test.Is(t, fmt.Sprintf("%s starts again", s.Name), "on-failure:5", s.Restart)
		} else if s.HealthCheck == nil || s.HealthCheck.Disable || len(s.HealthCheck.Test) == 0 || s.Restart != "unless-stopped" {
			t.Errorf("%s has the health check %v and starts again %q", s.Name, s.HealthCheck, s.Restart)
		}
		for _, port := range s.Ports {
			test.Is(t, fmt.Sprintf("%s is published on", s.Name), "127.0.0.1", port.HostIP)
		}
		for _, v := range s.Volumes {
			if _, err := os.Stat(v.Source); v.Type == types.VolumeTypeBind && err != nil {
				t.Errorf("%s mounts a missing file: %v", s.Name, err)
			}
			if v.Type == types.VolumeTypeBind && !v.ReadOnly {
				t.Errorf("%s may write to %s", s.Name, v.Source)
			}
		}
		for name, d := range s.DependsOn {
			if slices.Contains(ends, name) != (d.Condition == types.ServiceConditionCompletedSuccessfully) || d.Condition == types.ServiceConditionStarted {
				t.Errorf("%s starts when %s is %s", s.Name, name, d.Condition)
			}
		}
	}
}

// Prometheus scrapes services of the file at ports that they have.
func TestFile_prometheus(t *testing.T) {
	project, checkout, _ := load(t)
	text := test.Value(os.ReadFile(filepath.Join(checkout, "deploy/prometheus/prometheus.yml")))(t)
	var config struct {
		Jobs []struct {
			Name string `yaml:"job_name"`
			DNS  []struct {
				Names []string `yaml:"names"`
				Port  string   `yaml:"port"`
			} `yaml:"dns_sd_configs"`
		} `yaml:"scrape_configs"`
	}
	test.OK(t, yaml.Unmarshal(text, &config))
	var scraped []string
	for _, job := range config.Jobs {
		for _, d := range job.DNS {
			for _, name := range d.Names {
				scraped = append(scraped, name)
				if addr := project.Services[name].Environment["LONGHAUL_OPS_ADDR"]; addr == nil || *addr != "0.0.0.0:"+d.Port {
					t.Errorf("%s is scraped at port %s", name, d.Port)
				}
			}
		}
	}
	slices.Sort(scraped)
	if want := []string{"api-a", "api-b", "worker"}; !slices.Equal(scraped, want) {
		t.Errorf("scraped: %v, want %v", scraped, want)
	}
}

// A worker has time to stop before Docker kills it.
func TestFile_grace(t *testing.T) {
	project, _, _ := load(t)
	worker := project.Services["worker"]
	after, err := time.ParseDuration(*worker.Environment["LONGHAUL_STOP_AFTER"])
	if err != nil || worker.StopGracePeriod == nil || time.Duration(*worker.StopGracePeriod) <= after {
		t.Errorf("Docker kills a worker after %v, it stops within %v, %v", worker.StopGracePeriod, after, err)
	}
}

// The executor echo is off, and a variable turns it on for API and workers.
func TestFile_echo(t *testing.T) {
	project, checkout, variables := load(t)
	variables["LONGHAUL_ECHO"] = "true"
	on := test.Value(topology.Load(t.Context(), checkout, variables))(t)
	for _, name := range []string{"api-a", "api-b", "worker"} {
		if was, is := project.Services[name].Environment["LONGHAUL_ECHO"], on.Services[name].Environment["LONGHAUL_ECHO"]; was == nil || *was != "false" || is == nil || *is != "true" {
			t.Errorf("%s has %v, and with the variable %v", name, was, is)
		}
	}
}
