package activities

import "bytes"

// ShortestSecret is how long a secret is at least that [Hide] is for. Shorter ones would
// change ordinary text.
const ShortestSecret = 6

// Hide returns data with secrets replaced: those who get a credential may repeat it in
// what they answer.
func Hide(data []byte, secrets []string) []byte {
	for _, s := range secrets {
		data = bytes.ReplaceAll(data, []byte(s), []byte("[credential]"))
	}
	return data
}
