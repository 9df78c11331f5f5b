package prove

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// Measures of the picture.
const (
	nameWide  = 270
	cellWide  = 104
	rowHigh   = 34
	headHigh  = 96
	barsHigh  = 26
	leastWide = 860
)

// Colours: of a clean cell, one with findings, and one that was not checked.
const (
	green = "#d8f0df"
	red   = "#f9d3ce"
	grey  = "#eeeeee"
)

// WritePicture writes the scorecard as an SVG: a row for each check, a column for each
// experiment, below them a bar for each recovery, and the calls of the first anomaly.
func (s *Scorecard) WritePicture(to io.Writer) error {
	wide := max(leastWide, nameWide+cellWide*len(s.Experiments)+24)
	high := headHigh + rowHigh*(len(s.Checks)+1) + barsHigh*(len(s.recoveries())+2) + 24
	below := high
	if s.first != nil {
		w, h := s.first.Size()
		wide, high = max(wide, w), high+h
	}
	p := &picture{}
	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d" font-family="sans-serif" font-size="13">`, wide, high)
	p.addf(`<rect width="%d" height="%d" fill="#ffffff"/>`, wide, high)
	p.text(16, 32, `font-size="20" font-weight="bold"`, s.Agent+": what it keeps")
	p.text(16, 54, `fill="#555555"`, fmt.Sprintf("A2A %s, %s, %.0f s, seed %d", s.Protocol, s.Began.UTC().Format("2006-01-02 15:04 UTC"), s.Took, s.Seed))
	p.text(16, 74, `font-weight="bold"`, s.Verdict())
	y := headHigh + rowHigh
	for i, e := range s.Experiments {
		p.text(nameWide+cellWide*i+8, y-12, `font-weight="bold"`, e.Name)
	}
	for _, check := range s.Checks {
		p.text(16, y+22, "", check.Title)
		for i, e := range s.Experiments {
			p.cell(nameWide+cellWide*i, y, e.Checks[check.Name])
		}
		y += rowHigh
	}
	s.drawRecoveries(p, y+barsHigh, wide)
	if s.first != nil {
		p.addf(`<g transform="translate(0 %d)">`, below)
		_ = s.first.WritePicture(p) // to memory
		p.addf("</g>")
	}
	p.addf("</svg>")
	_, err := io.WriteString(to, p.String())
	return err
}

func (s *Scorecard) recoveries() (with []Experiment) {
	for _, e := range s.Experiments {
		if e.Recovery != nil {
			with = append(with, e)
		}
	}
	return with
}

// drawRecoveries draws a bar for each time that the server was started again.
func (s *Scorecard) drawRecoveries(p *picture, y, wide int) {
	longest := 0.1
	for _, e := range s.recoveries() {
		longest = max(longest, e.Recovery.Ready, e.Recovery.All)
	}
	scale := float64(wide-nameWide-180) / longest
	if len(s.recoveries()) > 0 {
		p.text(16, y, `font-weight="bold"`, "After the start: ready, next event, all ended")
	}
	for _, e := range s.recoveries() {
		y += barsHigh
		r := e.Recovery
		p.text(16, y+14, "", fmt.Sprintf("%s (%d open)", e.Name, r.Open))
		p.bar(y, r.All*scale, green)
		p.bar(y, r.First*scale, "#9fd6b0")
		p.bar(y, r.Ready*scale, "#5b8def")
		label := fmt.Sprintf("%s, %s, %s", seconds(r.Ready), seconds(r.First), seconds(r.All))
		if r.Never > 0 {
			label += fmt.Sprintf("; %d never", r.Never)
		}
		p.text(nameWide+int(max(r.All, r.Ready)*scale)+8, y+14, `font-size="11"`, label)
	}
}

// A picture is an SVG in the making.
type picture struct{ strings.Builder }

func (p *picture) addf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

func (p *picture) text(x, y int, style, text string) {
	p.addf(`<text x="%d" y="%d" %s>%s</text>`, x, y, style, escape(text))
}

func (p *picture) bar(y int, wide float64, colour string) {
	p.addf(`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, nameWide, y+2, wide, barsHigh-8, colour)
}

func (p *picture) cell(x, y int, c Counts) {
	colour, text := green, fmt.Sprintf("%d ✓", c.Cases)
	var found []string
	for _, f := range []struct {
		n    int
		name string
	}{{c.Lost, "lost"}, {c.Repeated, "repeated"}, {c.OutOfOrder, "disorder"}} {
		if f.n > 0 {
			found = append(found, fmt.Sprintf("%d %s", f.n, f.name))
		}
	}
	switch {
	case len(found) > 0:
		colour, text = red, strings.Join(found, ", ")
	case c.Cases == 0:
		colour, text = grey, "–"
	}
	p.addf(`<rect x="%d" y="%d" width="%d" height="%d" fill="%s" rx="3"><title>%s</title></rect>`, x+2, y+2, cellWide-4, rowHigh-4, colour, escape(text+" "+c.Skipped))
	p.text(x+8, y+22, `font-size="11"`, text)
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // to memory
	return b.String()
}
