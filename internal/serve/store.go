package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"longhaul/activities"
	"longhaul/api"
	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/seal"
	"longhaul/internal/signing"
	"longhaul/opt"
)

// dataSettings say where files are.
type dataSettings struct {
	DataDir string `help:"Directory for all data." default:".longhaul" env:"LONGHAUL_DATA_DIR" type:"path" common:""`
}

// Store says where the journal is.
type Store struct {
	dataSettings
	Journal            process.Secret `help:"URL of the PostgreSQL database that keeps the journal, such as postgres://user:password@host:5432/longhaul. All processes need the same. Without it the journal is the file journal.db in the data directory, for processes on one machine." env:"LONGHAUL_JOURNAL" placeholder:"URL" common:""`
	JournalConnections int            `help:"Connections to PostgreSQL that one process makes at the most." default:"10" env:"LONGHAUL_JOURNAL_CONNECTIONS"`
	SecretKeys         process.Secret `help:"Keys that encrypt stored secrets: 32 bytes in base64 each, separated by commas. The first encrypts, all decrypt. All processes need the same. Without any, the key is in the file secret.key in the data directory, which is made when missing; with --journal they are needed." env:"LONGHAUL_SECRET_KEYS" placeholder:"KEYS"`
	EncryptJournal     bool           `help:"Encrypt the contents of the journal with the keys of --secret-keys, or that in secret.key: messages, artifacts, events, names, failures. All processes need the same. See docs/security.md." env:"LONGHAUL_ENCRYPT_JOURNAL"`
}

// JournalConfig returns the configuration of the journal. It makes the directory of a file.
func (s Store) JournalConfig() (journal.Config, error) {
	if s.Journal != "" {
		return journal.Config{URL: string(s.Journal), Connections: s.JournalConnections, Seal: s.EncryptJournal}, nil
	}
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return journal.Config{}, fmt.Errorf("make the data directory: %w", err)
	}
	return journal.Config{Path: filepath.Join(s.DataDir, "journal.db"), Seal: s.EncryptJournal}, nil
}

// Exists reports whether there is a journal: false only if its file is missing.
func (s Store) Exists() bool {
	if s.Journal != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(s.DataDir, "journal.db"))
	return !errors.Is(err, fs.ErrNotExist)
}

// WithJournal calls f with the journal.
func (s Store) WithJournal(p *process.Process, f func(*journal.Journal) error) error {
	cfg, err := s.JournalConfig()
	if err != nil {
		return err
	}
	if !s.lacksKeys() { // without keys, only unencrypted data can be read
		if cfg.Sealer, err = s.sealer(); err != nil {
			return err
		}
	}
	j, err := journal.Open(p.Ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(f(j), j.Close())
}

// Location returns where the journal is, for people.
func (s Store) Location() string {
	if s.Journal != "" {
		return "the journal " + journal.Place(string(s.Journal))
	}
	if path, err := filepath.Abs(s.DataDir); err == nil {
		return "the data directory " + path
	}
	return "the data directory " + s.DataDir
}

// lacksKeys reports whether the keys are missing that all processes of a journal in
// PostgreSQL need.
func (s Store) lacksKeys() bool { return s.Journal != "" && s.SecretKeys == "" }

// sealer returns what encrypts stored secrets: with the keys of the settings, or
// else with those in the data directory.
func (s Store) sealer() (*seal.Box, error) {
	if s.lacksKeys() {
		return nil, process.Usagef("a journal in PostgreSQL needs --secret-keys (LONGHAUL_SECRET_KEYS), with the same value for every process. " +
			"To make a key: head -c 32 /dev/urandom | base64")
	}
	read := func() ([][]byte, error) { return seal.File(filepath.Join(s.DataDir, "secret.key")) }
	if s.SecretKeys != "" {
		read = func() ([][]byte, error) { return seal.Parse(string(s.SecretKeys)) }
	}
	keys, err := read()
	if err != nil {
		return nil, fmt.Errorf("keys for secrets (--secret-keys): %w", err)
	}
	return seal.New(keys...)
}

// A store is the journal of a process, with the keys that are about it.
type store struct {
	stopper
	host     *host
	settings Store
	signs    bool // deliveries
	migrates bool // brings the tables up to date
	alone    bool // no other process serves or works with its file
	notices  *notices

	journal   *journal.Journal
	box       *seal.Box       // encrypts stored secrets
	keys      *signing.Keeper // nil for deliveries that are not signed
	callbacks *callbacks
}

func (s *store) Start(ctx context.Context) error {
	cfg, err := s.settings.JournalConfig()
	if err != nil {
		return err
	}
	if s.box, err = s.settings.sealer(); err != nil {
		return err
	}
	h := s.host
	cfg.Sealer, cfg.Channels, cfg.Log, cfg.Migrate, cfg.Alone = s.box, s.notices.forJournal(), h.log, s.migrates, s.alone
	cfg.Observer = h.metrics
	cfg.Recorded = func(r journal.Recorded) {
		workLog{h.log}.logRecorded(r)
		countUsage(h.metrics, r)
	}
	if s.journal, err = journal.Open(ctx, cfg); err != nil {
		return err
	}
	s.onStop(s.journal.Close)
	h.ops.addCheck("disk", s.journal.Disk.Ready)
	h.caches = append(h.caches, s.journal.Maintenance.Rest)
	s.callbacks = &callbacks{tokens: signing.Callbacks{Box: s.box}, base: s.notices.base()}
	if s.signs {
		s.keys = signing.New(signing.Config{Store: s.journal.SigningKeys})
	}
	addDepthMetrics(h.metrics, s.journal)
	addActivityMetrics(h.metrics, s.journal)
	return nil
}

func (s *store) Name() string                    { return "journal" }
func (s *store) Ready(ctx context.Context) error { return s.journal.Ping(ctx) }

// callbacks makes callback URLs.
type callbacks struct {
	tokens signing.Callbacks
	base   string                 // of the URLs, from --public-url; "" if it is not set
	ownURL atomic.Pointer[string] // base of the API in this process, used if base is ""; nil for none
}

// setOwnURL sets the URL of the API in this process.
func (c *callbacks) setOwnURL(url string) { c.ownURL.Store(&url) }

// URLs implements [activities.Callbacks]. A worker that does not know the URL of the
// API has none.
func (c *callbacks) URLs(w activities.Work) (callback, wake string) {
	base := c.base
	if own := c.ownURL.Load(); base == "" && own != nil {
		base = *own
	}
	if base == "" {
		return "", ""
	}
	ref := opt.CallbackRef{Tenant: w.Tenant, TaskID: w.TaskID, Round: w.Round}
	callback = base + api.CallbackPath + c.tokens.Token(ref)
	ref.Wake = true
	return callback, base + api.CallbackPath + c.tokens.Token(ref)
}
