package console

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"longhaul/a2a"
	"longhaul/opt"
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

	inboxPath = Path + "/inbox"

	standingsPath = Path + "/standing"
	absencesPath  = Path + "/absences"

	// EventsPath is the path of the events of a task, before its id.
	EventsPath = Path + "/events/"
)

func objectivePath(id string) string { return ObjectivesPath + url.PathEscape(id) }

// taskPath returns the address of the page of a task of an objective. Links have it in
// full: a page that answers to a form is at another address.
func taskPath(objective, key string) string {
	return objectivePath(objective) + "?task=" + url.QueryEscape(key)
}

// planPath returns the address of the page of a plan of an objective.
func planPath(objective, key string) string {
	return objectivePath(objective) + "?plan=" + url.QueryEscape(key)
}

// gatePath returns the address of the page of a gate.
func gatePath(id string) string { return GatesPath + url.PathEscape(id) }

func standingPath(id string) string { return standingsPath + "/" + url.PathEscape(id) }

// newStandingPath returns the address of the form for a standing decision about gates like one.
func newStandingPath(gate string) string {
	return standingsPath + "/new?gate=" + url.QueryEscape(gate)
}

// pageOf returns the address of the page for an id of something else than an objective:
// a later attempt, a plan or a task. It returns "" for any other.
func pageOf(id string) string {
	switch ref, ok := opt.ParseID(id); {
	case !ok, ref.ObjectiveID == id:
		return ""
	case ref.TaskID != "":
		return taskPath(ref.ObjectiveID, keyOfTask(ref.TaskID))
	case ref.PlanID != "":
		return planPath(ref.ObjectiveID, keyOfPlan(ref.PlanID))
	default:
		return objectivePath(ref.ObjectiveID)
	}
}

// A link leads to another system.
type link struct{ Text, URL string }

// workflowKey is the key in the metadata of a task for the page of its workflow.
const workflowKey = "longhaul/v1/workflowUrl"

// traceKey is the key for the traces of its objective.
const traceKey = "longhaul/v1/traceUrl"

// linksOf returns the links to other systems of a task with metadata.
func linksOf(m a2a.Metadata) (out []link) {
	if address, _ := m.String(workflowKey); webLink(address) != "" {
		out = append(out, link{"The workflow in Temporal", webLink(address)})
	}
	if address, _ := m.String(traceKey); webLink(address) != "" {
		out = append(out, link{"The traces", webLink(address)})
	}
	return out
}

// planKey names a plan on a page: its number in the objective.
func planKey(p *opt.Plan) string { return keyOfPlan(p.ID) }

// keyOfPlan returns the key of the plan with an id.
func keyOfPlan(id string) string { return id[strings.LastIndexByte(id, '-')+1:] }

// taskKey names a task on a page: the number of its plan, and its own.
func taskKey(t *opt.Task) string { return keyOfTask(t.ID) }

// keyOfTask returns the key of the plan task with an id.
func keyOfTask(id string) string {
	ref, ok := opt.ParseID(id)
	if !ok || ref.TaskID == "" {
		return ""
	}
	_, place, _ := strings.Cut(strings.TrimPrefix(ref.TaskID, "task-"), "-")
	return place
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

// planAt returns the plan with a key, nil for none.
func planAt(o *opt.Objective, key string) *opt.Plan {
	for _, p := range o.Plans {
		if planKey(p) == key {
			return p
		}
	}
	return nil
}

// taskAt returns the task with a key, and its plan; nil for none.
func taskAt(o *opt.Objective, key string) (*opt.Plan, *opt.Task) {
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if taskKey(t) == key {
				return p, t
			}
		}
	}
	return nil, nil
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

// At returns the address of a page with l and more fields, names and values in turn.
func (l listing) At(path string, more ...string) string {
	q := maps.Clone(l.Values)
	for i := 0; i < len(more); i += 2 {
		q[more[i]] = append(q[more[i]], more[i+1])
	}
	if len(q) == 0 && path != "" {
		return path
	}
	return path + "?" + q.Encode()
}

// A spot is what the address of the page of an objective selects: the view, which is the graph of
// dependencies or else the timeline; the keys of a task or a plan; how many seconds the timeline shows, and
// until when in milliseconds; and the steps of a draft, with the revision that they were thought of for and
// since when, in milliseconds, that was the latest. Links to another spot have the query alone: the script
// shows it in place.
type spot struct {
	base string // the path, where the page is at another one; else ""
	listing
}

// spotOf returns the spot of a request for the page of an objective.
func spotOf(r *http.Request) spot {
	s := spot{listing: newListing(r.URL.Query(), "view", "task", "plan", "span", "until", "draft", "since", "step")}
	if r.Method != http.MethodGet {
		s.base = objectivePath(r.PathValue("id"))
	}
	return s
}

func (s spot) with(fields ...string) spot { return spot{s.base, s.listing.with(fields...)} }

// path returns the address of s.
func (s spot) path() string { return s.At(s.base) }

// number returns a number of s, 0 for none.
func (s spot) number(field string) int64 {
	n, _ := strconv.ParseInt(s.Get(field), 10, 64)
	return n
}

// Graph reports whether s shows the graph, and drafts whether it shows a draft there.
func (s spot) Graph() bool  { return s.Get("view") == "graph" || s.drafts() }
func (s spot) drafts() bool { return s.number("draft") > 0 }

// ToTask, ToPlan and ToWhole return the addresses at which a task, a plan or the objective
// as a whole is selected.
func (s spot) ToTask(key string) string { return s.with("task", key, "plan", "").path() + s.panel() }
func (s spot) ToPlan(key string) string { return s.with("task", "", "plan", key).path() + s.panel() }
func (s spot) ToWhole() string          { return s.with("task", "", "plan", "").path() }

// panel is the part of the page that a selection leads to. In a draft the graph keeps the focus.
func (s spot) panel() string {
	if s.drafts() {
		return ""
	}
	return "#selected"
}

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
func numberText(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
