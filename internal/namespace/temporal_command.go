package namespace

import (
	"fmt"
	"math"
	"net"
	"strings"
	"time"
)

// The commands below are for messages. Temporal Cloud has its own tool for namespaces.

func (t Target) createCommand(retention time.Duration) string {
	if t.cloud() {
		return fmt.Sprintf("tcld namespace create --namespace %s --region REGION --retention-days %d", t.namespace.value, days(retention))
	}
	return fmt.Sprintf("temporal operator namespace create --namespace %s --retention %s%s", t.namespace.value, hours(retention), t.toolFlags())
}

func (t Target) retentionCommand(retention time.Duration) string {
	if t.cloud() {
		return fmt.Sprintf("tcld namespace retention set --namespace %s --retention-days %d", t.namespace.value, days(retention))
	}
	return fmt.Sprintf("temporal operator namespace update --namespace %s --retention %s%s", t.namespace.value, hours(retention), t.toolFlags())
}

func (t Target) attributesCommand(names []string) string {
	var b strings.Builder
	if t.cloud() {
		fmt.Fprintf(&b, "tcld namespace search-attributes add --namespace %s", t.namespace.value)
		for _, name := range names {
			fmt.Fprintf(&b, " --search-attribute %s=Keyword", name)
		}
		return b.String()
	}
	fmt.Fprintf(&b, "temporal operator search-attribute create --namespace %s", t.namespace.value)
	for _, name := range names {
		fmt.Fprintf(&b, " --name %s --type Keyword", name)
	}
	return b.String() + t.toolFlags()
}

// toolFlags returns the flags with which Temporal's own tool finds the same server. It
// reads the same variables and profiles, but not our settings.
func (t Target) toolFlags() string {
	flags := ""
	if t.profile != "" {
		flags = " --profile " + t.profile
	}
	if t.profile == "" || !strings.HasPrefix(t.addr.from, "profile ") {
		flags += " --address " + t.addr.value
	}
	return flags
}

// cloud reports whether t is Temporal Cloud.
func (t Target) cloud() bool {
	host, _, _ := net.SplitHostPort(t.addr.value)
	return strings.HasSuffix(host, ".tmprl.cloud") || strings.HasSuffix(host, ".api.temporal.io")
}

// hours returns a duration in full hours, as Temporal's tool reads it.
func hours(d time.Duration) string { return fmt.Sprintf("%dh", int(math.Ceil(d.Hours()))) }

func days(d time.Duration) int { return int(math.Ceil(d.Hours() / 24)) }
