package a2a

import (
	"fmt"
	"time"
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// A Time is an instant in UTC with milliseconds, the only precision that goes
// over the wire. The zero value is "not set".
type Time struct{ t time.Time }

// At returns t cut to milliseconds.
func At(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.UTC().Truncate(time.Millisecond)}
}

// AtMillis returns the instant ms milliseconds after the Unix epoch, or the
// zero Time for 0.
func AtMillis(ms int64) Time {
	if ms == 0 {
		return Time{}
	}
	return Time{time.UnixMilli(ms).UTC()}
}

// Time returns t as the standard library has it.
func (t Time) Time() time.Time { return t.t }

// Millis returns the milliseconds since the Unix epoch, 0 for the zero Time.
func (t Time) Millis() int64 {
	if t.t.IsZero() {
		return 0
	}
	return t.t.UnixMilli()
}

// IsZero reports whether t is not set.
func (t Time) IsZero() bool { return t.t.IsZero() }

// Equal reports whether t and u are the same instant.
func (t Time) Equal(u Time) bool { return t.t.Equal(u.t) }

// String returns t in the form of the wire, always with three fraction digits.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.t.Format(timeLayout)
}

// MarshalText implements [encoding.TextMarshaler].
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads RFC 3339 with any number of fraction digits and any
// offset; the empty text is the zero Time.
func (t *Time) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*t = Time{}
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("not an RFC 3339 time: %q", text)
	}
	if year := parsed.UTC().Year(); year < 0 || year > 9999 {
		return fmt.Errorf("not a time that RFC 3339 can write in UTC: %q", text)
	}
	*t = At(parsed)
	return nil
}
