package console

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gate"
	"longhaul/api/gateform"
	"longhaul/api/read"
	"longhaul/opt"
	"longhaul/opt/rehearse"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

// A visit is one request for a page. It is for one goroutine.
type visit struct {
	*Console
	call *call.Call
	w    http.ResponseWriter
	r    *http.Request
}

// maxForm is the largest form in bytes.
const maxForm = 1 << 20

// refreshHeader is the header of requests by the script, which follows no redirects to the page for signing in.
const refreshHeader = "X-Console-Refresh"

// authenticate returns the caller: the session's if there is one, else the caller of the
// request itself. Calls of the console know the extension. A session whose credential is
// refused is closed: a page that is left open does not send the credential again and again.
func (v *visit) authenticate() (call.Caller, error) {
	r, err := v.withSession(v.r)
	if err != nil {
		return call.Caller{}, err
	}
	v.call.Active = []string{a2a.ExtensionOPT}
	caller, err := v.cfg.Authenticate(r)
	_, limited := errors.AsType[*call.Fault](err)
	if err != nil && !limited && !errors.Is(err, opt.ErrUnavailable) { // it would be refused again
		if err := closeSession(v); err != nil {
			v.cfg.Log.Warn("Could not close a session whose credential is refused", zap.Error(err))
		}
	}
	return caller, err
}

// readForm reads the form of a request with one into its PostForm, without the carriage returns that browsers add.
func (v *visit) readForm() error {
	if v.r.Method != http.MethodPost {
		return nil
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return call.Unread(err, "cannot be read, or is larger than 1 MiB")
	}
	for _, values := range v.r.PostForm {
		for i, value := range values {
			values[i] = strings.ReplaceAll(value, "\r\n", "\n")
		}
	}
	return nil
}

// A violations lists the mistakes in the fields of a form.
type violations []call.Violation

// add adds that a field has a mistake, if it has.
func (v *violations) add(wrong bool, field, description string) {
	if wrong {
		*v = append(*v, call.Violation{Field: field, Description: description})
	}
}

// day returns the beginning of the day in a field, or of one some days later; zero for no text.
func (v *violations) day(field, text string, later int) (at a2a.Time) {
	if text == "" {
		return at
	}
	day, err := time.Parse(time.DateOnly, text)
	if err != nil || day.Year() < 1970 || day.Year() > 9998 {
		v.add(true, field, "is not a day such as 2026-05-31")
		return at
	}
	return a2a.At(day.AddDate(0, 0, later))
}

func (v violations) err() error {
	if len(v) == 0 {
		return nil
	}
	return call.Invalid(v...)
}

// field returns a field of the form, and trimmed one without the space around it.
func (v *visit) field(name string) string   { return v.r.PostForm.Get(name) }
func (v *visit) trimmed(name string) string { return strings.TrimSpace(v.field(name)) }

// submit makes what a form asks for, and leads to the address that apply returns. If that is refused, again returns
// the page with the form and its input, for callers who may read it. A page without a status or a problem gets those
// of the fault.
func (v *visit) submit(apply func() (to string, err error), again func(*call.Fault) (view, error)) (view, error) {
	to := ""
	fault := v.cfg.Service.Guard(v.call, func() (err error) {
		to, err = apply()
		return err
	})
	switch {
	case fault == nil:
		return view{Location: to}, nil
	case !v.has(call.ReadRuns):
		return view{}, fault
	}
	out, err := again(fault)
	if err != nil {
		return view{}, fault
	}
	p := problemOf(fault)
	out.Status, out.Problem = cmp.Or(out.Status, p.Status), cmp.Or(out.Problem, p.Text)
	return out, fault
}

// refusal returns the page that says why a request was refused.
func (v *visit) refusal(f *call.Fault) view {
	if f.Kind == call.Unauthenticated && v.cfg.Sessions != nil && v.r.Method == http.MethodGet && v.r.Header.Get(refreshHeader) == "" {
		to := url.Values{"next": {v.r.URL.RequestURI()}}
		if signedIn(v) {
			to.Set("ended", "1")
			v.setCookie(sessionCookie, "", gone)
		}
		return view{Location: signInPath + "?" + to.Encode()}
	}
	if f.Kind == call.Unauthenticated && v.cfg.Sessions == nil {
		return problem{http.StatusUnauthorized, "You are not signed in", "Your browser has to show a client certificate that this server accepts."}.view()
	}
	return problemOf(f).view()
}

// retryAfter sets the header that says when a repeat of a refused request may succeed, if the fault names a time.
func (v *visit) retryAfter(f *call.Fault) {
	if f.Retry > 0 {
		f.SetRetryAfter(v.w.Header())
	}
}

// write writes a page or a redirect. The script gets 304 for a page that has not changed.
func (v *visit) write(out view) {
	if out.Location != "" { // of the console, or of the provider
		v.w.Header().Set("Location", out.Location)
		v.w.WriteHeader(http.StatusSeeOther)
		return
	}
	if out.File != nil {
		writeFile(v.w, out.File)
		return
	}
	if v.r.Method != http.MethodGet {
		out.Events, out.Refresh = "", 0 // the script would fetch another page: this one answers to a form
	}
	var b bytes.Buffer
	if err := v.views[out.Template].ExecuteTemplate(&b, "layout.html", frame{view: out, Caller: v.call.Caller, Session: signedIn(v), Waiting: v.badge(), Path: v.r.URL.Path}); err != nil {
		v.cfg.Log.Error("A page has no HTML", zap.String("template", out.Template), zap.Error(err))
		http.Error(v.w, "Something went wrong. Try again later.", http.StatusInternalServerError)
		return
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	if out.Status == 0 {
		sum := sha256.Sum256(b.Bytes())
		h.Set("ETag", `"`+hex.EncodeToString(sum[:12])+`"`)
		http.ServeContent(v.w, v.r, "", time.Time{}, bytes.NewReader(b.Bytes()))
		return
	}
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	v.w.WriteHeader(out.Status)
	_, _ = v.w.Write(b.Bytes()) // fails only if the client has disconnected
}

func (v *visit) objective(id string) (*opt.Objective, error) {
	found, err := v.cfg.Service.Objectives.GetObjective(v.r.Context(), v.call, read.GetObjectiveParams{ID: id, Plans: true, Tasks: true})
	return found.Objective, err
}

// list returns the first objectives that a search finds.
func (v *visit) list(s shown.ObjectiveSearch) (read.ObjectivePage, error) {
	return v.cfg.Service.Objectives.ListObjectives(v.r.Context(), v.call, read.ListObjectivesParams{Filter: s})
}

// waiting returns the first open gates that a filter leaves.
func (v *visit) waiting(f shown.InterruptFilter) ([]shown.Interrupt, error) {
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{Filter: f})
	return page.Interrupts, err
}

func (v *visit) gate(id string) (gate.ShownInterrupt, error) {
	return v.cfg.Service.Gates.GetInterrupt(v.r.Context(), v.call, id)
}

func (v *visit) has(s call.Scope) bool { return slices.Contains(v.call.Scopes, s) }

func (k *Console) visit(w http.ResponseWriter, r *http.Request) *visit {
	return &visit{Console: k, call: r.Context().Value(callKey{}).(*call.Call), w: w, r: r}
}

// showUnknown answers requests for paths that are not in the table. For callers who are signed in the page leads on.
func showUnknown(v *visit) (view, error) {
	if caller, err := v.authenticate(); err == nil {
		v.call.Caller = caller
	}
	return problem{http.StatusNotFound, "Not found", "There is no such page."}.view(), nil
}

// badge returns how many gates wait for the caller. It is 0 for callers who may not
// list or answer them, and if the journal returns an error.
func (v *visit) badge() int {
	if !v.has(call.ReadRuns) || !v.has(call.RespondApprovals) {
		return 0
	}
	now, caller := time.Now(), badgeKey(v.call.Caller)
	if kept, ok := v.badges.Get(caller); ok && now.Sub(kept.at).Abs() < badgeAge {
		return kept.n
	}
	page, err := v.cfg.Service.Gates.ListInterrupts(v.r.Context(), v.call, gate.InterruptListParams{Filter: shown.InterruptFilter{Limit: 1}, Mine: true})
	if err != nil {
		return 0
	}
	v.badges.Add(caller, badge{page.Total, now})
	return page.Total
}

// A badge is the number of gates that wait for a caller at a time. It is used again for badgeAge, and kept for
// mostBadges callers.
type badge struct {
	n  int
	at time.Time
}

const (
	badgeAge   = 2 * time.Second
	mostBadges = 1000
)

// badgeKey names a caller: gates may wait for a principal or for one of its groups.
func badgeKey(c call.Caller) string {
	return strings.Join(append([]string{c.Tenant, c.Principal}, c.Groups...), "\x00")
}

// A view is a page that is to be shown, or a redirect.
type view struct {
	Location string // redirect to this path of the console, or to the provider; the rest is not used
	File     *file  // to be stored; the rest is not used

	Status   int    // of HTTP; 0 for 200
	Template string // name of a file in templates, without its ending
	Title    string
	Data     any // for the template

	Events  string // id of the A2A task whose events report changes of the page; "" for none
	Refresh int    // seconds after which the page may have changed; 0 for never

	Done    string // what a form has done, shown once
	Problem string // why a form was refused, shown above the page
}

// A frame is the data of the layout around a view.
type frame struct {
	view
	call.Caller
	Session bool // the browser is signed in, and can sign out
	Waiting int  // how many gates wait for the caller
	Path    string
}

// May reports whether the caller has a scope.
func (f frame) May(s call.Scope) bool { return slices.Contains(f.Scopes, s) }

//go:embed templates/*.html
var templateFiles embed.FS

// views has the templates by name, each with the layout around it.
type views map[string]*template.Template

func newViews(a assets) views {
	layout := template.Must(template.New("layout").Funcs(functions(a)).ParseFS(templateFiles, "templates/layout.html", "templates/_*.html"))
	files, _ := fs.Glob(templateFiles, "templates/[a-z]*.html") // the pattern is valid
	out := views{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name != "layout" {
			out[name] = template.Must(template.Must(layout.Clone()).ParseFS(templateFiles, file))
		}
	}
	return out
}

func functions(a assets) template.FuncMap {
	return template.FuncMap{
		"asset":      a.url,
		"lookOf":     shown.LookOf,
		"planner":    func(o *opt.Objective) string { p, _ := o.Metadata.String(opt.KeyPlanner); return p },
		"look":       shown.LookOfTask[opt.TaskState],
		"planLook":   shown.LookOfPlan,
		"within":     func(path, section string) bool { return path == section || strings.HasPrefix(path, section+"/") },
		"console":    func(path string) string { return Path + path },
		"visible":    a2a.Visible,
		"name":       shown.Name,
		"quoted":     shown.Quoted,
		"shorten":    shorten,
		"excerpt":    beginningText,
		"grouped":    opt.Grouped,
		"used":       wire.UsageOf,
		"took":       func(seconds float64) string { return durationText(int64(1000 * seconds)) },
		"reason":     shown.KnownReason,
		"reasonText": shown.ReasonText,
		"data":       a2a.DataText,
		"key":        keyOf,
		"page":       pageOf,
		"width":      func(share float64) int { return int(100 * min(1, share)) },
		"inbox":      gatePath,
		"standing":   newStandingPath,
		"since":      sinceText,
		"percent":    func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) },
		"askedOf":    askedOf,
		"ahead":      gateform.Ahead,
		"taken":      func(step opt.StepKind) string { return stepsTaken[step] },
		"question":   questionOf,
		"counts":     countsText,
		"said":       func(answer json.RawMessage) string { return shownText(a2a.DataText(answer)) },
		"times":      func(r rehearse.Range[time.Duration]) string { return r.Text(sinceText) },
		"costs":      func(r rehearse.Range[opt.Money]) string { return r.Text(opt.Money.String) },
		"states":     func() []shown.Kind { return shown.Kinds },
		"statuses":   func() []opt.ObjectiveStatus { return opt.ObjectiveStatuses },
		"statusLook": lookOfStatus,
		"playbook":   func(planner string) string { return strings.TrimPrefix(planner, "playbook ") },
		"part":       func(n, of int) int { return 100 * n / max(1, of) },
		"sum":        func(a, b int) int { return a + b },
		"gate":       func(g *opt.Gate) string { return shown.Name(shown.Title(g)) },
		"titled":     gateTitle,
		"gist":       shown.Gist,
		"people":     shown.People,
	}
}

func sinceText(d time.Duration) string {
	d = d.Round(time.Second)
	return cmp.Or(shown.When(d == 0, "0 s"), durationText(d.Milliseconds()))
}

// askedOf returns who can answer after a step, "" if it asks no one.
func askedOf(a rehearse.Ask) string {
	return shown.When(a.Step != opt.Remind && a.Step != opt.Expire, cmp.Or(shown.Who(a.Of), "everyone"))
}

// eventsOf returns the id of the task whose events report the changes of o, "" if o has ended.
func eventsOf(o *opt.Objective) string {
	return shown.When(!o.Settled(), o.RootID())
}

// refreshEvery is after how many seconds a page about an objective may have changed
// without an event of its stream: places in a queue, and attempts.
const refreshEvery = 15

// assetPath is the path of the script, the styles and the images, before their names.
const assetPath = Path + "/assets/"

//go:embed assets/*
var assetFiles embed.FS

// assets serves these files. Their version changes with any of them, so browsers may keep them.
type assets struct {
	version string
	files   http.Handler
}

func newAssets() assets {
	sum := sha256.New()
	files, _ := fs.Glob(assetFiles, "assets/*") // the pattern is valid
	for _, file := range files {
		data, _ := assetFiles.ReadFile(file) // it is embedded
		sum.Write(data)
	}
	all, _ := fs.Sub(assetFiles, "assets") // it is there
	return assets{hex.EncodeToString(sum.Sum(nil)[:6]), http.StripPrefix(assetPath, http.FileServerFS(all))}
}

func (a assets) url(name string) string { return assetPath + name + "?v=" + a.version }

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == a.version {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	a.files.ServeHTTP(w, r)
}

// A problem says why a request was refused, and what to do.
type problem struct {
	Status      int
	Title, Text string
}

func (p problem) view() view {
	return view{Status: p.Status, Template: "problem", Title: p.Title, Data: p}
}

// problems are what people read about faults, with their messages in them. They do not quote internals.
var problems = map[call.Kind]problem{
	call.Unauthenticated: {http.StatusUnauthorized, "You are not signed in", "Sign in and try again."},
	call.Forbidden:       {http.StatusForbidden, "You may not do this", "{message}."},
	call.NotFound:        {http.StatusNotFound, "Not found", "It does not exist, or it was removed, or it is not yours to see."},
	call.InvalidParams:   {http.StatusBadRequest, "This cannot be used", "{message}."},
	call.InvalidState:    {http.StatusConflict, "Too late for this", "{message}. The page shows the present state."},
	call.QueueFull:       {http.StatusServiceUnavailable, "The queue is full", "Too much work waits in this context. Try again later."},
	call.QuotaExceeded:   {http.StatusTooManyRequests, "Too much is in use", "{message}."},
	call.RateLimited:     {http.StatusTooManyRequests, "Too many requests", "Try again in a moment."},
	call.Unavailable:     {http.StatusServiceUnavailable, "Not available", "Try again in a moment. What you sent may have been recorded: look before you send it again."},
}

// alike are the kinds of faults about which people read the same as about another kind.
var alike = map[call.Kind]call.Kind{
	call.TaskNotFound: call.NotFound, call.InvalidRequest: call.InvalidParams, call.Parse: call.InvalidParams, call.Unsupported: call.InvalidState, call.NotCancelable: call.InvalidState,
}

func problemOf(f *call.Fault) problem {
	p, known := problems[cmp.Or(alike[f.Kind], f.Kind)]
	if !known {
		return problem{http.StatusInternalServerError, "Something went wrong", "Try again later. The log of the server has the reason."}
	}
	if p.Text = strings.ReplaceAll(p.Text, "{message}", f.Message); len(f.Violations) > 0 {
		p.Text = strings.Join(each(f.Violations, func(v call.Violation) string { return v.Field + " " + v.Description + "." }), " ")
	}
	return p
}
