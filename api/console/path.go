package console

import (
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
