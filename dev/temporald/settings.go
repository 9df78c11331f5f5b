package temporald

import (
	"time"

	"go.temporal.io/server/common/cluster"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/membership/static"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	"go.temporal.io/server/common/primitives"
)

// unlimited is a rate that one process never reaches: limits protect shared
// clusters from their tenants, and here there is one tenant.
const unlimited = 100_000

// clusterName is the name that upstream's tools give to a cluster without peers.
// It is stored in the namespace, so it never changes.
const clusterName = "active"

// settings are the dynamic settings that differ from Temporal's defaults. Most
// defaults are made for many shards on many machines; the effects were measured
// on one machine with one shard.
func settings() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// Latency. A queue of one shard is polled 20 times a second by default, which makes every hop
		// between workflow and activity cost up to 50 ms. More polling than this means less batching.
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   500,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      200,
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 20, // lists may lag by 50 ms; more polling costs throughput

		// One partition: with the default four and few pollers, one task in ten waits 70 to 100 ms for a forward.
		dynamicconfig.MatchingNumTaskqueueReadPartitions.Key():  1,
		dynamicconfig.MatchingNumTaskqueueWritePartitions.Key(): 1,

		// Default 1s, paid by every continue-as-new and by every reuse of a workflow ID.
		dynamicconfig.WorkflowIdReuseMinimalInterval.Key(): time.Duration(0),

		// With fast hops about 1 % of long polls for a workflow's end miss their wake-up (an upstream race)
		// and answer only when the poll expires: 20 s by default.
		dynamicconfig.HistoryLongPollExpirationInterval.Key(): 2 * time.Second,

		// Rate limits. The one for lists is 10 a second by default, which one open Web UI can reach.
		dynamicconfig.FrontendRPS.Key():                                  unlimited,
		dynamicconfig.FrontendMaxNamespaceRPSPerInstance.Key():           unlimited,
		dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): unlimited,
		dynamicconfig.HistoryRPS.Key():                                   unlimited,
		dynamicconfig.MatchingRPS.Key():                                  unlimited,

		// Updates per workflow run. Raised, not lifted: the total also drives "continue-as-new suggested".
		dynamicconfig.WorkflowExecutionMaxInFlightUpdates.Key(): 1_000,  // default 10
		dynamicconfig.WorkflowExecutionMaxTotalUpdates.Key():    10_000, // default 2000

		// Memory: the default of 128000 cached workflows lets the process grow to 2 GB, at no gain in speed.
		dynamicconfig.HistoryCacheHostLevelMaxSize.Key(): 2_048,

		// Fairness keys have no effect without it, also in 1.32.
		dynamicconfig.MatchingEnableFairness.Key(): true,

		// System workers that upstream starts and never stops: after Stop they
		// would poll a dead address for the life of the process, and Stop would
		// wait a second for their polls. The scanners remove, twice a day, rows of
		// unused task queues, some hundred bytes each. Without its worker, a
		// parent's close policy is applied to the children by the queue itself.
		dynamicconfig.TaskQueueScannerEnabled.Key():       false,
		dynamicconfig.HistoryScannerEnabled.Key():         false,
		dynamicconfig.EnableParentClosePolicyWorker.Key(): false,

		// The server must not contact its vendor.
		dynamicconfig.EnableServerVersionCheck.Key(): false,
	}
}

// serverConfig is the static configuration of the four services.
func serverConfig(s stores, at addrs) *config.Config {
	const main, visibility = "main", "visibility"
	return &config.Config{
		Persistence: config.Persistence{
			DefaultStore:     main,
			VisibilityStore:  visibility,
			NumHistoryShards: 1, // fixed for the life of the files; more were not faster
			DataStores: map[string]config.DataStore{
				main:       {SQL: s.main},
				visibility: {SQL: s.visibility},
			},
		},
		Global: config.Global{
			Membership: config.Membership{MaxJoinDuration: 30 * time.Second, BroadcastAddress: at.frontend.Addr().String()},
			Metrics:    &metrics.Config{},
		},
		ClusterMetadata: &cluster.Config{
			FailoverVersionIncrement: 10,
			MasterClusterName:        clusterName,
			CurrentClusterName:       clusterName,
			ClusterInformation: map[string]cluster.ClusterInformation{
				clusterName: {Enabled: true, InitialFailoverVersion: 1, RPCAddress: at.frontend.String()},
			},
		},
		DCRedirectionPolicy: config.DCRedirectionPolicy{Policy: "noop"},
		PublicClient:        config.PublicClient{HostPort: at.frontend.String()},
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
		Services: at.services(),
	}
}

// services returns the addresses at which the services listen.
func (a addrs) services() map[string]config.Service {
	all := make(map[string]config.Service)
	for name, at := range a.byService() {
		all[string(name)] = config.Service{
			RPC: config.RPC{GRPCPort: int(at.Port()), BindOnIP: at.Addr().String()},
		}
	}
	return all
}

// hosts returns the addresses of all services for each of them. This replaces the gossip
// protocol, which would take ports and a second at the start.
func (a addrs) hosts() map[primitives.ServiceName]static.Hosts {
	all := make(map[primitives.ServiceName]static.Hosts)
	for name, at := range a.byService() {
		all[name] = static.SingleLocalHost(at.String())
	}
	return all
}

// sqlConfig is the configuration of one database. More than one connection
// makes SQLite answer "database is locked" under load, and halves the rate.
func sqlConfig(name string, attributes map[string]string) *config.SQL {
	return &config.SQL{PluginName: sqlite.PluginName, DatabaseName: name, MaxConns: 1, ConnectAttributes: attributes}
}
