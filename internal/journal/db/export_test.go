package db

// A Bell is a bell, for tests.
type Bell struct{ *bell }

// OpenBell opens the bell in a file.
func OpenBell(path string) (Bell, error) {
	b, err := openBell(path)
	return Bell{b}, err
}

func (b Bell) Ring() error  { return b.ring() }
func (b Bell) Hear() bool   { return b.hear() }
func (b Bell) Close() error { return b.close() }

// MostRings is how long the file of a bell may become.
const MostRings = mostRings
