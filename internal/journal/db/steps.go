package db

// Steps are statements that need each other: after the first error, which Err keeps, the others
// do nothing and find nothing. The code that runs them checks Err at the end.
type Steps struct {
	C   *Conn
	Err error
}

// Fail keeps an error, unless there was one before.
func (s *Steps) Fail(err error) {
	if s.Err == nil {
		s.Err = err
	}
}

// Do runs a statement and returns the number of rows that it changed.
func (s *Steps) Do(query string, a ...any) (n int64) {
	if s.Err == nil {
		n, s.Err = s.C.Exec(query, a...)
	}
	return n
}

// Get scans the first row of a query into dest; ok is false if there is none.
func (s *Steps) Get(query string, a Args, dest ...any) (ok bool) {
	if s.Err == nil {
		ok, s.Err = s.C.Get(query, a, dest...)
	}
	return ok
}

// Each calls scan for every row of a query.
func (s *Steps) Each(query string, a Args, scan func(Scanner) error) {
	if s.Err == nil {
		s.Err = s.C.Each(query, a, scan)
	}
}

// Rows returns what read makes of each row of a query.
func Rows[T any](s *Steps, query string, a Args, read func(Scanner) (T, error)) (list []T) {
	if s.Err == nil {
		list, s.Err = All(s.C, query, a, read)
	}
	return list
}

// IDs returns the ids that a query selects.
func (s *Steps) IDs(query string, a ...any) []string { return Rows(s, query, a, ScanID) }

// Encode returns v as JSON, "" if exists is false.
func (s *Steps) Encode(exists bool, v any) (doc Content) {
	if exists && s.Err == nil {
		doc, s.Err = Encode(v)
	}
	return doc
}

// Decode reads a document into v; "" leaves v alone.
func (s *Steps) Decode(doc Content, v any) {
	if s.Err == nil {
		s.Err = Decode(doc, v)
	}
}
