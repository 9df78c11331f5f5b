package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/api/card"
	"longhaul/api/read"
	"longhaul/internal/test"
	"longhaul/opt"
)

var update = flag.Bool("update", false, "rewrite the replies in testdata")

// Each file in testdata is a conversation: requests, and after each the reply
// that must come, byte for byte except the indentation of JSON. A request begins with its
// method, path and headers, then a blank line, then its body; without a method it is the
// body of a POST to /a2a, and the header V10 means "A2A-Version: 1.0". In a request U(m-1) is the common part of the ids
// of the work that the message m-1 began. A section named "setup" changes the state of
// the engine.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			data := test.Value(os.ReadFile(file))(t)
			a := parseArchive(string(data))
			got := newService(t, settings(filepath.Base(file))).run(t, a)
			if *update {
				test.OK(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			if diff := cmp.Diff(string(data), got); diff != "" {
				t.Errorf("conversation mismatch (-want +got):\n%s\nif that is meant: GOWORK=off go test ./api -run Conversations -args -update", diff)
			}
		})
	}
}

// settings returns what differs from the usual configuration in a file.
func settings(file string) func(*config) {
	switch {
	case strings.HasPrefix(file, "push"):
		return pushOn
	case file == "queue.txtar":
		return func(c *config) { c.MaxQueue = 2 }
	case file == "expire.txtar":
		return func(c *config) { c.Limits.GateTimeout = 3600 }
	case file == "links.txtar":
		return func(c *config) {
			c.Links = read.Links{UI: "https://temporal.example.com/ui/", Namespace: "long haul", Traces: "https://traces.example.com/?objective={id}"}
		}
	case file == "extended.txtar":
		return func(c *config) {
			more := c.Card
			more.Description, more.Skills = "For you", append(more.Skills, card.Skill{ID: "secret"})
			c.Extended = &more
		}
	}
	return func(*config) {}
}

// run sends the requests of a conversation and returns it with the replies.
func (s *fixture) run(t *testing.T, a *archive) string {
	t.Helper()
	got := &archive{comment: a.comment}
	for _, section := range a.sections {
		switch section.name {
		case "reply":
			continue
		case "setup":
			s.setUp(t, section.text)
			got.sections = append(got.sections, section)
		default:
			got.sections = append(got.sections, section, reply(s.converse(t, section.text)))
		}
	}
	return got.String()
}

// setUp carries out lines such as "engine down", "engine deaf" and "the task of m-1 completes".
func (s *fixture) setUp(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, "the task of "); ok {
			s.world.Complete("task-" + u(strings.TrimSuffix(id, " completes")) + "-1-0")
			continue
		}
		switch line {
		case "engine down":
			s.world.Down(fmt.Errorf("dial: %w", opt.ErrUnavailable))
		case "engine up":
			s.world.Down(nil)
		case "engine deaf":
			s.world.Sleep()
		case "engine awake":
			s.world.Wake()
		case "an hour passes":
			s.world.Advance(time.Hour)
		case "journal down":
			s.journal.fail(errors.New("disk on fire at /dev/secret"))
		case "a second passes":
			s.world.Advance(time.Second)
		default:
			t.Fatalf("setup does not know %q", line)
		}
	}
}

var idOf = regexp.MustCompile(`U\(([^)]+)\)`)

// converse sends a request of a conversation and returns the reply as text.
func (s *fixture) converse(t *testing.T, text string) string {
	t.Helper()
	text = idOf.ReplaceAllStringFunc(text, func(ref string) string {
		messageID := idOf.FindStringSubmatch(ref)[1]
		return strings.TrimPrefix(opt.DerivedObjectiveID("acme", "ann", messageID), "obj-")
	})
	if strings.ContainsAny(text[:1], "{[\"") {
		return s.exchange(t, "POST /a2a", text)
	}
	head, body, _ := strings.Cut(text, "\n\n")
	return s.exchange(t, head, body)
}

func (s *fixture) exchange(t *testing.T, head, body string) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(head), "\n")
	method, path, _ := strings.Cut(lines[0], " ")
	if strings.HasPrefix(path, "/") {
		lines = lines[1:]
	} else {
		method, path = http.MethodPost, "/a2a"
	}
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(strings.TrimSuffix(body, "\n")))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ":")
		if name == "V10" {
			name, value = "A2A-Version", "1.0"
		}
		r.Header.Set(name, strings.TrimSpace(value))
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)

	var out strings.Builder
	fmt.Fprintf(&out, "HTTP %d\n", w.Code)
	for _, name := range []string{
		"Allow", "Content-Type", "A2A-Version", "A2A-Extensions", "X-A2A-Extensions", "WWW-Authenticate", "Retry-After",
		"Vary", "ETag", "Cache-Control", "Last-Modified", "Access-Control-Allow-Origin", "X-Accel-Buffering",
	} {
		if v := w.Header().Get(name); v != "" {
			fmt.Fprintf(&out, "%s: %s\n", name, v)
		}
	}
	if method == http.MethodHead {
		return out.String()
	}
	out.WriteByte('\n')
	var indented bytes.Buffer
	if json.Indent(&indented, w.Body.Bytes(), "", "  ") == nil {
		out.Write(indented.Bytes())
		out.WriteByte('\n')
	} else {
		out.Write(w.Body.Bytes())
	}
	return strings.TrimRight(out.String(), "\n") + "\n"
}

// An archive is a txtar file: a comment, then sections of text.
type archive struct {
	comment  string
	sections []section
}

type section struct{ name, text string }

func parseArchive(data string) *archive {
	a := &archive{}
	text := &a.comment
	for line := range strings.Lines(data) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if name, end := strings.CutSuffix(name, " --"); ok && end {
			a.sections = append(a.sections, section{name: name})
			text = &a.sections[len(a.sections)-1].text
			continue
		}
		*text += line
	}
	return a
}

func (a *archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, s := range a.sections {
		fmt.Fprintf(&b, "-- %s --\n%s", s.name, s.text)
	}
	return b.String()
}

func reply(text string) section { return section{"reply", text} }
