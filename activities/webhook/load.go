package webhook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
	"golang.org/x/net/http/httpguts"

	"longhaul/activities"
)

// An Endpoint is a web service that does tasks.
type Endpoint struct {
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"` // $NAME and ${NAME} stand for variables of the environment
	Timeout time.Duration     `yaml:"timeout"` // for an answer; 0 means 1 minute; at most [LongestTimeout]
	Wait    time.Duration     `yaml:"wait"`    // after 202, for the outcome; 0 means 24 hours
	Cancel  bool              `yaml:"cancel"`  // it is told when a task is canceled

	name    string
	secrets []string // from the environment, that must not be shown
}

// Limits of an endpoint that sets none.
const (
	defaultTimeout = time.Minute
	defaultWait    = 24 * time.Hour
)

// Limits for the client that sends the requests.
const (
	LongestTimeout = time.Hour // until an answer has come
	MaxAnswer      = 4 << 20   // bytes of an answer
)

// Load reads a file with endpoints. lookup reads the environment, and check returns why
// a URL cannot be called. The error lists everything that is wrong.
func Load(path string, lookup func(string) (string, bool), check func(rawURL string) error) (map[string]*Endpoint, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the endpoints: %w", err)
	}
	var form struct {
		Endpoints map[string]*Endpoint `yaml:"endpoints"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&form); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(form.Endpoints) == 0 {
		return nil, fmt.Errorf("%s: the file needs endpoints", path)
	}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(form.Endpoints)) {
		if err := form.Endpoints[name].prepare(name, lookup, check); err != nil {
			wrong = append(wrong, fmt.Errorf("%s: endpoint %s: %w", path, name, err))
		}
	}
	return form.Endpoints, errors.Join(wrong...)
}

// prepare checks e and fills in what it leaves out.
func (e *Endpoint) prepare(name string, lookup func(string) (string, bool), check func(string) error) error {
	if e == nil || e.URL == "" {
		return errors.New("url is missing")
	}
	if err := check(e.URL); err != nil {
		return fmt.Errorf("url %w", err)
	}
	if e.Timeout < 0 || e.Wait < 0 {
		return errors.New("timeout and wait must not be negative")
	}
	if e.Timeout > LongestTimeout {
		return fmt.Errorf("timeout must be at most %v: a service that needs longer answers 202 and reports the outcome later", LongestTimeout)
	}
	e.name = name
	if e.Timeout == 0 {
		e.Timeout = defaultTimeout
	}
	if e.Wait == 0 {
		e.Wait = defaultWait
	}
	for _, key := range slices.Sorted(maps.Keys(e.Headers)) {
		missing := ""
		value := os.Expand(e.Headers[key], func(variable string) string {
			v, ok := lookup(variable)
			if !ok && missing == "" {
				missing = variable
			}
			if len(v) >= activities.ShortestSecret {
				e.secrets = append(e.secrets, v)
			}
			return v
		})
		switch {
		case missing != "":
			return fmt.Errorf("header %s: the variable %s is not set", key, missing)
		case !httpguts.ValidHeaderFieldName(key) || !httpguts.ValidHeaderFieldValue(value):
			return fmt.Errorf("header %s cannot be sent", key)
		case slices.Contains(ours, http.CanonicalHeaderKey(key)):
			return fmt.Errorf("header %s is set by Longhaul", key)
		}
		e.Headers[key] = value
	}
	return nil
}
