package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"text/template"

	"longhaul/internal/opfile"
	"longhaul/opt"
)

// A Trigger starts an objective for each event of one sender.
type Trigger struct {
	Name      string `yaml:"name"` // the end of its path
	Kind      Kind   `yaml:"kind"`
	Tenant    string `yaml:"tenant"`    // "" for [opt.DefaultTenant]
	Principal string `yaml:"principal"` // who asks for the work
	Skill     string `yaml:"skill"`     // or playbook; "" for the one that takes the message

	Secret  string `yaml:"secret"`
	Message string `yaml:"message"` // templates over an Event
	Context string `yaml:"context"` // "" for a new context each time
	When    string `yaml:"when"`    // makes "true" of those that start work; "" for all

	secret              string // with its variables filled in
	text, context, when *template.Template
}

// An Event is what templates get.
type Event struct {
	Event string // its type, as the sender names it
	Body  any    // JSON
}

// event reads an event.
func (t *Trigger) event(h http.Header, body []byte) (e Event, id string, err error) {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&e.Body); err != nil {
		return e, "", err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return e, "", errors.New("there is more than one value")
	}
	e.Body = numbers(e.Body)
	if e.Event, id = senders[t.Kind].describe(t.secret, h, e.Body); id == "" {
		id = digest(body)
	}
	return e, id, nil
}

// numbers returns a value with whole numbers as such, which templates compare and write with all
// their digits.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64() // the parser has read it
		return f
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = numbers(v[name])
		}
	}
	return v
}

// Load reads a file with triggers. env returns the value of a variable that the file names. The
// error lists everything that is wrong, and has no value of a variable.
func Load(path string, env opfile.Env) ([]Trigger, error) {
	var file struct {
		Triggers []Trigger `yaml:"triggers"`
	}
	if err := opfile.Read(path, "triggers", &file); err != nil {
		return nil, err
	}
	if len(file.Triggers) == 0 {
		return nil, fmt.Errorf("%s: the file needs triggers: a list with at least one", path)
	}
	var wrong []error
	names := map[string]bool{}
	for i := range file.Triggers {
		t := &file.Triggers[i]
		err := t.prepare(env)
		if names[t.Name] {
			err = errors.Join(err, errors.New("another trigger has this name"))
		}
		names[t.Name] = true
		wrong = append(wrong, opfile.Within(fmt.Sprintf("%s: trigger %s: ", path, t.Name), err))
	}
	return file.Triggers, errors.Join(wrong...)
}

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// shortestSecret is the least number of characters of a secret.
const shortestSecret = 16

// prepare checks a trigger that was read, and fills in its variables.
func (t *Trigger) prepare(env opfile.Env) error {
	var wrong []error
	fail := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(format, args...)) }
	if !nameForm.MatchString(t.Name) {
		fail("name: must be 1 to 63 of a-z, 0-9 and -, as in pull-requests")
	}
	if _, known := senders[t.Kind]; !known {
		fail("kind: must be github, stripe, alertmanager or secret")
	}
	if t.Principal == "" || strings.HasPrefix(t.Principal, opt.OwnNames) {
		fail("principal: is required, and names that begin with %s are the server's own", opt.OwnNames)
	}
	if t.Tenant == "" {
		t.Tenant = opt.DefaultTenant
	}
	secret, _, missing := env.Expand(t.Secret)
	for _, err := range missing {
		fail("secret: %w", err)
	}
	if n := len(secret); len(missing) == 0 && n < shortestSecret {
		fail("secret: has %d characters and needs at least %d", n, shortestSecret)
	}
	t.secret = secret
	if t.Message == "" {
		fail("message: is required")
	}
	return errors.Join(append(wrong, t.parseTexts()...)...)
}

func (t *Trigger) parseTexts() (wrong []error) {
	for _, of := range []struct {
		name, text string
		to         **template.Template
	}{{"message", t.Message, &t.text}, {"context", t.Context, &t.context}, {"when", t.When, &t.when}} {
		if of.text == "" {
			continue
		}
		made, err := parse(of.name, of.text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", of.name, err))
		}
		*of.to = made
	}
	return wrong
}

// parse reads a template, and refuses members that no event has. Those of its body are not known.
func parse(name, text string) (*template.Template, error) {
	t, err := template.New(name).Funcs(template.FuncMap{"json": asJSON}).Parse(text)
	if err != nil {
		return nil, err
	}
	if err := t.Execute(io.Discard, Event{Body: map[string]any{}}); err != nil && strings.Contains(err.Error(), "in type hook.Event") {
		return nil, err
	}
	return t, nil
}

// asJSON is the function json of templates.
func asJSON(v any) (string, error) {
	raw, err := json.Marshal(v)
	return string(raw), err
}
