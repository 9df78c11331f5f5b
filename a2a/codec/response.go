package codec

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// An Error is an error in an answer of an agent: of JSON-RPC, or of plain HTTP.
type Error struct {
	Code    int             `json:"code"` // over plain HTTP its status
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`    // of JSON-RPC: a list of details in 1.0, one object from agents of 0.3
	Details json.RawMessage `json:"details"` // of plain HTTP: a list of details
}

// List returns the details of e as they came.
func (e *Error) List() []json.RawMessage {
	all := e.Data
	if all == nil {
		all = e.Details
	}
	var list []json.RawMessage
	if json.Unmarshal(all, &list) != nil && len(all) > 0 {
		list = []json.RawMessage{all}
	}
	return list
}

// A Detail is one of the details of an error: an ErrorInfo, a BadRequest or a RetryInfo of
// google.rpc, as its type says.
type Detail struct {
	Type       string            `json:"@type"`
	Reason     string            `json:"reason,omitempty"`
	Domain     string            `json:"domain,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"`
	Violations []Violation       `json:"fieldViolations,omitempty"`
	RetryDelay string            `json:"retryDelay,omitempty"`
}

// The types of details.
const (
	TypeErrorInfo  = typeOf + "ErrorInfo"
	TypeBadRequest = typeOf + "BadRequest"
	TypeRetryInfo  = typeOf + "RetryInfo"

	typeOf = "type.googleapis.com/google.rpc."
)

// errNoResponse is the error of JSON without a result and without an error.
var errNoResponse = errors.New("neither a result nor an error")

// ReadResponse reads a response of JSON-RPC: its result, or its error as failed.
func ReadResponse(body []byte) (result json.RawMessage, failed *Error, err error) {
	var r struct {
		Result json.RawMessage `json:"result"`
		Error  *Error          `json:"error"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, nil, err
	}
	if r.Error == nil && r.Result == nil {
		return nil, nil, errNoResponse
	}
	return r.Result, r.Error, nil
}

// A Stream reads server-sent events.
type Stream struct {
	ID string // of the last event that had one

	lines *bufio.Scanner
}

// NewStream returns a reader of events of up to most bytes.
func NewStream(from io.Reader, most int) *Stream {
	s := &Stream{lines: bufio.NewScanner(from)}
	s.lines.Buffer(nil, most)
	return s
}

// Next returns the data of the next event that has some; the error is io.EOF at the end, and
// [bufio.ErrTooLong] for an event that is too large. Data after the last empty line is not an
// event: it was cut off.
func (s *Stream) Next() ([]byte, error) {
	var data [][]byte
	for s.lines.Scan() {
		line := s.lines.Bytes()
		if len(line) == 0 {
			if data != nil {
				return bytes.Join(data, []byte("\n")), nil
			}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) { // "" is that of a comment
		case "data":
			data = append(data, bytes.Clone(value))
		case "id":
			s.ID = string(value)
		}
	}
	if err := s.lines.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}
