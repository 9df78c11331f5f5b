package temporald

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"reflect"
	"strings"
	"time"

	"github.com/temporalio/ui-server/v2/server"
	"github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/server_options"
)

// startUI starts the Web UI at an address, for the server at another one, and returns
// its URL. It does not use the internet.
func startUI(at, frontend netip.AddrPort, namespace string) (url string, stop func() error, err error) {
	ui := server.NewServer(server_options.WithConfigProvider(&config.Config{
		TemporalGRPCAddress: frontend.String(),
		EnableUI:            true,
		DefaultNamespace:    namespace,
		CORS:                config.CORS{CookieInsecure: true}, // plain HTTP, but it never leaves the machine
		DisableNewsFetch:    true,
		NotifyOnNewVersion:  false,
		HideLogs:            true,
	}))

	pages, err := handler(ui)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", at.String())
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: own(pages), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	return "http://" + at.String(), func() error {
		err := s.Close()
		<-served
		return err
	}, nil
}

// handler returns the handler of a UI server, which has no setting for the check of own, and
// else listens by itself. A proxy in front of it would leave its own port open.
func handler(ui *server.Server) (http.Handler, error) {
	field := reflect.ValueOf(ui).Elem().FieldByName("httpServer")
	if field.IsValid() {
		if h, ok := reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem().Interface().(http.Handler); ok {
			return h, nil
		}
	}
	return nil, errors.New("the UI server of this version has no handler")
}

// own refuses requests to the host names of others: a page can make its own resolve to this
// machine, and would then have all that the UI may do.
func own(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
			http.Error(w, http.StatusText(http.StatusMisdirectedRequest), http.StatusMisdirectedRequest)
			return
		}
		pages.ServeHTTP(w, r)
	})
}
