package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"io"
	"os"
	"path"
	"slices"
	"time"
)

// A file is one in an archive or an image. A name that ends in a slash is a directory.
type file struct {
	name  string
	mode  int64
	owner int
	data  []byte
}

// writeTar writes files by their names, with the directories that they are in. All get
// the same time, so that the same files are the same bytes.
func writeTar(w io.Writer, files []file, at time.Time) error {
	out := tar.NewWriter(w)
	for _, f := range withDirectories(files) {
		h := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.name[len(f.name)-1] == '/' {
			h.Typeflag = tar.TypeDir
		}
		if err := out.WriteHeader(h); err != nil {
			return err
		}
		if _, err := out.Write(f.data); err != nil {
			return err
		}
	}
	return out.Close()
}

// withDirectories adds the directories that files are in, and orders all by name.
func withDirectories(files []file) []file {
	files = slices.Clone(files)
	has := map[string]bool{}
	for _, f := range files {
		has[f.name] = true
	}
	for _, f := range slices.Clone(files) {
		for dir := path.Dir(path.Clean(f.name)); dir != "." && !has[dir+"/"]; dir = path.Dir(dir) {
			has[dir+"/"] = true
			files = append(files, file{name: dir + "/", mode: 0o755})
		}
	}
	slices.SortFunc(files, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	return files
}

// writeArchive writes files to a .tar.gz.
func writeArchive(name string, files []file, at time.Time) error {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(z, files, at); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, packed.Bytes(), 0o644)
}
