package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// sbom describes what a program is made of, from the list of modules that the Go command
// has put into it, as CycloneDX in JSON.
func (r release) sbom(program, path string) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	binary, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	main := cdx.Component{
		BOMRef: purl("longhaul", r.version), Type: cdx.ComponentTypeApplication, Name: program, Version: r.version, PackageURL: purl("longhaul", r.version),
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(binary))}},
		Properties: &[]cdx.Property{{Name: "go:package", Value: info.Path}, {Name: "git:commit", Value: r.commit}},
	}
	for _, s := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED", "-trimpath"}, s.Key) {
			*main.Properties = append(*main.Properties, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
		}
	}
	std := strings.TrimPrefix(info.GoVersion, "go")
	components := []cdx.Component{{BOMRef: purl("std", std), Type: cdx.ComponentTypeLibrary, Name: "std", Version: std, PackageURL: purl("std", std)}}
	for _, m := range info.Deps {
		if m.Path != "longhaul" { // the program itself
			components = append(components, component(m))
		}
	}
	refs := make([]string, len(components))
	for i, c := range components {
		refs[i] = c.BOMRef
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	err = cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6) // which more readers know than the latest
	return out.Bytes(), err
}

// component describes a module. One that a directory of our source stands in for has no
// package URL, since none of its published code is in the program.
func component(m *debug.Module) cdx.Component {
	c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, BOMRef: purl(m.Path, m.Version), PackageURL: purl(m.Path, m.Version)}
	sum := m.Sum
	if with := m.Replace; with != nil && strings.HasPrefix(with.Path, ".") {
		c.PackageURL, c.Description = "", "A stand-in from the source of Longhaul: "+with.Path
	} else if with != nil {
		c = component(with)
		sum = with.Sum
	}
	if sum != "" {
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: sum}}
	}
	return c
}

// purl is the package URL of a Go module.
func purl(path, version string) string { return "pkg:golang/" + path + "@" + version }
