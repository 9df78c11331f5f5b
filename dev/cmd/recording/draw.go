package main

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A kind says what a line of a session is.
type kind int

const (
	output  kind = iota // printed
	typed               // a command
	killing             // a command that ends the server
)

// A line is a line of a session.
type line struct {
	at   time.Duration // when it was printed
	text string
	kind kind
}

// Sizes in pixels.
const (
	rowHeight = 18
	margin    = 16
	bar       = 30 // the title bar
	columns   = 104
	rows      = 26
)

const (
	longestPause = 900 * time.Millisecond // of the recording; the work took longer
	typing       = 1200 * time.Millisecond
	quick        = 60 * time.Millisecond // between two lines at the least
)

// draw returns the picture: the lines appear one after another, and scroll up when the
// screen is full. Viewers that play no animation show the screen around the end of the
// server.
func draw(lines []line) string {
	lines = fitLines(lines)
	at, total := times(lines)
	var b strings.Builder
	width, height := columns*8+2*margin, bar+margin+rowHeight*rows
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	b.WriteString(`<title>Longhaul in a terminal: an approval survives kill -9</title>
<style>
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d5dae0; white-space: pre }
.typed { fill: #ffffff; font-weight: bold } .deadly { fill: #ff7b72; font-weight: bold } .prompt { fill: #7ee787 }
.asks { fill: #f2cc60 } .done { fill: #7ee787 }
`)
	fmt.Fprintf(&b, ".screen { transform: translateY(%dpx) }\n", -rowHeight*stillScreen(lines))
	b.WriteString("@media (prefers-reduced-motion: no-preference) {\n.line { animation: appear 1ms step-end both }\n")
	b.WriteString("@keyframes appear { from { visibility: hidden } to { visibility: visible } }\n")
	fmt.Fprintf(&b, ".screen { animation: scroll %dms step-end both }\n@keyframes scroll { 0%% { transform: translateY(0) }\n", total.Milliseconds())
	for i := rows; i < len(lines); i++ {
		fmt.Fprintf(&b, "%.3f%% { transform: translateY(%dpx) }\n", 100*float64(at[i])/float64(total), -rowHeight*(i+1-rows))
	}
	fmt.Fprintf(&b, "100%% { transform: translateY(%dpx) } }\n}\n</style>\n", -rowHeight*max(0, len(lines)-rows))
	fmt.Fprintf(&b, `<clipPath id="glass"><rect y="%d" width="%d" height="%d"/></clipPath>`+"\n", bar, width, rowHeight*rows)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#0d1117"/>`+"\n", width, height)
	for i, color := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="16" r="5" fill="%s"/>`+"\n", margin+5+i*18, color)
	}
	b.WriteString(`<g clip-path="url(#glass)"><g class="screen">` + "\n")
	for i, l := range lines {
		fmt.Fprintf(&b, `<g class="line" style="animation-delay: %dms">%s</g>`+"\n", at[i].Milliseconds(), row(l, bar+rowHeight*i+13))
	}
	b.WriteString("</g></g>\n</svg>\n")
	return b.String()
}

// times returns when each line appears, and when the last screen has been shown.
func times(lines []line) (at []time.Duration, total time.Duration) {
	total = 400 * time.Millisecond
	for i, l := range lines {
		if i > 0 {
			total += pause(lines[i-1], l)
		}
		at = append(at, total)
	}
	return at, total + time.Second
}

// stillScreen returns the first line of the screen of the still picture: the end of the
// server is in its middle.
func stillScreen(lines []line) int {
	i := slices.IndexFunc(lines, func(l line) bool { return l.kind == killing })
	return max(0, min(i-rows/2, len(lines)-rows))
}

// pause returns the time between two lines in the picture.
func pause(before, l line) time.Duration {
	if l.kind != output {
		return typing
	}
	return max(quick, min(l.at-before.at, longestPause))
}

// row returns the text of a line.
func row(l line, y int) string {
	text := html.EscapeString(l.text)
	switch {
	case l.kind == typed:
		return fmt.Sprintf(`<text x="%d" y="%d"><tspan class="prompt">$ </tspan><tspan class="typed">%s</tspan></text>`, margin, y, text)
	case l.kind == killing:
		return fmt.Sprintf(`<text x="%d" y="%d"><tspan class="prompt">$ </tspan><tspan class="deadly">%s</tspan></text>`, margin, y, text)
	}
	class := ""
	switch {
	case strings.HasSuffix(l.text, "?") || strings.HasSuffix(l.text, ": waiting"):
		class = ` class="asks"`
	case strings.HasSuffix(l.text, ": completed") || strings.Contains(l.text, ": accepted"):
		class = ` class="done"`
	}
	return fmt.Sprintf(`<text x="%d" y="%d"%s>%s</text>`, margin, y, class, text)
}

// fitLines returns lines that fit the screen: long lines are cut, and of several empty lines at
// the end of a command one is left.
func fitLines(lines []line) (out []line) {
	for _, l := range lines {
		if l.text = strings.TrimRight(l.text, " "); l.kind == output && l.text == "" && (len(out) == 0 || out[len(out)-1].text == "") {
			continue
		}
		if utf8.RuneCountInString(l.text) > columns-2 {
			l.text = string([]rune(l.text)[:columns-3]) + "…"
		}
		out = append(out, l)
	}
	return out
}
