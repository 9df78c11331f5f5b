package main

import (
	"bytes"
	"encoding/pem"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is who runs the program in a container, with no rights but those on /data and
// /tmp. Kubernetes compares numbers only.
const user = 65532

// writeImage writes an image with the program, as "docker load" and "podman load" read
// it, and returns its digest. It has the settings of Dockerfile, and in place of a base
// image the few files that a static program needs.
func (r release) writeImage(path string, program []byte, p platform) (v1.Hash, error) {
	img, err := r.image(program, p)
	if err != nil {
		return v1.Hash{}, err
	}
	tag, err := name.NewTag("longhaul:" + r.version)
	if err != nil {
		return v1.Hash{}, err
	}
	if err := tarball.WriteToFile(path, tag, img); err != nil {
		return v1.Hash{}, err
	}
	return img.Digest()
}

func (r release) image(program []byte, p platform) (v1.Image, error) {
	img := v1.Image(empty.Image)
	for _, part := range []struct {
		comment string
		files   []file
	}{
		{"certificates of authorities, a user, and places to write", rootFiles()},
		{"the program", []file{{name: "longhaul", mode: 0o755, data: program}}},
	} {
		var packed bytes.Buffer
		if err := writeTar(&packed, part.files, r.time); err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil })
		if err != nil {
			return nil, err
		}
		img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "make release", Comment: part.comment}})
		if err != nil {
			return nil, err
		}
	}
	config, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.time}
	config.Config = v1.Config{
		User:         "65532:65532",
		Env:          []string{"PATH=/", "LONGHAUL_DATA_DIR=/data", "LONGHAUL_OPS_ADDR=0.0.0.0:9420"},
		Entrypoint:   []string{"/longhaul"},
		WorkingDir:   "/",
		Volumes:      map[string]struct{}{"/data": {}},
		ExposedPorts: map[string]struct{}{"7420/tcp": {}, "7421/tcp": {}, "9420/tcp": {}},
		Healthcheck:  &v1.HealthConfig{Test: []string{"CMD", "/longhaul", "health"}, Interval: 5 * time.Second, Timeout: 6 * time.Second, StartPeriod: time.Minute},
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Longhaul",
			"org.opencontainers.image.description": "An A2A agent server with durable tasks",
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.created":     r.time.Format(time.RFC3339),
			"org.opencontainers.image.licenses":    license,
		},
	}
	return mutate.ConfigFile(img, config)
}

// license is the identifier of LICENSE in the list of SPDX.
const license = "Apache-2.0"

// rootFiles are the files that the program needs beside itself: time zones are in it.
func rootFiles() []file {
	var roots bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil { // a file of certificates cannot say for which ones an authority counts
			pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate})
		}
	}
	return []file{
		{name: "data/", mode: 0o755, owner: user},
		{name: "etc/group", mode: 0o644, data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: roots.Bytes()},
		{name: "tmp/", mode: 0o1777},
	}
}
