package echo

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"longhaul/a2a"
	"longhaul/activities"
)

// maxPoints bounds an article; later points of the outline are left out.
const maxPoints = 50

// sentences are those about the points of an article, in turn.
var sentences = [][2]string{
	{"The encyclopedia gives it a chapter of its own.", "It has more dates than a reader needs, and all that matter."},
	{"The survey asked two hundred people about it.", "Most knew less than they had thought, and said so."},
	{"In the interview, this is the part where the tape ran out.", "The rest of it is the best part of the article."},
}

// article returns the pieces of an article along an outline: a title, and a heading with
// two sentences for each point. Points are the lines with a number or a mark before them,
// or all lines if none has one. The first line before them is the title; other lines are
// paragraphs.
func article(outline string) (pieces []string) {
	lines := []string{}
	marked := false
	for line := range strings.Lines(outline) {
		if line = strings.TrimSpace(line); line != "" && len(lines) < maxPoints {
			lines = append(lines, line)
			marked = marked || point(line) != ""
		}
	}
	if len(lines) == 0 {
		return []string{"There is no outline to write along.\n"}
	}
	n := 0
	for i, line := range lines {
		heading := point(line)
		switch {
		case marked && heading == "" && i == 0:
			title := strings.Trim(strings.TrimPrefix(line, "Outline for "), `"`)
			pieces = append(pieces, "# "+title+"\n")
			continue
		case marked && heading == "":
			pieces = append(pieces, "\n"+line+"\n")
			continue
		case !marked:
			heading = line
		}
		said := sentences[n%len(sentences)]
		n++
		pieces = append(pieces, fmt.Sprintf("\n## %s\n\n%s", heading, said[0]), " "+said[1]+"\n")
	}
	pieces[0] = strings.TrimPrefix(pieces[0], "\n") // there may be no title
	return pieces
}

// point returns the text of a line after its number or mark, "" for a line without one.
func point(line string) string {
	rest := strings.TrimLeftFunc(line, unicode.IsDigit)
	switch {
	case rest != line && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, ")")):
		return strings.TrimSpace(rest[1:])
	case strings.HasPrefix(line, "- "), strings.HasPrefix(line, "* "):
		return strings.TrimSpace(line[2:])
	}
	return ""
}

// writeArticle shows the article along the input, piece by piece.
func (r *run) writeArticle(ctx context.Context, c command) error {
	r.sayOnly = true
	pieces := article(plainText(r.work.Input))
	for i, text := range pieces {
		if i > 0 {
			if err := activities.Sleep(ctx, c.duration); err != nil {
				return err
			}
		}
		piece := a2a.Artifact{ArtifactID: "article", Name: "article", Parts: []a2a.Part{a2a.TextPart(text)}}
		if err := r.out.Chunk(ctx, piece, i == len(pieces)-1); err != nil {
			return err
		}
	}
	return nil
}
