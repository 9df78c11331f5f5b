package activities

// ReadBeat is readBeat, for tests.
var ReadBeat = readBeat
