// Command starts the services of docker-compose.yml as plain processes; see package
// topology. It is what scripts/topology runs.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"longhaul/dev/topology"
)

const usage = `Usage: scripts/topology up [--scale SERVICE=N]...
       scripts/topology logs PROCESS

up starts the services of docker-compose.yml as plain processes on this machine, with
new data, until Ctrl-C, and says which process is down. The demo skills are on, unless
LONGHAUL_ECHO=false. PostgreSQL and Caddy must be installed. logs follows the log of a
process of the topology that runs, such as worker-2.`

// url is where the file publishes A2A.
const url = "http://127.0.0.1:7420"

// startLimit bounds the start, without the time for building.
const startLimit = 15 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "topology:", err)
		os.Exit(1)
	}
}

// run runs until ctx ends.
func run(ctx context.Context, args []string, out io.Writer) error {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		fmt.Fprintln(out, usage)
		return nil
	}
	if len(args) == 2 && args[0] == "logs" {
		return topology.FollowLog(ctx, args[1], out)
	}
	if len(args) == 0 || args[0] != "up" {
		return errors.New("say what to do: scripts/topology --help shows it")
	}
	scale, err := parseScales(args[1:])
	if err != nil {
		return err
	}
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	fmt.Fprintln(out, "Building and starting; the first time takes some minutes.")
	echo := cmp.Or(os.Getenv("LONGHAUL_ECHO"), "true") // which the file takes from the environment, too
	options := topology.Options{Scale: scale, Publish: true, Log: out, Env: map[string][]string{topology.Longhaul: {"LONGHAUL_ECHO=" + echo}}}
	t, err := topology.Start(starting, options)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	fmt.Fprintf(out, "\nA2A %[1]s, gRPC 127.0.0.1:7421, console %[1]s/console/\nTemporal %[2]s, namespace longhaul\n%[3]s\nLogs %[4]s/logs; to follow one: scripts/topology logs worker-1\n",
		url, t.Addr("temporal", 7233), t.Addresses(), t.Dir())
	if echo == "true" {
		fmt.Fprintln(out, "Try it: go run ./cmd/longhaul send 'Research tea and write an article'")
	}
	fmt.Fprintln(out, "Ctrl-C stops everything and removes its data.")
	<-ctx.Done()
	fmt.Fprintln(out, "Stopping")
	return t.Stop()
}

// parseScales returns the number of processes by service, from the flags.
func parseScales(args []string) (map[string]int, error) {
	scale := map[string]int{}
	for i := 0; i < len(args); i++ {
		value, found := strings.CutPrefix(args[i], "--scale=")
		if args[i] == "--scale" && i+1 < len(args) {
			i++
			value, found = args[i], true
		}
		service, number, _ := strings.Cut(value, "=")
		n, err := strconv.Atoi(number)
		if !found || err != nil || n < 0 || n > 100 {
			return nil, fmt.Errorf("%q is not --scale SERVICE=N\n%s", args[i], usage)
		}
		scale[service] = n
	}
	return scale, nil
}
