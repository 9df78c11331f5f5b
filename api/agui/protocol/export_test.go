package protocol

import "encoding/json"

// Changes returns the JSON Patch from one JSON value to another.
func Changes(before, after any) ([]byte, error) { return json.Marshal(diff("", before, after)) }

// Joined returns the messages of a thread with those of a client.
func Joined(own []byte, thread ...string) ([]byte, error) {
	var list []Message
	for _, id := range thread {
		role := "assistant"
		if id[0] == 'u' {
			role = "user"
		}
		list = append(list, Message{ID: id, Role: role})
	}
	var messages []Sent
	if err := json.Unmarshal(own, &messages); err != nil {
		return nil, err
	}
	return json.Marshal(joined(messages, list))
}

func (f *Feed) Say(id, text string, last bool, seq int64) { f.say(id, text, last, seq) }
func (f *Feed) SetSteps(names ...string)                  { f.setSteps(names) }
func (f *Feed) Settle()                                   { f.settle() }
