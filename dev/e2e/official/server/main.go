// Server runs the agent of package official at an address.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"longhaul/dev/e2e/official"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:7421", "address to listen at")
	flag.Parse()
	server := &http.Server{Addr: *addr, Handler: official.Handler("http://" + *addr + "/"), ReadHeaderTimeout: 10 * time.Second}
	fmt.Fprintln(os.Stderr, server.ListenAndServe())
	os.Exit(1)
}
