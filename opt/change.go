package opt

import (
	"strings"

	"longhaul/a2a"
)

// Empty reports whether c changes nothing.
func (c *Change) Empty() bool {
	return c == nil || c.Name == nil && c.Description == nil && c.Metadata == nil && c.Dependencies == nil
}

// Check returns a [SpecError] if a new name or description is invalid.
func (c *Change) Check() error {
	name, description, _ := c.apply("-", "", nil)
	return checkText("", name, description)
}

// apply returns a name, a description and metadata as c changes them. The keys of
// clients are replaced as a whole; a client cannot change reserved keys, except
// those of MaySet.
func (c *Change) apply(name, description string, metadata a2a.Metadata) (string, string, a2a.Metadata) {
	if c == nil {
		return name, description, metadata
	}
	if c.Name != nil {
		name = *c.Name
	}
	if c.Description != nil {
		description = *c.Description
	}
	if c.Metadata == nil {
		return name, description, metadata
	}
	replaced := a2a.Metadata{}
	for key, value := range metadata {
		if reserved(key) {
			replaced[key] = value
		}
	}
	for key, value := range c.Metadata {
		if MaySet(key) {
			replaced[key] = value
		}
	}
	return name, description, replaced
}

// reserved reports whether a metadata key belongs to the extension or to Longhaul.
func reserved(key string) bool {
	return strings.HasPrefix(key, "opt/v1/") || strings.HasPrefix(key, "longhaul/v1/")
}

// MaySet reports whether clients may set a metadata key.
func MaySet(key string) bool { return !reserved(key) || key == KeyOptional || key == KeyAutoStart }
