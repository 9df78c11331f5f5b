package temporald

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	persistencespb "go.temporal.io/server/api/persistence/v1"
	"go.temporal.io/server/common"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	"go.temporal.io/server/common/metrics"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql"
	"go.temporal.io/server/common/primitives"
	"go.temporal.io/server/common/resolver"
	"go.temporal.io/server/common/searchattribute/sadefs"
	"google.golang.org/protobuf/types/known/durationpb"

	"longhaul/dev/temporald/layout"
)

// ensureNamespace makes the namespace of cfg, or gives an existing one the
// retention and the search attributes of cfg.
//
// It writes to the store of a server that is not running yet. A change through
// the API of a running server would reach each service up to two seconds later,
// when it next reads the namespaces, and there is no way to wait for that.
func ensureNamespace(ctx context.Context, db *config.SQL, cfg Config) error {
	factory := sql.NewFactory(*db, resolver.NewNoopResolver(), layout.ClusterName, log.NewNoopLogger(),
		metrics.NoopMetricsHandler, serialization.NewSerializer())
	defer factory.Close()
	store, err := factory.NewMetadataStore()
	if err != nil {
		return err
	}
	m := persistence.NewMetadataManagerImpl(store, serialization.NewSerializer(), log.NewNoopLogger(), layout.ClusterName)

	old, err := m.GetNamespace(ctx, &persistence.GetNamespaceRequest{Name: cfg.Namespace})
	if missing := new(serviceerror.NamespaceNotFound); errors.As(err, &missing) {
		detail := newNamespace(cfg.Namespace)
		if _, err := applyConfig(detail.Config, cfg); err != nil {
			return err
		}
		_, err := m.CreateNamespace(ctx, &persistence.CreateNamespaceRequest{Namespace: detail})
		return err
	}
	if err != nil {
		return err
	}

	changed, err := applyConfig(old.Namespace.Config, cfg)
	if err != nil || !changed {
		return err
	}
	meta, err := m.GetMetadata(ctx)
	if err != nil {
		return err
	}
	return m.UpdateNamespace(ctx, &persistence.UpdateNamespaceRequest{
		Namespace: old.Namespace, IsGlobalNamespace: old.IsGlobalNamespace, NotificationVersion: meta.NotificationVersion,
	})
}

func newNamespace(name string) *persistencespb.NamespaceDetail {
	return &persistencespb.NamespaceDetail{
		Info: &persistencespb.NamespaceInfo{
			Id:    primitives.NewUUID().String(),
			Name:  name,
			State: enumspb.NAMESPACE_STATE_REGISTERED,
		},
		Config: &persistencespb.NamespaceConfig{
			HistoryArchivalState:    enumspb.ARCHIVAL_STATE_DISABLED,
			VisibilityArchivalState: enumspb.ARCHIVAL_STATE_DISABLED,
		},
		ReplicationConfig: &persistencespb.NamespaceReplicationConfig{
			ActiveClusterName: layout.ClusterName,
			Clusters:          []string{layout.ClusterName},
		},
		FailoverVersion:             common.EmptyVersion,
		FailoverNotificationVersion: -1,
	}
}

// applyConfig applies cfg to ns, and reports whether that changed it.
func applyConfig(ns *persistencespb.NamespaceConfig, cfg Config) (changed bool, err error) {
	if ns.Retention.AsDuration() != cfg.Retention {
		ns.Retention = durationpb.New(cfg.Retention)
		changed = true
	}

	fields := sadefs.GetDBIndexSearchAttributes(nil).CustomSearchAttributes // column name to type
	types := make(map[string]enumspb.IndexedValueType)                      // of the attributes ns has
	for field, name := range ns.CustomSearchAttributeAliases {
		types[name] = fields[field]
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.SearchAttributes)) {
		want := cfg.SearchAttributes[name]
		if sadefs.IsReserved(name) {
			return changed, fmt.Errorf("search attribute %s: the name belongs to Temporal", name)
		}
		if has, ok := types[name]; ok {
			if has != want {
				return changed, fmt.Errorf("search attribute %s: is a %v already, cannot become a %v", name, has, want)
			}
			continue
		}
		field, ok := freeField(fields, ns.CustomSearchAttributeAliases, want)
		if !ok {
			return changed, fmt.Errorf("search attribute %s: all columns for a %v are taken", name, want)
		}
		if ns.CustomSearchAttributeAliases == nil {
			ns.CustomSearchAttributeAliases = make(map[string]string)
		}
		ns.CustomSearchAttributeAliases[field] = name
		changed = true
	}
	return changed, nil
}

// freeField finds the first column of a type that has no name yet. The order
// matters: only the first few keyword columns have an index, see keptIndexes.
func freeField(fields map[string]enumspb.IndexedValueType, taken map[string]string, want enumspb.IndexedValueType) (string, bool) {
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if _, used := taken[field]; !used && fields[field] == want {
			return field, true
		}
	}
	return "", false
}
