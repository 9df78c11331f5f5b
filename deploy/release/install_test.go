package main

import (
	"bytes"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const archiveHere = "longhaul-" + runtime.GOOS + "-" + runtime.GOARCH + ".tar.gz"

// The script installs what the checksums name, and nothing if a file is missing or another one.
func TestInstall(t *testing.T) {
	dir := build(t)
	for name, tt := range map[string]struct {
		env    string            // more of it
		served map[string]string // in place of files of the release; "" for none
		want   string            // in the output
	}{
		"the release":             {want: "longhaul is in "},
		"the other program":       {env: "LONGHAUL_PROGRAM=longhaul-dev", want: "longhaul-dev is in "},
		"an altered archive":      {served: map[string]string{archiveHere: read(t, filepath.Join(dir, archiveHere)) + "x"}, want: archiveHere + " is not the one that SHA256SUMS names"},
		"half an archive":         {served: map[string]string{archiveHere: read(t, filepath.Join(dir, archiveHere))[:100]}, want: "is not the one"},
		"no archive":              {served: map[string]string{archiveHere: ""}, want: archiveHere + " cannot be downloaded"},
		"no checksums":            {served: map[string]string{"SHA256SUMS": ""}, want: "SHA256SUMS cannot be downloaded"},
		"no checksum of it":       {served: map[string]string{"SHA256SUMS": strings.Repeat("0", 64) + "  other.tar.gz\n"}, want: "has no " + archiveHere},
		"no program of this name": {env: "LONGHAUL_PROGRAM=other", want: "has no other-"},
		"no release":              {env: "LONGHAUL_URL=", want: "set LONGHAUL_URL"},
		"another machine":         {env: "PATH=" + machine(t, "mips") + ":" + os.Getenv("PATH"), want: "there is no program for mips"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				text, ok := tt.served[r.URL.Path[1:]]
				switch {
				case !ok:
					http.ServeFile(w, r, filepath.Join(dir, filepath.FromSlash(r.URL.Path)))
				case text == "":
					http.NotFound(w, r)
				default:
					w.Write([]byte(text))
				}
			}))
			defer server.Close()
			prefix := filepath.Join(t.TempDir(), "deep")
			out, err := runScript(installScript, "LONGHAUL_URL="+server.URL, "LONGHAUL_PREFIX="+prefix, tt.env)
			if !strings.Contains(out, tt.want) {
				t.Errorf("it printed %s, want %q", out, tt.want)
			}
			_, none := os.Stat(prefix)
			if good := strings.Contains(tt.want, " is in "); good != (err == nil) || good != (none == nil) {
				t.Errorf("error %v, something is installed: %v", err, none == nil)
			}
		})
	}
}

// A part of the script does nothing.
func TestInstall_cut(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(build(t))))
	defer server.Close()
	for n, c := range installScript {
		if c != '\n' || n == len(installScript)-1 {
			continue
		}
		prefix := filepath.Join(t.TempDir(), "prefix")
		out, _ := runScript(installScript[:n], "LONGHAUL_URL="+server.URL, "LONGHAUL_PREFIX="+prefix)
		if _, err := os.Stat(prefix); err == nil || strings.Contains(out, server.URL) {
			t.Fatalf("%d bytes of the script have run: %s", n, out)
		}
	}
}

// runScript has sh read a script as from a pipe.
func runScript(script []byte, env ...string) (string, error) {
	cmd := exec.Command("sh")
	cmd.Stdin, cmd.Env = bytes.NewReader(script), append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// machine returns a directory with a uname of another machine.
func machine(t *testing.T, name string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "uname"), "#!/bin/sh\n[ \"$1\" = -m ] && echo "+name+" || echo Linux\n")
	if err := os.Chmod(filepath.Join(dir, "uname"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A formula is Ruby, and has the checksum and the URL of each archive.
func TestFormula(t *testing.T) {
	dir := build(t)
	r := release{dir: dir, version: "v9", url: "https://example.com/v9"}
	for program, class := range map[string]string{"longhaul": "Longhaul", "longhaul-dev": "LonghaulDev"} {
		text, err := formulaOf(r, program, []platform{{runtime.GOOS, runtime.GOARCH}})
		if err != nil {
			t.Fatal(err)
		}
		archive := strings.Replace(archiveHere, "longhaul", program, 1)
		sum, _, _ := strings.Cut(read(t, filepath.Join(dir, "SHA256SUMS")), "  "+archive+"\n")
		for _, want := range []string{"class " + class + " < Formula\n", "version \"9\"\n", "url \"https://example.com/v9/" + archive + "\"\n", "sha256 \"" + sum[len(sum)-64:] + "\"\n"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s has no %s:\n%s", program, want, text)
			}
		}
		cmd := exec.Command("ruby", "-c")
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); errors.Is(err, exec.ErrNotFound) {
			t.Log("no ruby: the syntax is not checked")
		} else if err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
}

// The API of the image is healthy beside a Temporal, with nothing but the image's files and the
// /proc that every container has.
func TestImage_serves(t *testing.T) {
	if *published == "" || os.Getuid() != 0 {
		t.Skip("for root, and a release with -published")
	}
	img, file := openImage(t)
	root, config := unpack(t, img), file.Config
	proc := filepath.Join(root, "proc")
	if err := errors.Join(os.Mkdir(proc, 0o755), exec.Command("mount", "-t", "proc", "proc", proc).Run()); err != nil {
		t.Skip("no right to mount: ", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", proc).Run() })
	temporal := freeAddr(t)
	start(t, exec.Command(filepath.Join(*published, "longhaul-dev-"+runtime.GOOS+"-"+runtime.GOARCH), "temporal", "--data-dir", t.TempDir(), "--temporal-addr", temporal, "--temporal-ui-addr", ""))
	env := append(config.Env, "LONGHAUL_ADDR="+freeAddr(t), "LONGHAUL_OPS_ADDR="+freeAddr(t), "LONGHAUL_TEMPORAL_ADDR="+temporal)
	api := start(t, inImage(root, env, "/longhaul", "api"))
	var out []byte
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(config.Healthcheck.Interval / 50) {
		if out, err = inImage(root, env, config.Healthcheck.Test[1:]...).CombinedOutput(); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("health: %v: %s\n%s", err, out, api)
	}
	if files, err := os.ReadDir(filepath.Join(root, "data")); err != nil || len(files) == 0 {
		t.Errorf("/data has %v, error %v", files, err)
	}
}

// inImage returns a command in the file system of an image, as its user.
func inImage(root string, env []string, args ...string) *exec.Cmd {
	return &exec.Cmd{Path: args[0], Args: args, Dir: "/", Env: env,
		SysProcAttr: &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: user, Gid: user}}}
}

// start starts a program, which is killed when the test ends, and returns what it prints.
func start(t *testing.T, cmd *exec.Cmd) *bytes.Buffer {
	t.Helper()
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return out
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
