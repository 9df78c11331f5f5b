package harness

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// secrets are texts that a service must show nowhere: not in an answer, a log, a
// history or the journal. It is safe for concurrent use.
type secrets struct {
	mu    sync.Mutex
	texts []string
}

// found returns the first secret that content has, as text or in base64; "" for
// none.
func (s *secrets) found(content []byte) string {
	s.mu.Lock()
	texts := slices.Clone(s.texts)
	s.mu.Unlock()
	for _, text := range texts {
		for _, form := range forms(text) {
			if bytes.Contains(content, form) {
				return text
			}
		}
	}
	return ""
}

// forms returns the ways in which a file can contain a text: as it is, and in
// base64 at each of the three offsets, without the ends that depend on the bytes
// beside it.
func forms(text string) [][]byte {
	out := [][]byte{[]byte(text)}
	for offset := range 3 {
		encoded := base64.StdEncoding.EncodeToString(append(make([]byte, offset), text...))
		if len(encoded) > 12 {
			out = append(out, []byte(encoded[4:len(encoded)-4]))
		}
	}
	return out
}

// checkSecrets fails the test if a file of the site has a secret.
func checkSecrets(s *Site) {
	if len(s.secrets.texts) == 0 {
		return
	}
	files := 0
	err := filepath.WalkDir(filepath.Dir(s.Dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || path == s.binary {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		if secret := s.secrets.found(content); secret != "" {
			s.t.Errorf("the secret %q is in %s", secret, path)
		}
		return nil
	})
	if err != nil {
		s.t.Errorf("look for secrets in the files of the site: %v", err)
	}
	s.t.Logf("Looked for %d secrets in %d files", len(s.secrets.texts), files)
}

// secretSearch checks answers for secrets while they are read.
type secretSearch struct {
	site *Site
	next http.RoundTripper
}

func (s secretSearch) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := s.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if secret := s.site.secrets.found([]byte(fmt.Sprint(answer.Header))); secret != "" {
		s.site.t.Errorf("%s %s: the secret %q is in the header of the answer", r.Method, r.URL, secret)
	}
	answer.Body = &secretSearchBody{ReadCloser: answer.Body, site: s.site, what: r.Method + " " + r.URL.String()}
	return answer, nil
}

type secretSearchBody struct {
	io.ReadCloser
	site *Site
	what string
	last []byte // the bytes that were read, or their end
}

// overlap is longer than any secret.
const overlap = 1 << 10

func (b *secretSearchBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.last = append(b.last, p[:n]...)
	if secret := b.site.secrets.found(b.last); secret != "" {
		b.site.t.Errorf("%s: the secret %q is in the answer", b.what, secret)
		b.last = nil
	}
	b.last = b.last[max(0, len(b.last)-overlap):]
	return n, err
}
