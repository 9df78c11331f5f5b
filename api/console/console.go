package console

import (
	"context"
	"net/http"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gateform"
	"longhaul/api/identity"
	"longhaul/api/operation"
	"longhaul/api/service"
)

// A Config has the parts and settings of a Console. A field is required unless its
// comment says what the zero value means.
type Config struct {
	Service *service.Service

	// Authenticate returns the caller of a request, from its headers or its connection.
	Authenticate func(*http.Request) (call.Caller, error)

	Sessions *identity.Sessions // nil: there is no sign-in
	NoKeys   bool               // people cannot sign in with API keys
	Provider string             // the name of that with which Sessions sign people in; "" for none
	Secure   bool               // browsers reach the server by https alone

	Log *zap.Logger      // nil discards logs
	Now func() time.Time // nil: time.Now
}

// A Console serves the pages. It is safe for concurrent use.
type Console struct {
	cfg         Config
	mux         *http.ServeMux
	originCheck *http.CrossOriginProtection // refuses forms of other origins
	views       views
	assets      assets

	markdown markdown
	badges   *lru.Cache[string, badge] // by badgeKey
}

// New returns a console.
func New(cfg Config) *Console {
	if cfg.Log == nil {
		cfg.Log = zap.NewNop()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	badges, _ := lru.New[string, badge](mostBadges) // the size is valid
	k := &Console{cfg: cfg, mux: http.NewServeMux(), originCheck: http.NewCrossOriginProtection(), assets: newAssets(), markdown: newMarkdown(), badges: badges}
	k.views = newViews(k.assets)
	k.routes()
	return k
}

type callKey struct{} // of the call in the context of a request

// Serve serves a request below [Path]. The call gets the caller and the outcome.
func (k *Console) Serve(c *call.Call, w http.ResponseWriter, r *http.Request) {
	c.Binding = "console"
	gateform.SetHeaders(w.Header(), policy, "same-origin")
	r = r.WithContext(context.WithValue(r.Context(), callKey{}, c))
	if k.originCheck.Check(r) != nil {
		v := k.visit(w, r)
		v.write(problem{http.StatusForbidden, "Not sent from this page", "Open the page again and try it there."}.view())
		return
	}
	k.mux.ServeHTTP(w, r)
}

// Rewrite turns a request of the script for the events of a task into the request that
// other clients send to path for that stream, with the credential of the session.
func (k *Console) Rewrite(r *http.Request, path string) (*http.Request, error) {
	r, err := k.withSession(r)
	if err != nil {
		return nil, err
	}
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath, r.URL.RawQuery = path, "", ""
	r.Header.Set("A2A-Version", "1.0")
	r.Header.Set("A2A-Extensions", a2a.ExtensionOPT)
	return r, nil
}

// policy is the Content-Security-Policy of the pages: scripts, styles, images and
// requests of this origin only, and no inline script or style.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

type route struct {
	pattern   string                     // of http.ServeMux, whose path is below Path
	operation string                     // of the service, whose scope the caller needs; "" for what everyone may see
	show      func(*visit) (view, error) // a view with a Problem is also shown beside an error
}

var table = []route{
	{"GET /{$}", "GetOverview", showOverview},
	{"GET /inbox", "ListInterrupts", showInbox},
	{"POST /inbox", "AnswerInterrupt", decideTogether},
	{"GET /inbox/{gate}", "GetInterrupt", showGate},
	{"POST /inbox/{gate}", "AnswerInterrupt", answerGate},
	{"GET /inbox/{gate}/{section}/{n}", "GetInterrupt", showGatePart},

	{"GET /standing", "ListStanding", showStandings},
	{"GET /standing/new", "GetInterrupt", newStanding},
	{"POST /standing", "MakeStanding", makeStanding},
	{"GET /standing/{id}", "GetStanding", showStanding},
	{"POST /standing/{id}/approve", "ApproveStanding", approveStanding},
	{"POST /standing/{id}/revoke", "RevokeStanding", revokeStanding},
	{"GET /absences", "ListAbsences", showAbsences},
	{"POST /absences", "AddAbsence", addAbsence},
	{"POST /absences/{id}/end", "EndAbsence", endAbsence},

	{"GET /objectives", "objectives/list", showObjectives},
	{"GET /find", "objectives/list", showFound},
	{"GET /new", "PreviewObjective", showStart},
	{"POST /new", "PreviewObjective", previewStart},
	{"POST /new/rehearse", "RehearseObjective", rehearseStart},
	{"POST /new/start", "SendMessage", start},
	{"GET /objectives/{id}", "objectives/get", showObjective},
	{"POST /objectives/{id}", "objectives/update", changing(changeState)},
	{"POST /objectives/{id}/text", "objectives/update", changing(changeText)},
	{"POST /objectives/{id}/replan", "objectives/replan", changing(replan)},
	{"POST /objectives/{id}/plans", "plans/create", changing(addPlan)},
	{"POST /objectives/{id}/plans/{plan}", "plans/update", changing(changeState)},
	{"POST /objectives/{id}/draft", "plans/addTasks", changing(sendDraft)},
	{"POST /objectives/{id}/tasks/{task}", "tasks/updateStatus", changing(changeState)},
	{"POST /objectives/{id}/fork", "objectives/fork", changing(fork)},
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

// routes registers the table and the assets. Without a provider there is no page of it.
func (k *Console) routes() {
	for _, to := range table {
		verb, path, _ := strings.Cut(to.pattern, " ")
		if !strings.HasPrefix(Path+path, oidcPath) || k.cfg.Provider != "" {
			k.mux.HandleFunc(verb+" "+Path+path, k.page(to))
		}
	}
	k.mux.HandleFunc("GET "+assetPath+"{name}", k.assets.serve)
}

func (k *Console) page(to route) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := k.visit(w, r)
		var out view
		show := func() (err error) {
			if err = v.readForm(); err == nil {
				out, err = to.show(v)
			}
			return err
		}
		var fault *call.Fault
		if to.operation == "" {
			fault = k.cfg.Service.Guard(v.call, show)
		} else {
			fault = k.cfg.Service.Serve(v.call, call.Steps{
				Authenticate: v.authenticate,
				Read: func() (call.Right, error) {
					v.call.Method = to.operation
					return operation.Right(to.operation), nil
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
