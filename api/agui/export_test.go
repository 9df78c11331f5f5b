package agui

import "encoding/json"

// For tests of the package: its parts that need no service.

// Changes returns the JSON Patch from one JSON value to another.
func Changes(before, after any) ([]byte, error) { return json.Marshal(diff("", before, after)) }

// Joined returns the messages of a thread with those of a client.
func Joined(own []byte, thread ...string) ([]byte, error) {
	var list []chatMessage
	for _, id := range thread {
		role := "assistant"
		if id[0] == 'u' {
			role = "user"
		}
		list = append(list, chatMessage{ID: id, Role: role})
	}
	var messages []sent
	if err := json.Unmarshal(own, &messages); err != nil {
		return nil, err
	}
	return json.Marshal(joined(messages, list))
}

// Feed has the methods of a feed.
type Feed struct{ feed }

// Resumed returns the feed of a client with a position; ok is false if that is none.
func Resumed(id string) (f *Feed, ok bool) {
	f = &Feed{}
	f.at, ok = parsePosition(id)
	return f, ok
}

func (f *Feed) Say(id, text string, last bool, seq int64) error { return f.say(id, text, last, seq) }
func (f *Feed) SetSteps(names ...string) error                  { return f.setSteps(names) }
func (f *Feed) Settle() error                                   { return f.settle() }
func (f *Feed) Take() string                                    { return f.take() }
func (f *Feed) Seq() int64                                      { return f.at.Seq }
