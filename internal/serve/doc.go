// Package serve puts the processes together that serve A2A and do the work.
//
// process.go has the commands api, worker, dev and temporal: each checks its settings and makes
// a list of parts (part.go), which a host (host.go) starts, watches, drains and stops. All processes begin
// with the ground (ground.go): clients for URLs of others (reach.go), channels for notices
// (notice.go), models, executors and playbooks (planning.go), the journal (store.go) and
// Temporal. An API adds the parts of api.go, with listen.go, servers.go and schedule_keeper.go; a
// worker that of worker.go; dev both, and a Temporal server.
//
// check.go has the command check, which starts only the parts that read files.
//
// Settings are structs of flags, beside the code that they are for, else in settings.go. build.go
// has the seam for programs of others.
package serve
