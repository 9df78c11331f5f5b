package clients_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"longhaul/dev/e2e/harness"
	"longhaul/internal/needs"
)

// A report is how far a page came.
type report struct {
	Card, Sent, Error string
	Events            []string
}

// The official client runs in a page from another origin: it always gets the card, for
// which the browser first asks whether it may send A2A-Version. It may call only if its
// origin was allowed.
func TestBrowser(t *testing.T) {
	chromium := needs.Tool(t, "chromium")
	allowed, other := newPages(t), newPages(t)
	site := harness.NewSite(t, harness.Dev, append(patience, "--origins="+allowed.URL)...)
	site.Start(harness.AllInOne)

	got := allowed.visit(t, chromium, site.URL())
	if got.Card != "Longhaul" || got.Error != "" || !strings.HasPrefix(got.Sent, "obj-") || strings.Join(got.Events, " ") != "task statusUpdate" {
		t.Errorf("the page of an allowed origin reports %+v", got)
	}
	if got := other.visit(t, chromium, site.URL()); got.Card != "Longhaul" || got.Sent != "" || !strings.Contains(got.Error, "Failed to fetch") {
		t.Errorf("the page of another origin reports %+v", got)
	}
}

// pages is a server of the page with the client.
type pages struct {
	*httptest.Server
	reports chan report
}

func newPages(t *testing.T) *pages {
	t.Helper()
	p := &pages{reports: make(chan report, 1)}
	mux := http.NewServeMux()
	modules := filepath.Join(harness.NodePackages(t, filepath.Join("js", "v10")), "node_modules")
	mux.Handle("GET /modules/", http.StripPrefix("/modules/", http.FileServer(http.Dir(modules))))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("js", "browser", "page.html"))
	})
	mux.HandleFunc("POST /report", func(_ http.ResponseWriter, r *http.Request) {
		var got report
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			got.Error = err.Error()
		}
		p.reports <- got
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	return p
}

// visit opens the page in a new browser and returns its report.
func (p *pages) visit(t *testing.T, chromium, agent string) report {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--remote-debugging-port=0", // keeps the browser open
		"--user-data-dir="+t.TempDir(), p.URL+"/?agent="+url.QueryEscape(agent))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) } // with the processes of its pages
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	var got report
	select {
	case got = <-p.reports:
	case <-ctx.Done():
		t.Error("the page reports nothing")
	}
	cancel()
	_ = cmd.Wait() // it was killed
	return got
}
