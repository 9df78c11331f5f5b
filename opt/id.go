package opt

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var idText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// idForm has one form for each number, so that nothing has two ids.
var idForm = regexp.MustCompile(`^(obj|plan|task)-([a-z2-7]{26})(?:-(0|[1-9]\d{0,5}))?(?:-(0|[1-9]\d{0,5}))?(?:~([2-9]|[1-9]\d{1,5}))?$`)

// NewObjectiveID returns the id of an objective that unique, 16 random bytes
// or the like, stands for.
func NewObjectiveID(unique [16]byte) string { return "obj-" + idText.EncodeToString(unique[:]) }

// DerivedObjectiveID returns the id of the objective that a message starts.
// The same sender repeating the same message gets the same id, which is what
// makes a send idempotent without a table to look it up in.
func DerivedObjectiveID(tenant, principal, messageID string) string {
	h := sha256.New()
	for _, s := range []string{tenant, principal, "new", messageID} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	var unique [16]byte
	copy(unique[:], h.Sum(nil))
	return NewObjectiveID(unique)
}

// PlanID returns the id of the n-th plan of an objective.
func PlanID(objectiveID string, n int) string {
	return "plan-" + strings.TrimPrefix(objectiveID, "obj-") + "-" + strconv.Itoa(n)
}

// TaskID returns the id of the m-th task of a plan.
func TaskID(planID string, m int) string {
	return "task-" + strings.TrimPrefix(planID, "plan-") + "-" + strconv.Itoa(m)
}

// RootID returns the id of the A2A task that stands for an attempt at an
// objective: the objective's own id for the first.
func RootID(objectiveID string, attempt int) string {
	if attempt <= 1 {
		return objectiveID
	}
	return objectiveID + "~" + strconv.Itoa(attempt)
}

// A Ref is what an id says of the thing it names.
type Ref struct {
	ObjectiveID string
	PlanID      string // "" for an objective
	TaskID      string // plan task without its attempt; "" for an objective or a plan
	Attempt     int    // 1 unless the id names a later one
}

// ParseID takes an id apart. Ids are routes: the workflow that owns a thing
// follows from its id alone. ok is false for what is not one of our ids.
func ParseID(id string) (ref Ref, ok bool) {
	m := idForm.FindStringSubmatch(id)
	if m == nil {
		return Ref{}, false
	}
	kind, u, n, k, attempt := m[1], m[2], m[3], m[4], m[5]
	ref = Ref{ObjectiveID: "obj-" + u, Attempt: 1}
	if attempt != "" {
		ref.Attempt, _ = strconv.Atoi(attempt)
	}
	switch {
	case kind == "obj" && n == "" && k == "":
		return ref, true
	case kind == "plan" && n != "" && k == "":
		ref.PlanID = "plan-" + u + "-" + n
		return ref, true
	case kind == "task" && n != "" && k != "":
		ref.PlanID = "plan-" + u + "-" + n
		ref.TaskID = "task-" + u + "-" + n + "-" + k
		return ref, true
	}
	return Ref{}, false
}

// ArtifactID returns the id of an artifact that its task knows as local. It is
// unique within the objective, so that a root task can show the artifacts of
// several tasks.
func ArtifactID(taskID, local string) string {
	_, place, _ := strings.Cut(strings.TrimPrefix(taskID, "task-"), "-")
	return place + "-" + local
}
