package temporald

import (
	"time"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
)

// unlimited is a rate that one process never reaches: limits protect shared
// clusters from their tenants, and here there is one tenant.
const unlimited = 100_000

// settings are the dynamic settings that differ from Temporal's defaults. Most
// defaults are made for many shards on many machines; the effects were measured
// on one machine with one shard.
func settings() dynamicconfig.StaticClient {
	return dynamicconfig.StaticClient{
		// Latency. A queue of one shard is polled 20 times a second by default, which makes every hop
		// between workflow and activity cost up to 50 ms. More polling than this means less batching.
		dynamicconfig.TransferProcessorMaxPollRPS.Key():   500,
		dynamicconfig.TimerProcessorMaxPollRPS.Key():      200,
		dynamicconfig.TimerProcessorMaxTimeShift.Key():    50 * time.Millisecond, // default 1s, which delays each retry
		dynamicconfig.VisibilityProcessorMaxPollRPS.Key(): 20,                    // lists may lag by 50 ms; more polling costs throughput

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

		// A range of tasks has the predicate of all while one is pending. With a narrower one it does not merge
		// with the range after it, and each poll goes through all tasks in memory: 17 % of the processor time
		// with 4,000 open gates.
		dynamicconfig.QueueShrinkPredicateMaxPendingKeys.Key(): 0,

		// Nothing uses this feature, for which each event is searched: 5 % of the processor time under load.
		dynamicconfig.ExternalPayloadsEnabled.Key(): false,

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

// sqlConfig is the configuration of one database. More than one connection
// makes SQLite answer "database is locked" under load, and halves the rate.
func sqlConfig(name string, attributes map[string]string) *config.SQL {
	return &config.SQL{PluginName: sqlite.PluginName, DatabaseName: name, MaxConns: 1, ConnectAttributes: attributes}
}
