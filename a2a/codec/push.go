package codec

// A PushConfig says where the states of a task go. Its secrets are read, and never written.
type PushConfig struct {
	TaskID      string
	ID          string
	URL         string
	Token       string
	Schemes     []string // of Authorization; 1.0 has one
	Credentials string
}

// ReadPushConfig reads the members of a push config other than its task, in the object that has
// them. They are not checked.
func ReadPushConfig(o Object) PushConfig {
	p := PushConfig{ID: o.Text("id"), URL: o.Text("url"), Token: o.Text("token")}
	auth, ok := o.Child("authentication")
	if !ok {
		return p
	}
	p.Credentials = auth.Text("credentials")
	if o.r.Version == V03 {
		p.Schemes = auth.Texts("schemes")
	} else if scheme := auth.Text("scheme"); scheme != "" {
		p.Schemes = []string{scheme}
	}
	return p
}
