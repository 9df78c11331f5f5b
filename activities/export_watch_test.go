package activities

// Functions for tests.
var (
	ReadBeat = readHeartbeat
	News     = Watching.newHeartbeat
)
