package cluster

import (
	"net/netip"
	"testing"

	"go.temporal.io/server/common/authorization"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/dynamicconfig"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql"
	"go.temporal.io/server/temporal"
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"

	"longhaul/dev/e2e/harness"
	"longhaul/dev/temporald/layout"
	"longhaul/internal/freeport"
	"longhaul/internal/pgserver"
	"longhaul/internal/test"
)

// serverName is a name in the certificate of the server.
const serverName = "temporal.test"

const (
	mainSchema       = "postgresql/v12/temporal"
	visibilitySchema = "postgresql/v12/visibility"
	shards           = 4
)

// startServer starts Temporal on a database server, and returns the address of its
// frontend.
func (c *Cluster) startServer(t testing.TB, database *pgserver.Server) string {
	t.Helper()
	main, err := createDatabase(database, "temporal", mainSchema)
	test.OK(t, err)
	visibility, err := createDatabase(database, "temporal_visibility", visibilitySchema)
	test.OK(t, err)
	at := layout.Services{}
	for _, name := range layout.Names {
		at[name] = netip.MustParseAddrPort(harness.FreeAddr(t))
	}
	cfg := at.Config(main, visibility, shards)
	cfg.Global.TLS = c.encryption(t)
	server, err := temporal.NewServer(append(serverOptions(at, cfg),
		temporal.WithAuthorizer(authorization.NewDefaultAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return c.roles }),
	)...)
	test.OK(t, err)
	test.OK(t, server.Start())
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Errorf("stop Temporal: %v", err)
		}
	})
	return at.Frontend().String()
}

// serverOptions are those of all servers.
func serverOptions(at layout.Services, cfg *config.Config) []temporal.ServerOption {
	return []temporal.ServerOption{
		temporal.WithConfig(cfg),
		temporal.ForServices(temporal.DefaultServices),
		temporal.WithStaticHosts(at.Hosts()),
		temporal.WithDynamicConfigClient(dynamicconfig.StaticClient{
			dynamicconfig.EnableServerVersionCheck.Key():                     false, // it must not contact its vendor
			dynamicconfig.FrontendMaxNamespaceVisibilityRPSPerInstance.Key(): 1000,  // of 10: tests look often, and would use up what the programs need
		}),
		temporal.WithLogger(log.NewNoopLogger()),
		temporal.WithCustomMetricsHandler(metrics.NoopMetricsHandler),
	}
}

// encryption makes the frontend accept only clients with a certificate.
func (c *Cluster) encryption(t testing.TB) config.RootTLS {
	cert, key := c.issuer.Issue(t, "frontend")
	systemCert, systemKey := c.issuer.Issue(t, systemName)
	toServer := config.ClientTLS{ServerName: serverName, RootCAFiles: []string{c.CA}}
	return config.RootTLS{
		Frontend: config.GroupTLS{
			Server: config.ServerTLS{CertFile: cert, KeyFile: key, ClientCAFiles: []string{c.CA}, RequireClientAuth: true},
			Client: toServer,
		},
		SystemWorker: config.WorkerTLS{CertFile: systemCert, KeyFile: systemKey, Client: toServer},
	}
}

// Plain starts Temporal on a database server, for every caller and without encryption, and
// returns the address of its frontend.
func Plain(database *pgserver.Server) (addr string, stop func() error, err error) {
	at := layout.Services{}
	for _, name := range layout.Names {
		if at[name], err = freeport.Addr(); err != nil {
			return "", nil, err
		}
	}
	main, err := createDatabase(database, "temporal", mainSchema)
	if err != nil {
		return "", nil, err
	}
	visibility, err := createDatabase(database, "temporal_visibility", visibilitySchema)
	if err != nil {
		return "", nil, err
	}
	server, err := temporal.NewServer(append(serverOptions(at, at.Config(main, visibility, shards)),
		temporal.WithAuthorizer(authorization.NewNoopAuthorizer()),
		temporal.WithClaimMapper(func(*config.Config) authorization.ClaimMapper { return authorization.NewNoopClaimMapper() }),
	)...)
	if err != nil {
		return "", nil, err
	}
	return at.Frontend().String(), server.Stop, server.Start()
}

// createDatabase creates a database with the server's own schema, by its own tool.
func createDatabase(at *pgserver.Server, name, schemaName string) (*config.SQL, error) {
	cfg := func(database string) *config.SQL {
		return &config.SQL{
			PluginName: postgresql.PluginNamePGX, ConnectAddr: at.Addr(), ConnectProtocol: "tcp", User: pgserver.User, DatabaseName: database, MaxConns: 20,
		}
	}
	if err := sql.DoCreateDatabase(cfg(name), "postgres", log.NewNoopLogger()); err != nil {
		return nil, err
	}
	connection, err := sql.NewConnection(cfg(name), log.NewNoopLogger())
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := schema.NewSetupSchemaTask(connection, &schema.SetupConfig{InitialVersion: "0.0"}, log.NewNoopLogger()).Run(); err != nil {
		return nil, err
	}
	return cfg(name), schema.NewUpdateSchemaTask(connection, &schema.UpdateConfig{SchemaName: schemaName}, log.NewNoopLogger()).Run()
}
