package temporald

import (
	"database/sql"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
)

// syncEvery is how often files are synced with Config.Sync "normal". Otherwise each commit is.
const syncEvery = time.Second

// keepSynced moves the write-ahead logs of databases that are synced so into these again and again, which syncs
// both, on connections of its own. A failure loses nothing. stop ends it.
func keepSynced(cfg Config) (stop func() error, err error) {
	if cfg.Dir == "" || cfg.Sync != "normal" {
		return func() error { return nil }, nil
	}
	var all []*sql.DB
	for _, name := range []string{mainFile, visibilityFile} {
		db, err := sql.Open("sqlite", "file:"+uriPath(filepath.Join(cfg.Dir, name))+"?mode=rw&_pragma=synchronous="+syncLevels["normal"])
		if err != nil {
			return nil, err
		}
		all = append(all, db)
	}
	quit := make(chan struct{})
	var syncing sync.WaitGroup
	syncing.Go(func() {
		tick := time.NewTicker(syncEvery)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
			}
			for _, db := range all {
				if _, err := db.Exec("PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
					cfg.Log.Warn("Syncing the files of Temporal failed", zap.Error(err))
				}
			}
		}
	})
	return func() error {
		close(quit)
		syncing.Wait()
		return errors.Join(all[0].Close(), all[1].Close())
	}, nil
}
