package topology

import (
	"fmt"
	"maps"
	"os/exec"
	"strings"

	"golang.org/x/mod/semver"
)

// namedBuffers is the first version of Caddy with the option of our Caddyfile for reading
// requests before they are sent on. Debian has an older one.
const namedBuffers = "v2.6.3"

// proxyEnvironment adds to the variables of the proxy those that the Caddy of this machine
// needs to understand our Caddyfile.
func proxyEnvironment(env map[string]string) (map[string]string, error) {
	out, err := exec.Command(proxy, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("%s is not installed: apt-get install %[1]s: %w", proxy, err)
	}
	env = maps.Clone(env)
	if isOldCaddy(string(out)) {
		env["REQUEST_BUFFERS"] = "buffer_requests"
	}
	return env, nil
}

// isOldCaddy reads the output of "caddy version": "2.6.2", "v2.11.4 h1:…", or "unknown" for
// one that was built from source.
func isOldCaddy(printed string) bool {
	version, _, _ := strings.Cut(strings.TrimSpace(printed), " ")
	version = "v" + strings.TrimPrefix(version, "v")
	return semver.IsValid(version) && semver.Compare(version, namedBuffers) < 0
}
