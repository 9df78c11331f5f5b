package harness

import (
	"io"
	"net/http"
	"testing"

	"longhaul/internal/test"
)

// Do sends a request, and returns the answer with its body. The test ends if none comes.
func Do(t testing.TB, req *http.Request) (res *http.Response, body []byte) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	test.OK(t, err)
	defer res.Body.Close()
	if body, err = io.ReadAll(res.Body); err != nil {
		t.Fatal(err)
	}
	return res, body
}

// Get requests a page, and returns the status and the body of the answer. The test ends if
// none comes.
func Get(t testing.TB, url string) (status int, body []byte) {
	t.Helper()
	return (&Client{URL: url, HTTP: http.DefaultClient}).MustPage(t, http.MethodGet, "", "")
}
