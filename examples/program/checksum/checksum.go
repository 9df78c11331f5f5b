// Package checksum is an executor that lists files with their SHA-256 checksums. Use it
// to show files to a person, and to find out later whether they are still the same.
package checksum

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"longhaul/a2a"
	"longhaul/activities"
)

// Executor is the executor. Many goroutines may use it at once.
type Executor struct {
	Files fs.FS
}

// input is the input of a task, as a playbook writes it.
type input struct {
	Approved string `json:"approved"` // the list that the files must still have; "" for any
}

// Execute implements [activities.Executor]. It only reads, so it may run again at any
// time. An executor that changes something elsewhere sends w.Key with the change: it is
// the same when the task is attempted again.
func (e Executor) Execute(ctx context.Context, w activities.Work, _ activities.Stream) (activities.Outcome, error) {
	var in input
	if w.Input != nil {
		if err := json.Unmarshal(w.Input, &in); err != nil {
			return activities.Rejected("bad-input", "The input must be an object with the text approved."), nil
		}
	}
	list, err := e.list(ctx)
	switch {
	case err != nil: // this attempt failed, and the task is attempted again
		return activities.Outcome{}, fmt.Errorf("list the files: %w", err)
	case list == "": // another attempt would find the same
		return activities.Failed("no-files", "There are no files."), nil
	case in.Approved != "" && in.Approved != list:
		return activities.Failed("changed", "The files are not those that were approved."), nil
	}
	return activities.Completed(a2a.Artifact{ArtifactID: "checksums", Name: "SHA256SUMS", Parts: []a2a.Part{a2a.TextPart(list)}}), nil
}

// list returns a line for each file, in the order of their paths.
func (e Executor) list(ctx context.Context) (string, error) {
	var lines []string
	err := fs.WalkDir(e.Files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		sum, err := e.sum(ctx, name)
		lines = append(lines, fmt.Sprintf("%x  %s", sum, name))
		return err
	})
	return strings.Join(lines, "\n"), err
}

func (e Executor) sum(ctx context.Context, name string) ([]byte, error) {
	f, err := e.Files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	hash := sha256.New()
	_, err = io.Copy(hash, reader{ctx, f})
	return hash.Sum(nil), err
}

// A reader ends with an error when its context is done: a task that is canceled, or whose
// time is up, stops in the middle of a file.
type reader struct {
	ctx context.Context
	io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
