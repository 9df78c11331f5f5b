package process

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// The linker sets these in releases. Without it the Go command may have recorded the
// commit, with its time.
var (
	Version = "dev"
	Commit  = ""
	Time    = "" // of the commit, as RFC 3339 has it
)

// A Release says which source a program was built from.
type Release struct {
	Version string
	commit  string // "" if it is not known
	time    string // of the commit, in the form of RFC 3339; "" if it is not known
	changed bool   // the source had changes that the commit does not have
}

// NewRelease returns that of this program. version is its own; "" means that of Longhaul.
func NewRelease(version string) Release {
	info, _ := debug.ReadBuildInfo()
	return releaseOf(Release{Version: cmp.Or(version, Version), commit: Commit, time: Time}, info)
}

// releaseOf adds to what the linker has set what the Go command has recorded, which may
// be nil.
func releaseOf(set Release, info *debug.BuildInfo) Release {
	if set.commit != "" || info == nil {
		return set
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			set.commit = s.Value
		case "vcs.time":
			set.time = s.Value
		case "vcs.modified":
			set.changed = s.Value == "true"
		}
	}
	return set
}

// short is the beginning of the commit, which suffices to find it.
func (r Release) short() string { return r.commit[:min(12, len(r.commit))] }

// Date is the day of the commit, "" if it is not known.
func (r Release) Date() string {
	date, _, _ := strings.Cut(r.time, "T")
	return date
}

// String is the version, with the commit if it is known.
func (r Release) String() string {
	if r.commit == "" {
		return r.Version
	}
	about := []string{"commit " + r.short()}
	if r.time != "" {
		about = append(about, r.Date())
	}
	if r.changed {
		about = append(about, "with changes")
	}
	return fmt.Sprintf("%s (%s)", r.Version, strings.Join(about, ", "))
}

// ID identifies a build: by its version, and by the commit if it has no version of its
// own.
func (r Release) ID() string {
	if r.Version != "dev" || r.commit == "" {
		return r.Version
	}
	return r.Version + "-" + r.short()
}
