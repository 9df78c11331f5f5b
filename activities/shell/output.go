package shell

// A head keeps the beginning of an output. It calls full once there is more than it
// may keep.
type head struct {
	text []byte
	most int64
	over bool
	full func()
}

// Write implements [io.Writer].
func (h *head) Write(p []byte) (int, error) {
	if int64(len(h.text)+len(p)) > h.most {
		h.over = true
		h.full()
		return len(p), nil
	}
	h.text = append(h.text, p...)
	return len(p), nil
}

// A tail keeps the end of an output.
type tail struct {
	text []byte
	most int
}

// Write implements [io.Writer].
func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-t.most):]
	return len(p), nil
}
