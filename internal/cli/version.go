package cli

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

// A release says which source a program was built from.
type release struct {
	version string
	commit  string // "" if it is not known
	time    string // of the commit, in the form of RFC 3339; "" if it is not known
	changed bool   // the source had changes that the commit does not have
}

// release returns that of b.
func (b Build) release() release {
	info, _ := debug.ReadBuildInfo()
	return releaseOf(release{version: cmp.Or(b.Version, Version), commit: Commit, time: Time}, info)
}

// releaseOf adds to what the linker has set what the Go command has recorded, which may
// be nil.
func releaseOf(set release, info *debug.BuildInfo) release {
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
func (r release) short() string { return r.commit[:min(12, len(r.commit))] }

// date is the day of the commit, "" if it is not known.
func (r release) date() string {
	date, _, _ := strings.Cut(r.time, "T")
	return date
}

// String is the version, with the commit if it is known.
func (r release) String() string {
	if r.commit == "" {
		return r.version
	}
	about := []string{"commit " + r.short()}
	if r.time != "" {
		about = append(about, r.date())
	}
	if r.changed {
		about = append(about, "with changes")
	}
	return fmt.Sprintf("%s (%s)", r.version, strings.Join(about, ", "))
}

func (b Build) versionLine() string { return b.name().String() + " " + b.release().String() }

// id identifies a build: by its version, and by the commit if it has no version of its
// own.
func (b Build) id() string {
	r := b.release()
	if r.version != "dev" || r.commit == "" {
		return r.version
	}
	return r.version + "-" + r.short()
}

// versionCommand is "longhaul version".
type versionCommand struct{}

func (versionCommand) Run(p *program) error {
	_, err := fmt.Fprintln(p.stdout, p.build.versionLine())
	return err
}
