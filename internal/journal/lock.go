package journal

import "fmt"

// The locks of writes.

func contextLock(tenant, contextID string) string {
	return fmt.Sprintf("context %q %q", tenant, contextID)
}

const (
	tallyLock      = "tallies"
	probeLock      = "probe"
	signingKeyLock = "signing keys"
)
