package journal

import "fmt"

// The locks of writes.

func objectiveLock(id string) string { return "objective " + id }
func contextLock(tenant, contextID string) string {
	return fmt.Sprintf("context %q %q", tenant, contextID)
}

const (
	purgeLock      = "purge"
	tallyLock      = "tallies"
	probeLock      = "probe"
	signingKeyLock = "signing keys"
)
