// Package topology starts what docker-compose.yml describes without containers: each
// service as a plain process on loopback. "scripts/topology up" and tests use it.
//
// The file is read with the loader of Compose. Each image is replaced by programs of this
// machine: ours and Temporal's are built from the versions in go.mod, PostgreSQL
// and Caddy must be installed. Images that are not in the table, such as Grafana's,
// are left out.
//
// Commands, environments and health checks are taken as they stand. Each process
// gets an address of its own in 127.0.0.0/8, so that it may use the ports of the
// file, and several topologies run at a time; names of services and paths of mounts are
// replaced where they occur. All addresses of this block exist on Linux only.
//
// [Start] starts everything in the order of the dependencies. A [Process] that ends
// by itself is started again as its restart policy says; one that was ended by
// [Process.Kill] or [Process.Stop] stays down until [Process.Start].
package topology
