package read

import (
	"net/url"
	"strings"

	"longhaul/a2a"
	"longhaul/opt/shown"
)

// KeyWorkflowURL is the key in a task's metadata for the page of its workflow in the UI
// of the engine.
const KeyWorkflowURL = "longhaul/v1/workflowUrl"

// KeyTraceURL is the key in a task's metadata for the traces of its objective.
const KeyTraceURL = "longhaul/v1/traceUrl"

// TraceID is the part of [Links.Traces] that is replaced by the id of the objective.
const TraceID = "{id}"

// Links make URLs of pages for people who operate the service. The zero value has none.
type Links struct {
	UI        string // base URL of Temporal's UI; "" for none
	Namespace string // of Temporal
	Traces    string // URL of the traces of an objective, with [TraceID] in the place of its id; "" for none
}

// Workflow returns the URL of a workflow, "" if the UI is not known.
func (l Links) Workflow(id string) string {
	if l.UI == "" {
		return ""
	}
	return strings.TrimRight(l.UI, "/") + "/namespaces/" + url.PathEscape(l.Namespace) + "/workflows/" + url.PathEscape(id)
}

// in adds the URL of the workflow that a task runs in to its metadata: its plan's, or
// of the objective for a root task.
func (l Links) in(m a2a.Metadata, v shown.TaskView) a2a.Metadata {
	id := v.ObjectiveID
	if !v.IsRoot && v.PlanID != "" {
		id = v.PlanID
	}
	at := l.Workflow(id)
	m = m.WithIf(at != "", KeyWorkflowURL, at)
	return m.WithIf(l.Traces != "", KeyTraceURL, strings.ReplaceAll(l.Traces, TraceID, url.QueryEscape(v.ObjectiveID)))
}
