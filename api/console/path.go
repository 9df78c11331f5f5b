package console

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/shown"
)

// Path is where the console is served.
const Path = "/console"

const (
	signInPath = Path + "/sign-in"
	oidcPath   = Path + "/oidc/"

	// CallbackPath is the path to which the OpenID Connect provider sends browsers back.
	CallbackPath = oidcPath + "callback"

	// SignedOutPath is the path to which it sends those that have signed out.
	SignedOutPath = signInPath

	// ObjectivesPath is the path of an objective, before its id.
	ObjectivesPath = Path + "/objectives/"

	// GatesPath is the path of a gate, before its id.
	GatesPath = Path + "/inbox/"

	inboxPath     = Path + "/inbox"
	standingsPath = Path + "/standing"
	absencesPath  = Path + "/absences"

	// EventsPath is the path of the events of a task, before its id.
	EventsPath = Path + "/events/"
)

func objectivePath(id string) string { return ObjectivesPath + url.PathEscape(id) }

// pageOf returns the address of the page for the id of an objective, a plan or a task, of any attempt, or of a gate; ""
// for other ids. Links have it in full: a page that answers to a form is at another address.
func pageOf(id string) string {
	task, _, isGate := strings.Cut(id, ":")
	ref, ok := opt.ParseID(task)
	switch {
	case !ok || isGate && ref.TaskID == "":
		return ""
	case isGate:
		return gatePath(id)
	}
	return objectivePath(ref.ObjectiveID) + cmp.Or(shown.Behind("?task=", keyOf(ref.TaskID)), shown.Behind("?plan=", keyOf(ref.PlanID)))
}

func gatePath(id string) string { return GatesPath + url.PathEscape(id) }

func standingPath(id string) string { return standingsPath + "/" + url.PathEscape(id) }

func newStandingPath(gate string) string {
	return standingsPath + "/new?gate=" + url.QueryEscape(gate)
}

func linksOf(m a2a.Metadata) (out []choice) {
	for _, of := range []struct{ text, key string }{{"The workflow in Temporal", read.KeyWorkflowURL}, {"The traces", read.KeyTraceURL}} {
		if address, _ := m.String(of.key); webLink(address) != "" {
			out = append(out, choice{Text: of.text, Value: webLink(address)})
		}
	}
	return out
}

// keyOf returns what names a plan or a plan task on pages: the number of the plan in its objective, and behind it that
// of the task. It returns "" for other ids.
func keyOf(id string) string {
	ref, _ := opt.ParseID(id)
	if ref.PlanID == "" {
		return ""
	}
	return strings.SplitN(cmp.Or(ref.TaskID, ref.PlanID), "-", 3)[2]
}

// idOf returns the id of the plan or the task with a key in an objective.
func idOf(objectiveID, key string) string {
	return cmp.Or(shown.When(strings.Contains(key, "-"), "task-"), "plan-") + strings.TrimPrefix(objectiveID, "obj-") + "-" + key
}

// taskOf returns the plan task with an id, of any attempt, and its plan; nil for none.
func taskOf(o *opt.Objective, id string) (*opt.Plan, *opt.Task) {
	ref, _ := opt.ParseID(id)
	if p := o.Plan(ref.PlanID); p != nil {
		return p, p.Task(ref.TaskID)
	}
	return nil, nil
}

// webLink returns an address that pages may lead to, "" for any other.
func webLink(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}

func downloadPath(taskID, artifactID string, part int) string {
	return Path + "/artifacts?" + url.Values{"task": {taskID}, "artifact": {artifactID}, "part": {strconv.Itoa(part)}}.Encode()
}

// A listing is what a page shows: those fields of its address that it has.
type listing struct{ url.Values }

// newListing returns the listing of a query, of the fields with some names.
func newListing(q url.Values, fields ...string) listing {
	l := listing{url.Values{}}
	for _, name := range fields {
		for _, value := range q[name] {
			if value = strings.TrimSpace(value); value != "" {
				l.Add(name, value)
			}
		}
	}
	return l
}

// with returns l with other values in some fields, names and values in turn.
func (l listing) with(fields ...string) listing {
	q := maps.Clone(l.Values)
	for i := 0; i < len(fields); i += 2 {
		if q.Set(fields[i], fields[i+1]); fields[i+1] == "" {
			q.Del(fields[i])
		}
	}
	return listing{q}
}

// At returns the address of a page with l and other values in some fields.
func (l listing) At(path string, more ...string) string {
	l = l.with(more...)
	if len(l.Values) == 0 && path != "" {
		return path
	}
	return path + "?" + l.Encode()
}

// A spot is what the address of the page of an objective selects: the view, which is the graph of dependencies or else
// the timeline; the keys of a task or a plan; how many seconds the timeline shows, and until when in milliseconds; and
// the steps of a draft, with the revision that they were thought of for and since when, in milliseconds, that was the
// latest. Links to another spot have the query alone: the script shows it in place.
type spot struct {
	base string // the path, where the page is at another one; else ""
	listing
}

// spotOf returns the spot of a request for the page of an objective.
func spotOf(r *http.Request) spot {
	base := shown.When(r.Method != http.MethodGet, objectivePath(r.PathValue("id")))
	return spot{base, newListing(r.URL.Query(), "view", "task", "plan", "span", "until", "draft", "since", "step")}
}

func (s spot) with(fields ...string) spot { return spot{s.base, s.listing.with(fields...)} }

func (s spot) path() string { return s.At(s.base) }

func (s spot) number(field string) int64 {
	n, _ := strconv.ParseInt(s.Get(field), 10, 64)
	return n
}

// Graph reports whether s shows the graph, and drafts whether it shows a draft there.
func (s spot) Graph() bool  { return s.Get("view") == "graph" || s.drafts() }
func (s spot) drafts() bool { return s.number("draft") > 0 }

// To returns the address at which the plan or the task with a key is selected, and ToWhole that of the objective as a
// whole.
func (s spot) To(key string) string {
	isTask := strings.Contains(key, "-")
	return s.with("task", shown.When(isTask, key), "plan", shown.When(!isTask, key)).path() + s.panel()
}
func (s spot) ToWhole() string { return s.with("task", "", "plan", "").path() }

// panel is the part of the page that a selection leads to. In a draft the graph keeps the focus.
func (s spot) panel() string { return shown.When(!s.drafts(), "#selected") }

// ToView returns the address of a view, without the draft.
func (s spot) ToView(view string) string { return s.sent().with("view", view).path() }

// sent returns s without its draft.
func (s spot) sent() spot {
	if strings.HasPrefix(s.Get("task"), newTask) {
		s = s.with("task", "")
	}
	return s.with("draft", "", "since", "", "step", "")
}

// ToSpan returns the address at which the timeline shows some seconds until a time, all of it for 0.
func (s spot) ToSpan(seconds, until int64) string {
	return s.with("span", numberText(seconds), "until", numberText(until)).path()
}

// numberText returns a number as addresses have it, "" for 0.
func numberText(n int64) string { return shown.When(n != 0, strconv.FormatInt(n, 10)) }
