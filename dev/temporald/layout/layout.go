// Package layout has the static configuration of a Temporal server whose services run in
// one process: the embedded one, and that of tests which have a Temporal as operators run it.
package layout

import (
	"net/netip"
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/primitives"
)

// ClusterName is the name that upstream's tools give to a cluster without peers.
// It is stored in the namespace, so it never changes.
const ClusterName = "active"

// Services are the addresses of the four services.
type Services map[primitives.ServiceName]netip.AddrPort

// Names are those of the services. Only the frontend is for clients.
var Names = []primitives.ServiceName{primitives.FrontendService, primitives.HistoryService, primitives.MatchingService, primitives.WorkerService}

// Frontend returns the address for clients.
func (s Services) Frontend() netip.AddrPort { return s[primitives.FrontendService] }

// Hosts returns the addresses of all services for each of them. This replaces the gossip
// protocol, which would take ports and a second at the start.
func (s Services) Hosts() map[primitives.ServiceName]static.Hosts {
	all := make(map[primitives.ServiceName]static.Hosts)
	for name, at := range s {
		all[name] = static.SingleLocalHost(at.String())
	}
	return all
}

// Config returns a configuration with two databases, in which nothing is archived. The number
// of shards is fixed for the life of the databases.
func (s Services) Config(main, visibility *config.SQL, shards int32) *config.Config {
	services := make(map[string]config.Service)
	for name, at := range s {
		services[string(name)] = config.Service{
			RPC: config.RPC{GRPCPort: int(at.Port()), BindOnIP: at.Addr().String()},
		}
	}
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     "main",
			VisibilityStore:  "visibility",
			NumHistoryShards: shards,
			DataStores:       map[string]config.DataStore{"main": {SQL: main}, "visibility": {SQL: visibility}},
		},
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: s.Frontend().Addr().String()},
			Metrics:    &metrics.Config{},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        ClusterName,
			CurrentClusterName:       ClusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				ClusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: s.Frontend().String()},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: s.Frontend().String()},
		Archival: config.Archival{
			History:    config.HistoryArchival{State: "disabled"},
			Visibility: config.VisibilityArchival{State: "disabled"},
		},
		NamespaceDefaults: config.NamespaceDefaults{
			Archival: config.ArchivalNamespaceDefaults{
				History:    config.HistoryArchivalNamespaceDefaults{State: "disabled"},
				Visibility: config.VisibilityArchivalNamespaceDefaults{State: "disabled"},
			},
		},
		Services: services,
	}
}
