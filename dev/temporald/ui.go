package temporald

import (
	"context"
	"errors"
	"net/http"

	"github.com/temporalio/ui-server/v2/server"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

// startUI starts the Web UI at at.ui, for the server at at.frontend, and returns
// its URL when it answers. It does not use the internet.
func startUI(ctx context.Context, at addrs, namespace string, down *cleanups) (string, error) {
	host := at.ui.Addr().String()
	if at.ui.Addr().Is6() {
		host = "[" + host + "]" // it is put before ":port" as it is
	}
	ui := server.NewServer(server_options.WithConfigProvider(&config.Config{
		TemporalGRPCAddress: at.frontend.String(),
		Host:                host,
		Port:                int(at.ui.Port()),
		EnableUI:            true,
		DefaultNamespace:    namespace,
		CORS:                config.CORS{CookieInsecure: true}, // plain HTTP, but it never leaves the machine
		DisableNewsFetch:    true,
		NotifyOnNewVersion:  false,
		HideLogs:            true,
	}))

	served := make(chan error, 1)
	go func() { served <- ui.Start() }()
	down.push(func() error {
		ui.Stop()
		return <-served
	})

	url := "http://" + at.ui.String()
	return url, poll(ctx, func() error { return get(ctx, url+"/healthz") })
}

// get reports why a GET of url is not answered with 200.
func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	transport := &http.Transport{DisableKeepAlives: true} // no proxy, and nothing left open
	res, err := transport.RoundTrip(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}
	return nil
}
