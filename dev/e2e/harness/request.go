package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Do sends a request, and returns the answer with its body. The test ends if none comes.
func Do(t testing.TB, req *http.Request) (res *http.Response, body []byte) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
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

// Page requests what is not JSON-RPC, with the headers of c, and returns the status and the body of the
// answer.
func (c *Client) Page(ctx context.Context, verb, path, body string) (status int, answer []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, verb, c.URL+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	for name, value := range c.Header {
		req.Header.Set(name, value)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

// MustPage is Page, and ends the test if no answer comes.
func (c *Client) MustPage(t testing.TB, verb, path, body string) (status int, answer []byte) {
	t.Helper()
	status, answer, err := c.Page(t.Context(), verb, path, body)
	if err != nil {
		t.Fatal(err)
	}
	return status, answer
}

// ReadPage is Page, and reads the JSON of an answer with the status 200 into result.
func (c *Client) ReadPage(ctx context.Context, verb, path, body string, result any) error {
	status, answer, err := c.Page(ctx, verb, path, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: status %d: %s", verb, path, status, answer)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, result)
}
