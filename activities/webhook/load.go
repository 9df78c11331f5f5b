package webhook

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"longhaul/activities"
	"longhaul/internal/opfile"
)

// An Endpoint is a web service that does tasks.
type Endpoint struct {
	URL     string            `yaml:"url"`
	Headers map[string]string `yaml:"headers"` // ${NAME} is replaced by a variable of the environment
	Timeout time.Duration     `yaml:"timeout"` // for an answer; 0 means 1 minute; at most [LongestTimeout]
	Wait    time.Duration     `yaml:"wait"`    // after 202, for the outcome; 0 means 24 hours
	Cancel  bool              `yaml:"cancel"`  // gets a request when a task is canceled

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
// a URL cannot be called. The error lists all mistakes.
func Load(path string, lookup func(string) (string, bool), check func(rawURL string) error) (map[string]*Endpoint, error) {
	var form struct {
		Endpoints map[string]*Endpoint `yaml:"endpoints"`
	}
	if err := opfile.Read(path, "endpoints", &form); err != nil {
		return nil, err
	}
	if len(form.Endpoints) == 0 {
		return nil, fmt.Errorf("%s: the file needs endpoints", path)
	}
	wrong := opfile.Each("endpoint", form.Endpoints, func(e *Endpoint, name string) error { return e.prepare(name, lookup, check) })
	return form.Endpoints, opfile.Within(path+": ", wrong)
}

// prepare checks e and sets its defaults.
func (e *Endpoint) prepare(name string, lookup func(string) (string, bool), check func(string) error) error {
	if e == nil || e.URL == "" {
		return errors.New("url is missing")
	}
	wrong := []error{opfile.Within("url ", check(e.URL))}
	if e.Timeout < 0 || e.Wait < 0 {
		wrong = append(wrong, errors.New("timeout and wait must not be negative"))
	}
	if e.Timeout > LongestTimeout {
		wrong = append(wrong, fmt.Errorf("timeout must be at most %v: a service that needs longer answers 202 and reports the outcome later", LongestTimeout))
	}
	e.name, e.Timeout, e.Wait = name, cmp.Or(e.Timeout, defaultTimeout), cmp.Or(e.Wait, defaultWait)
	filled := opfile.Env(lookup).Headers(e.Headers, "Accept", "Idempotency-Key")
	e.Headers, e.secrets = filled.Headers, activities.Secrets(filled.Values)
	return errors.Join(append(wrong, opfile.Within("headers: ", errors.Join(filled.Wrong...)))...)
}
