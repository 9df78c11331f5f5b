package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"longhaul/internal/test"
)

func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// Lines appear in their order, long pauses are cut, and texts cannot leave their line.
func TestDraw(t *testing.T) {
	picture := draw([]line{
		{0, `echo "<a>"`, typed},
		{time.Second, "<a>", output},
		{time.Second, "", output},
		{time.Second, "", output},
		{time.Hour, strings.Repeat("é", 200), output},
		{time.Hour, "kill -9 $!", killing},
	})
	wellFormed(t, picture)
	for _, want := range []string{
		`animation-delay: 400ms">`, `animation-delay: 1300ms">`, `animation-delay: 1360ms">`, `animation-delay: 2260ms">`, `animation-delay: 3460ms">`,
		`>echo &#34;&lt;a&gt;&#34;<`, `>` + strings.Repeat("é", columns-3) + `…<`, `class="deadly">kill -9 $!<`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
	test.Is(t, "the picture lines", 5, strings.Count(picture, `class="line"`))
}

// A full screen scrolls, and the still picture has the end of the server on it.
func TestDraw_scrolls(t *testing.T) {
	var lines []line
	for range 2 * rows {
		lines = append(lines, line{text: "x"})
	}
	lines[rows+3].kind = killing
	picture := draw(lines)
	wellFormed(t, picture)
	test.Is(t, "positions", rows+2, strings.Count(picture, "% { transform"))
	for _, want := range []string{".screen { transform: translateY(-288px) }", "100% { transform: translateY(-468px) }"} {
		if !strings.Contains(picture, want) {
			t.Errorf("%s is not in the picture", want)
		}
	}
}

// The picture of README.md shows that the question outlives the server.
func TestRecording(t *testing.T) {
	text := test.Value(os.ReadFile("../../../docs/pictures/recording.svg"))(t)
	picture := string(text)
	wellFormed(t, picture)
	_, after, killed := strings.Cut(picture, "kill -9")
	if !killed || !strings.Contains(after, "longhaul inbox") || !strings.Contains(after, "accepted by local") || !strings.Contains(after, "Writing: completed") {
		t.Error("after kill -9 the question is not answered, or the work does not end")
	}
}
