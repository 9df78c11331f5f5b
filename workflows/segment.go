package workflows

import (
	"encoding/json"
	"iter"
)

// The payloads of an objective repeat each other: every task of a plan gets the same notes
// and results, every leg of a task the memo of the one before, and a plan that continues as
// a new run knows all of that. So segments of large payloads are stored once.

// Sizes of segments. They bound the copy of the end of a list that grows, and the number of
// references.
const (
	segmentSize  = 8 << 10 // from which a text or a group of elements is a segment
	segmentLeast = 1 << 10 // of a smaller rest of a list, a copy costs less than a row does
)

// A span is a place in a document.
type span struct{ from, to int }

// segments finds the places of a JSON document that others of the same objective may have
// too, in their order: long texts, and groups of the elements of long lists. Groups are made
// from the beginning of a list: one that has grown at its end has the same groups, except
// for the last one. A reader joins the segments, wherever they were cut.
func segments(doc []byte) []span {
	if !json.Valid(doc) {
		return nil
	}
	c := cutter{doc: doc}
	c.value(span{0, len(doc)})
	return c.found
}

// A cutter collects the segments of a valid document.
type cutter struct {
	doc   []byte
	found []span
}

// value cuts one value of the document.
func (c *cutter) value(v span) {
	switch {
	case v.to-v.from < segmentSize:
	case c.doc[v.from] == '"':
		c.cut(v)
	case c.doc[v.from] == '[':
		c.list(v)
	case c.doc[v.from] == '{':
		for member := range c.inside(v) {
			c.value(member)
		}
	}
}

// list cuts a long list. The groups grow with the list, so that they do not become many.
func (c *cutter) list(v span) {
	begin := v.from + 1
	for e := range c.inside(v) {
		switch {
		case e.to-e.from >= segmentSize:
			c.cut(span{begin, e.from})
			c.value(e)
			begin = e.to
		case e.to-begin >= max(segmentSize, (begin-v.from)/8):
			c.cut(span{begin, e.to})
			begin = e.to
		}
	}
	c.cut(span{begin, v.to - 1})
}

func (c *cutter) cut(s span) {
	if s.to-s.from >= segmentLeast {
		c.found = append(c.found, s)
	}
}

// inside lists the elements of a list, or the values of an object.
func (c *cutter) inside(v span) iter.Seq[span] {
	return func(yield func(span) bool) {
		for i := v.from + 1; i < v.to-1; i++ { // over the comma
			if c.doc[v.from] == '{' {
				i = c.end(i) + 1 // over the name and the colon
			}
			e := span{i, c.end(i)}
			if !yield(e) {
				return
			}
			i = e.to
		}
	}
}

// end returns where a value or a name that begins at i is over.
func (c *cutter) end(i int) int {
	depth, text := 0, false
	for ; i < len(c.doc); i++ {
		switch b := c.doc[i]; {
		case text && b == '\\':
			i++
		case b == '"':
			text = !text
		case text:
		case b == '{' || b == '[':
			depth++
		case depth == 0 && (b == ',' || b == ':' || b == '}' || b == ']'):
			return i
		case b == '}' || b == ']':
			depth--
		}
	}
	return i
}
