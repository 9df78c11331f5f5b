package process

import (
	"encoding/json"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// An End says why a process with an API has ended with an error. It is kept in the data
// directory, so that commands which find nothing at its address can say so.
type End struct {
	Addr   string    `json:"addr"` // of its API
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`
}

func endFile(dir string) string { return filepath.Join(dir, "ended.json") }

// Keep stores e in a data directory. Without the directory, or room, nothing is kept.
func (e End) Keep(dir string) {
	if raw, err := json.Marshal(e); err == nil && os.MkdirAll(dir, 0o700) == nil {
		_ = os.WriteFile(endFile(dir), raw, 0o600)
	}
}

// ForgetEnd removes what Keep has stored: a process starts.
func ForgetEnd(dir string) { _ = os.Remove(endFile(dir)) }

// EndOf returns the end of the process on this machine whose API was at a URL; ok is false if
// none is kept.
func EndOf(dir, agentURL string) (e End, ok bool) {
	raw, err := os.ReadFile(endFile(dir))
	u, wrong := url.Parse(agentURL)
	if err != nil || wrong != nil || json.Unmarshal(raw, &e) != nil || !IsLocal(u.Host) {
		return End{}, false
	}
	_, port, err := net.SplitHostPort(e.Addr)
	return e, err == nil && port == u.Port()
}
