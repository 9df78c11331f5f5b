package main

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

// The script asks for the URL of the release if it is not written into it.
//
//go:embed install.sh
var installScript []byte

//go:embed formula.rb.tmpl
var formulaText string

var formula = template.Must(template.New("formula").Parse(formulaText))

// An archive is one that a formula of Homebrew can choose.
type archive struct{ System, CPU, URL, Sum string }

// writeInstallers writes what downloads the archives: a script, and a formula of Homebrew
// for each program.
func writeInstallers(r release, platforms []platform) error {
	script := bytes.Replace(installScript, []byte("${LONGHAUL_URL:-}"), []byte("${LONGHAUL_URL:-"+r.url+"}"), 1)
	if err := os.WriteFile(filepath.Join(r.dir, "install.sh"), script, 0o755); err != nil {
		return err
	}
	if r.url == "" {
		return nil // a formula cannot ask for it
	}
	for _, program := range programs {
		text, err := formulaOf(r, program, platforms)
		if err != nil {
			return fmt.Errorf("write a formula: %w", err)
		}
		if err := os.WriteFile(filepath.Join(r.dir, program+".rb"), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// formulaOf returns the formula of a program, with the checksums of its archives.
func formulaOf(r release, program string, platforms []platform) ([]byte, error) {
	names := map[string]string{"linux": "linux", "darwin": "macos", "amd64": "intel", "arm64": "arm"}
	var archives []archive
	for _, p := range platforms {
		path := r.path(program, p, ".tar.gz")
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		archives = append(archives, archive{names[p.os], names[p.arch], r.url + "/" + filepath.Base(path), fmt.Sprintf("%x", sha256.Sum256(data))})
	}
	class := ""
	for word := range strings.SplitSeq(program, "-") {
		class += strings.ToUpper(word[:1]) + word[1:]
	}
	var text bytes.Buffer
	err := formula.Execute(&text, map[string]any{
		"Class": class, "Program": program, "URL": r.url, "Version": strings.TrimPrefix(r.version, "v"), "License": license, "Archives": archives,
	})
	return text.Bytes(), err
}
