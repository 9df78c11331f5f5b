// Package namespace knows the Temporal that a process works with.
//
// temporal.go finds it, by flags, variables and profiles, and connects to it as [Target].
// temporal_check.go examines its namespace, waits for it and says what it lacks, with the
// commands that mend it. retention.go has how long ended work is
// kept, payload.go the keys of payloads, version_settings.go the versions of workers.
package namespace
