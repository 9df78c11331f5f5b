// Package needs is for tests that run other programs: it finds them, and fails a test
// whose programs are not installed. The script scripts/test, which has listed the missing
// ones before, allows such tests to be left out, and names them at its end.
package needs

import (
	"cmp"
	"fmt"
	"os"
	"testing"

	"longhaul/internal/pgserver"
)

// LeftOut is the variable of the environment that allows to leave tests out. It names the
// file to which each of them is added, as a line of the tool, the directory and the name
// of the test.
const LeftOut = "LONGHAUL_TESTS_LEFT_OUT"

// packages are Debian's that are not called like their programs.
var packages = map[string]string{"groff": "groff-base", "node": "nodejs", "pg_dump": "postgresql", "pg_restore": "postgresql", "postgres": "postgresql"}

// Tool returns the path of a program that a test runs.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := pgserver.Program(name) // also those that Debian keeps outside the PATH
	if err != nil {
		install := cmp.Or(packages[name], name)
		Missing(t, install, fmt.Sprintf("this test runs %s, which is not installed; on Debian: apt-get install %s", name, install))
	}
	return path
}

// Tools is Tool for several programs whose paths are not needed.
func Tools(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Tool(t, name)
	}
}

// Missing ends a test for which a tool is missing or too old: it fails with a problem, or
// is left out.
func Missing(t testing.TB, tool, problem string) {
	t.Helper()
	list := os.Getenv(LeftOut)
	if list == "" {
		t.Fatal(problem)
	}
	if err := add(list, tool, t.Name()); err != nil {
		t.Fatal(err)
	}
	t.Skip(problem)
}

// add adds a test to the file of those that are left out.
func add(list, tool, test string) error {
	dir, err := os.Getwd() // of the package
	if err != nil {
		return err
	}
	f, err := os.OpenFile(list, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f, "%s\t%s\t%s\n", tool, dir, test); err != nil {
		return err
	}
	return f.Close()
}
