// Package handoff_test hands tasks over to other agents: to those on the official SDKs,
// and from one Longhaul to another while their processes are killed.
package handoff_test

import "time"

const within = 2 * time.Minute
