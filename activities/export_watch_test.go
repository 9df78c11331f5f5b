package activities

// Functions for tests.
var (
	ReadBeat = readBeat
	News     = Watching.news
)
