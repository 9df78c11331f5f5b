package workflows

// Functions for tests.
var (
	ExternalStorage = externalStorage
	Digest          = digest
)

// Segments returns the segments of a document as texts, each with its place.
func Segments(doc []byte) (places []int, texts []string) {
	for _, s := range segments(doc) {
		places, texts = append(places, s.from), append(texts, string(doc[s.from:s.to]))
	}
	return places, texts
}
