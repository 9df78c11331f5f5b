package console

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/gateform"
	"longhaul/opt"
	"longhaul/opt/rehearse"
	"longhaul/opt/shown"
	"longhaul/opt/wire"
)

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

// functions are the functions of the templates.
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
		"name":       nameText,
		"quoted":     quoted,
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
		"gate":       func(g *opt.Gate) string { return nameText(titleOfGate(g)) },
		"titled":     gateTitle,
		"gist":       gistOf,
		"people":     peopleText,
	}
}

// sinceText returns a time since the begin.
func sinceText(d time.Duration) string {
	if d = d.Round(time.Second); d == 0 {
		return "0 s"
	}
	return durationText(d.Milliseconds())
}

// askedOf returns who can answer after a step, "" if it asks no one.
func askedOf(a rehearse.Ask) string {
	if a.Step == opt.Remind || a.Step == opt.Expire {
		return ""
	}
	return cmp.Or(shown.Who(a.Of), "everyone")
}

// eventsOf returns the id of the task whose events report the changes of o, "" if o has
// ended.
func eventsOf(o *opt.Objective) string {
	if o.Settled() {
		return ""
	}
	return o.RootID()
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

// url returns the URL of an asset.
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

// view returns the page of p.
func (p problem) view() view {
	return view{Status: p.Status, Template: "problem", Title: p.Title, Data: p}
}

// problemOf returns what people read about a fault. It does not quote internals.
func problemOf(f *call.Fault) problem {
	switch f.Kind {
	case call.Unauthenticated:
		return problem{http.StatusUnauthorized, "You are not signed in", "Sign in and try again."}
	case call.Forbidden:
		return problem{http.StatusForbidden, "You may not do this", f.Message + "."}
	case call.NotFound, call.TaskNotFound:
		return problem{http.StatusNotFound, "Not found", "It does not exist, or it was removed, or it is not yours to see."}
	case call.InvalidParams, call.InvalidRequest, call.Parse:
		mistakes := each(f.Violations, func(v call.Violation) string { return v.Field + " " + v.Description + "." })
		return problem{http.StatusBadRequest, "This cannot be used", cmp.Or(strings.Join(mistakes, " "), f.Message+".")}
	case call.InvalidState, call.Unsupported, call.NotCancelable:
		return problem{http.StatusConflict, "Too late for this", f.Message + ". The page shows the present state."}
	case call.QueueFull:
		return problem{http.StatusServiceUnavailable, "The queue is full", "Too much work waits in this context. Try again later."}
	case call.QuotaExceeded:
		return problem{http.StatusTooManyRequests, "Too much is in use", f.Message + "."}
	case call.RateLimited:
		return problem{http.StatusTooManyRequests, "Too many requests", "Try again in a moment."}
	case call.Unavailable:
		return problem{http.StatusServiceUnavailable, "Not available", "Try again in a moment. What you sent may have been recorded: look before you send it again."}
	}
	return problem{http.StatusInternalServerError, "Something went wrong", "Try again later. The log of the server has the reason."}
}
