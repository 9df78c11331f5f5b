package console

import (
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
		return planPath(ref.ObjectiveID, ref.PlanID[strings.LastIndexByte(ref.PlanID, '-')+1:])
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
func planKey(p *opt.Plan) string { return p.ID[strings.LastIndexByte(p.ID, '-')+1:] }

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

// withQuery returns an address with more fields in its query.
func withQuery(address string, more url.Values) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	q := u.Query()
	for name, values := range more {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	return u.String()
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
func taskAt(o *opt.Objective, key string) (*opt.Plan, *opt.Task) { return taskWith(o, key, taskKey) }

// taskWith is taskAt where the keys are other ones.
func taskWith(o *opt.Objective, key string, of func(*opt.Task) string) (*opt.Plan, *opt.Task) {
	for _, p := range o.Plans {
		for _, t := range p.Tasks {
			if of(t) == key {
				return p, t
			}
		}
	}
	return nil, nil
}

// A spot is what the address of the page of an objective selects. Links to another spot have
// the query alone: the script shows it in place.
type spot struct {
	base  string // the path, where the page is at another one; else ""
	Graph bool   // the view: the graph of dependencies, or the timeline
	Task  string // key of the selected task, "" for none
	Plan  string // likewise of the plan
	Span  int64  // how many seconds the timeline shows, 0 for all
	Until int64  // where it ends, in milliseconds; 0 for the end

	Draft int64    // the revision that steps were thought of for, 0 without a draft
	Since int64    // when that was the latest, in milliseconds
	Steps []string // of the draft, each as a query
}

// spotOf returns the spot of a request for the page of an objective.
func spotOf(r *http.Request) spot {
	q := r.URL.Query()
	s := spot{Graph: q.Get("view") == "graph", Task: q.Get("task"), Plan: q.Get("plan"), Steps: q["step"]}
	for name, n := range s.numbers() {
		*n, _ = strconv.ParseInt(q.Get(name), 10, 64)
	}
	if r.Method != http.MethodGet {
		s.base = objectivePath(r.PathValue("id"))
	}
	return s
}

// numbers are the numbers of s by their names in an address.
func (s *spot) numbers() map[string]*int64 {
	return map[string]*int64{"span": &s.Span, "until": &s.Until, "draft": &s.Draft, "since": &s.Since}
}

// query returns the query of the address of s.
func (s spot) query() url.Values {
	q := url.Values{}
	if s.Graph {
		q.Set("view", "graph")
	}
	for name, value := range map[string]string{"task": s.Task, "plan": s.Plan} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, n := range s.numbers() {
		if *n > 0 {
			q.Set(name, strconv.FormatInt(*n, 10))
		}
	}
	if s.Draft > 0 && len(s.Steps) > 0 {
		q["step"] = s.Steps
	}
	return q
}

// path returns the address of s.
func (s spot) path() string { return s.base + "?" + s.query().Encode() }

// ToTask, ToPlan and ToWhole return the addresses at which a task, a plan or the objective
// as a whole is selected.
func (s spot) ToTask(key string) string { s.Task, s.Plan = key, ""; return s.path() + s.panel() }
func (s spot) ToPlan(key string) string { s.Task, s.Plan = "", key; return s.path() + s.panel() }
func (s spot) ToWhole() string          { s.Task, s.Plan = "", ""; return s.path() }

// panel is the part of the page that a selection leads to. In a draft the graph keeps the focus.
func (s spot) panel() string {
	if s.Draft > 0 {
		return ""
	}
	return "#selected"
}

// ToView returns the address of the other view, or of the timeline.
func (s spot) ToView(graph bool) string { s = s.sent(); s.Graph = graph; return s.path() }

// sent returns s without its draft.
func (s spot) sent() spot {
	s.Draft, s.Since, s.Steps = 0, 0, nil
	if strings.HasPrefix(s.Task, newTask) {
		s.Task = ""
	}
	return s
}

// ToSpan returns the address at which the timeline shows some seconds until a time.
func (s spot) ToSpan(seconds, until int64) string { s.Span, s.Until = seconds, until; return s.path() }
