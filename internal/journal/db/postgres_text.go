package db

import (
	"regexp"
	"strings"
)

// Statements are written for SQLite and PostgreSQL alike. What remains is changed here,
// once for each statement.
var (
	// PostgreSQL would read the whole table and look for its rows among those of the query.
	ofLeftovers = regexp.MustCompile(`IN (\(SELECT objective_id FROM leftovers\))`)

	indexHint  = regexp.MustCompile(` INDEXED BY \w+`)
	textColumn = regexp.MustCompile(`\bTEXT(\s+NOT NULL)`)
)

// postgresText returns a statement or a migration in PostgreSQL's form. Texts are
// compared byte by byte, as in SQLite and Go: pages and keys depend on it.
func postgresText(text string) string {
	text = indexHint.ReplaceAllString(text, "")
	text = textColumn.ReplaceAllString(text, `TEXT COLLATE "C"$1`)
	text = strings.ReplaceAll(text, "instr(", "strpos(")
	if text == tableExists {
		return "SELECT 1 WHERE to_regclass('migrations') IS NOT NULL"
	}
	text = ofLeftovers.ReplaceAllString(text, "= ANY (ARRAY$1)")
	if first, some, ok := strings.Cut(text, "rowid IN (SELECT rowid"); ok {
		text = first + "ctid = ANY (ARRAY(SELECT ctid" + some + ")"
	}
	return text
}
