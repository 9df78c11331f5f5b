package checksum_test

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"

	"longhaul/activities"
	"longhaul/activities/executortest"

	"example.com/release/checksum"
)

const list = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a.txt\n" +
	"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  docs/empty.txt"

var files = fstest.MapFS{"docs/empty.txt": {}, "a.txt": {Data: []byte("hello")}}

// The executor keeps the contract of all executors: it may run again, stops when its
// context ends, and so on.
func TestExecutor(t *testing.T) {
	executortest.Run(t, executortest.Config{
		Executor:  executor{},
		Completes: activities.Work{Description: "two files", Input: []byte(`{"approved": ""}`)},
		Fails:     activities.Work{Description: "two files", Input: []byte(`{"approved": "something else"}`)},
		Errs:      &activities.Work{Description: "unreadable"},
		Long:      activities.Work{Description: "endless"},
	})
}

func TestExecutor_list(t *testing.T) {
	out, err := checksum.Executor{Files: files}.Execute(t.Context(), activities.Work{}, nil)
	if err != nil || len(out.Artifacts) != 1 || out.Artifacts[0].Text() != list {
		t.Errorf("got %+v, error %v, want the list\n%s", out, err, list)
	}
}

// The files must be those that were approved.
func TestExecutor_approved(t *testing.T) {
	for name, tt := range map[string]struct {
		files fs.FS
		input string
		code  string
	}{
		"the same":  {files, `{"approved": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a.txt\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  docs/empty.txt"}`, ""},
		"one more":  {files, `{"approved": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824  a.txt"}`, "changed"},
		"none":      {fstest.MapFS{}, `{}`, "no-files"},
		"no object": {files, `"a.txt"`, "bad-input"},
	} {
		out, err := checksum.Executor{Files: tt.files}.Execute(t.Context(), activities.Work{Input: []byte(tt.input)}, nil)
		if err != nil || out.Code != tt.code {
			t.Errorf("%s: got %+v, error %v, want the code %q", name, out, err, tt.code)
		}
	}
}

// executor has the files that the description of a task names.
type executor struct{}

func (executor) Execute(ctx context.Context, w activities.Work, out activities.Stream) (activities.Outcome, error) {
	sources := map[string]fs.FS{"two files": files, "unreadable": unreadable{}, "endless": endless{files}}
	return checksum.Executor{Files: sources[w.Description]}.Execute(ctx, w, out)
}

// unreadable files may not be opened.
type unreadable struct{}

func (unreadable) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// endless files have no end.
type endless struct{ fstest.MapFS }

func (e endless) Open(name string) (fs.File, error) {
	f, err := e.MapFS.Open(name)
	return zeros{f}, err
}

type zeros struct{ fs.File }

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
