package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
)

// At builds the program of a package as it was in a commit, and returns the path of the binary. It builds each
// once on a machine. The working directory must be in the workspace.
func At(commit, program string) (string, error) {
	out, err := exec.Command("git", "rev-parse", "--verify", "--quiet", commit+"^{commit}").Output()
	if err != nil {
		return "", fmt.Errorf("the history of git has no commit %s", commit)
	}
	hash := string(out[:12])
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("longhaul-e2e-%d", os.Getuid()), "at-"+hash)
	built := filepath.Join(dir, path.Base(program))
	if _, err := os.Stat(built); err == nil {
		return built, nil
	}
	source := filepath.Join(dir, "source")
	if err := os.MkdirAll(source, 0o700); err != nil {
		return "", err
	}
	const build = `cd "$(git rev-parse --show-toplevel)" && git archive "$1" | tar -x -C "$2" && cd "$2" && go build -buildvcs=false -ldflags="-s -w" -o "$3.new" "$4" && mv "$3.new" "$3"`
	cmd := exec.Command("sh", "-c", build, "build", hash, source, built, program)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build %s of commit %s: %w\n%s", program, hash, err, out)
	}
	return built, os.RemoveAll(source)
}
