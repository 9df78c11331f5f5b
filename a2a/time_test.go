package a2a_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"longhaul/a2a"
	"longhaul/internal/test"
)

var wireTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$`)

func TestTime_read(t *testing.T) {
	tests := []struct{ in, want string }{
		{"2026-02-15T12:00:00Z", "2026-02-15T12:00:00.000Z"},
		{"2026-02-15T12:00:00.1Z", "2026-02-15T12:00:00.100Z"},
		{"2026-02-15T12:00:00.12Z", "2026-02-15T12:00:00.120Z"},
		{"2026-02-15T12:00:00.123Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.1239Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.12399Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.123999Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.1239999Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.12399999Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00.123999999Z", "2026-02-15T12:00:00.123Z"},
		{"2026-02-15T12:00:00+00:00", "2026-02-15T12:00:00.000Z"},
		{"2026-02-15T12:00:00-00:00", "2026-02-15T12:00:00.000Z"},
		{"2026-02-15T14:30:00.5+02:30", "2026-02-15T12:00:00.500Z"},
		{"2026-02-14T23:00:00-13:00", "2026-02-15T12:00:00.000Z"},
		{"1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"},
		{"", ""},
	}
	for _, tt := range tests {
		var got a2a.Time
		if err := got.UnmarshalText([]byte(tt.in)); err != nil {
			t.Errorf("reading %q: %v", tt.in, err)
			continue
		}
		test.Is(t, fmt.Sprintf("%q was read as", tt.in), tt.want, got.String())
		if again := decode[a2a.Time](t, encode(t, got)); !again.Equal(got) {
			t.Errorf("%q after a round trip is %q", got, again)
		}
	}
}

func TestTime_refuses(t *testing.T) {
	for _, text := range []string{
		"now", "2026-02-15", "2026-02-15T12:00:00", "2026-02-15 12:00:00Z", "2026-02-30T12:00:00Z",
		"2026-02-15T24:00:00Z", "2026-02-15T12:00:00+0100", "2026-02-15T12:00:00.Z", "9999-12-31T23:59:59-01:00",
		"0000-01-01T00:00:00+01:00", "1771156800",
	} {
		got := a2a.AtMillis(1)
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %q", text, got)
		}
		if !got.Equal(a2a.AtMillis(1)) {
			t.Errorf("%q was refused, but changed the time to %q", text, got)
		}
	}
}

func TestAt(t *testing.T) {
	east := time.FixedZone("east", 3*60*60)
	got := a2a.At(time.Date(2026, 2, 15, 15, 0, 0, 7_999_999, east))
	test.Is(t, "At()", "2026-02-15T12:00:00.007Z", got.String())
	if want := a2a.AtMillis(got.Millis()); !got.Equal(want) {
		t.Errorf("AtMillis(Millis()) = %q, want %q", want, got)
	}
	test.Equal(t, "the same instant in another zone differs", got, a2a.At(got.Time().In(east)))
	if cmp.Equal(got, a2a.AtMillis(got.Millis()+1)) {
		t.Error("times one millisecond apart are equal")
	}
}

func TestTime_zero(t *testing.T) {
	for _, zero := range []a2a.Time{{}, a2a.At(time.Time{}), a2a.AtMillis(0), decode[a2a.Time](t, `""`), decode[a2a.Time](t, `null`)} {
		if !zero.IsZero() || zero.Millis() != 0 || zero.String() != "" || encode(t, zero) != `""` {
			t.Errorf("zero time: IsZero %v, Millis %d, String %q, JSON %s", zero.IsZero(), zero.Millis(), zero, encode(t, zero))
		}
	}
	test.Is(t, "omitzero wrote", "{}", encode(t, struct {
		At a2a.Time `json:"at,omitzero"`
	}{}))
}

// FuzzTime checks that a time that was read is written in the only form of the wire, and
// that the written form is read as the same time.
func FuzzTime(f *testing.F) {
	f.Add("2026-02-15T12:00:00.123456789+02:30")
	f.Add("0000-01-01T00:00:00Z")
	f.Add("9999-12-31T23:59:60Z")
	f.Fuzz(func(t *testing.T, text string) {
		var read, again a2a.Time
		if read.UnmarshalText([]byte(text)) != nil || read.IsZero() {
			return
		}
		if !wireTime.MatchString(read.String()) {
			t.Fatalf("%q is written %q", text, read)
		}
		if err := again.UnmarshalText([]byte(read.String())); err != nil || !again.Equal(read) {
			t.Fatalf("%q is read again as %q, %v", read, again, err)
		}
	})
}
