package console

import (
	"net/http"
	"strings"

	"longhaul/api/call"
	"longhaul/api/operation"
)

// A route is one line of the table of pages.
type route struct {
	pattern   string                     // of http.ServeMux, whose path is below Path
	operation string                     // of the service, whose scope the caller needs; "" for what everyone may see
	show      func(*visit) (view, error) // a view with a Problem is also shown beside an error
}

// table lists all pages and forms.
var table = []route{
	{"GET /{$}", "GetOverview", showOverview},
	{"GET /inbox", "ListInterrupts", showInbox},
	{"POST /inbox", "AnswerInterrupt", decideTogether},
	{"GET /inbox/{gate}", "GetInterrupt", showGate},
	{"POST /inbox/{gate}", "AnswerInterrupt", answerGate},
	{"GET /inbox/{gate}/{section}/{n}", "GetInterrupt", showGatePart},

	{"GET /objectives", "objectives/list", showObjectives},
	{"GET /find", "objectives/list", showFound},
	{"GET /new", "PreviewObjective", showStart},
	{"POST /new", "PreviewObjective", previewStart},
	{"POST /new/start", "SendMessage", start},
	{"GET /objectives/{id}", "objectives/get", showObjective},
	{"POST /objectives/{id}", "objectives/update", changeObjective},
	{"POST /objectives/{id}/text", "objectives/update", changeObjectiveText},
	{"POST /objectives/{id}/replan", "objectives/replan", replan},
	{"POST /objectives/{id}/plans", "plans/create", addPlan},
	{"POST /objectives/{id}/plans/{plan}", "plans/update", changePlan},
	{"POST /objectives/{id}/draft", "plans/addTasks", sendDraft},
	{"POST /objectives/{id}/tasks/{task}", "tasks/updateStatus", changeTask},
	{"POST /objectives/{id}/fork", "objectives/fork", forkObjective},
	{"GET /objectives/{id}/compare", "CompareObjectives", showComparison},
	{"GET /objectives/{id}/timeline", "ListEvents", showTimeline},
	{"GET /objectives/{id}/messages", "GetTask", downloadMessages},
	{"GET /artifacts", "ReadContent", download},

	{"GET /sign-in", "", showSignIn},
	{"POST /sign-in", "", signIn},
	{"POST /sign-out", "", signOut},
	{"GET /oidc/sign-in", "", beginProvider},
	{"GET /oidc/callback", "", finishProvider},
	{"GET /", "", showUnknown},
	{"POST /", "", showUnknown},
}

// routes registers the table and the assets.
func (k *Console) routes() {
	for _, to := range table {
		verb, path, _ := strings.Cut(to.pattern, " ")
		k.mux.HandleFunc(verb+" "+Path+path, k.page(to))
	}
	k.mux.HandleFunc("GET "+assetPath+"{name}", k.assets.serve)
}

// page returns the handler of a line of the table.
func (k *Console) page(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := k.visit(w, r)
		var out view
		show := func() (err error) {
			out, err = to.show(v)
			return err
		}
		var fault *call.Fault
		if to.operation == "" {
			fault = k.cfg.Service.Guard(v.call, func() error {
				if err := v.readForm(); err != nil {
					return err
				}
				return show()
			})
		} else {
			fault = k.cfg.Service.Serve(v.call, call.Steps{
				Authenticate: v.authenticate,
				Read: func() (call.Right, error) {
					v.call.Method = to.operation
					return operation.Right(to.operation), v.readForm()
				},
				Handle: show,
			})
		}
		if fault != nil {
			v.retryAfter(fault)
			if out.Problem == "" {
				out = v.refusal(fault)
			}
		}
		v.write(out)
	}
}
