package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"

	"longhaul/opt"
)

// DialConfig says where Temporal is.
type DialConfig struct {
	Addr       string
	Namespace  string
	Connection client.Options                  // TLS, credentials, headers; its other fields do not count. The zero value has none
	Local      bool                            // on this machine, so messages are not compressed
	Log        log.Logger                      // nil keeps the SDK's own
	Metrics    client.MetricsHandler           // nil discards the SDK's metrics
	Traces     []interceptor.ClientInterceptor // that carry traces; nil for none
	Blobs      Blobs                           // nil keeps every payload in the histories
	Cipher     Cipher                          // nil encrypts nothing
	Calls      Calls                           // nil for none
	Last       RecordFunc                      // for the last events of plans and objectives; nil leaves them to objectives and the reconciler
	Late       func([]opt.Batch)               // takes those of an objective that the journal has not taken; nil leaves them to the reconciler
	Adjust     func(*client.Options)           // nil leaves the options as they are
}

// workerHeartbeats is how often workers say how busy they are.
const workerHeartbeats = 10 * time.Second

// Calls sees the calls to Temporal.
type Calls = grpc.UnaryClientInterceptor

// Dial connects to Temporal. It does not wait for Temporal: calls fail until
// Temporal is available.
func Dial(cfg DialConfig) (client.Client, error) {
	options := client.Options{
		HostPort: cfg.Addr, Namespace: cfg.Namespace, Logger: cfg.Log, MetricsHandler: cfg.Metrics, Interceptors: cfg.Traces, ExternalStorage: externalStorage(cfg.Blobs, cfg.Cipher),
		DataConverter: NewDataConverter(cfg.Cipher), FailureConverter: NewFailureConverter(cfg.Cipher),
		WorkerHeartbeatInterval: workerHeartbeats, ConnectionOptions: cfg.Connection.ConnectionOptions, Credentials: cfg.Connection.Credentials, HeadersProvider: cfg.Connection.HeadersProvider,
	}
	options.ConnectionOptions.DialOptions = append(slices.Clone(options.ConnectionOptions.DialOptions), grpc.WithChainUnaryInterceptor(carryHeartbeats()))
	if cfg.Calls != nil {
		options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(cfg.Calls))
	}
	if cfg.Last != nil {
		last := &finalRecorder{record: cfg.Last, late: cfg.Late, reader: payloadReader{options.DataConverter, blobDriver{cfg.Blobs, codec{cfg.Cipher}}}}
		options.ConnectionOptions.DialOptions = append(options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(last.interceptor()))
	}
	if cfg.Local {
		options.ConnectionOptions.GrpcCompression = &client.GrpcCompressionNone{}
	}
	if cfg.Metrics != nil {
		for _, name := range []string{skippedSignals, unreadablePayloads} { // shown as 0 before the first one, so that alerts see it
			cfg.Metrics.Counter(name).Inc(0)
		}
	}
	if cfg.Adjust != nil {
		cfg.Adjust(&options)
	}
	c, err := client.NewLazyClient(options)
	if err != nil {
		return nil, fmt.Errorf("dial Temporal at %s: %w", cfg.Addr, err)
	}
	return c, nil
}
