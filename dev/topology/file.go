package topology

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

// FileName is the name of the file that describes the topology.
const FileName = "docker-compose.yml"

// Load reads the Compose file of a checkout, with these variables and no others.
func Load(ctx context.Context, checkout string, variables map[string]string) (*types.Project, error) {
	var env []string
	for name, value := range variables {
		env = append(env, name+"="+value)
	}
	options, err := cli.NewProjectOptions([]string{filepath.Join(checkout, FileName)}, cli.WithWorkingDirectory(checkout), cli.WithEnv(env))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", FileName, err)
	}
	project, err := options.LoadProject(ctx)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", FileName, err)
	}
	return project, nil
}

// Checkout returns the directory of the Compose file: the working directory or one
// above it.
func Checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		_, err := os.Stat(filepath.Join(at, FileName))
		if err == nil {
			return at, nil
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return "", fmt.Errorf("no %s in %s or above it: start in a checkout of Longhaul", FileName, dir)
		}
	}
}

// order returns the services so that each comes after those it depends on, and
// otherwise by name.
func order(services types.Services) []string {
	var sorted []string
	var visit func(name string)
	visit = func(name string) {
		if slices.Contains(sorted, name) {
			return
		}
		for _, before := range names(services[name].DependsOn) {
			visit(before)
		}
		sorted = append(sorted, name)
	}
	for _, name := range names(services) {
		visit(name)
	}
	return sorted
}

// runsToEnd reports whether a service runs to its end before those that depend on it start.
func runsToEnd(services types.Services, name string) bool {
	for _, s := range services {
		if s.DependsOn[name].Condition == types.ServiceConditionCompletedSuccessfully {
			return true
		}
	}
	return false
}

// hasHealthCheck reports whether a service has a health check.
func hasHealthCheck(s types.ServiceConfig) bool {
	return s.HealthCheck != nil && !s.HealthCheck.Disable && len(s.HealthCheck.Test) > 0 && s.HealthCheck.Test[0] != "NONE"
}

// imageName returns the image of a service without its tag.
func imageName(s types.ServiceConfig) string {
	name, _, _ := strings.Cut(s.Image, ":")
	return name
}

// names returns the keys of m in order.
func names[V any](m map[string]V) []string {
	var keys []string
	for name := range m {
		keys = append(keys, name)
	}
	slices.Sort(keys)
	return keys
}
