package opt

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"longhaul/a2a"
)

var idText = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// idForm accepts each number in one form only, so nothing has two ids.
var idForm = regexp.MustCompile(`^(obj|plan|task)-([a-z2-7]{26})(?:-(0|[1-9]\d{0,5}))?(?:-(0|[1-9]\d{0,5}))?(?:~([2-9]|[1-9]\d{1,5}))?$`)

// NewObjectiveID returns an objective id made from unique, which holds 16 random
// bytes or a hash.
func NewObjectiveID(unique [16]byte) string { return "obj-" + idText.EncodeToString(unique[:]) }

var plainForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)

// IsPlainID reports whether an id or a code from an executor or another agent is one that can be
// shown, copied and logged as it is.
func IsPlainID(id string) bool { return plainForm.MatchString(id) }

// DerivedObjectiveID returns the id of the objective that a message starts.
// A sender that repeats a message gets the same id, so a send is idempotent
// without a lookup table.
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

// TaskPlace returns the name of the task with an index for tasks of the same plan.
func TaskPlace(index int) string { return "task-" + strconv.Itoa(index) }

// TaskPlaced returns the id of the task of a plan with such a name; ok is false for other names.
func TaskPlaced(planID, place string) (id string, ok bool) {
	digits, is := strings.CutPrefix(place, "task-")
	n, err := strconv.Atoi(digits)
	return TaskID(planID, n), is && err == nil && TaskPlace(n) == place && n >= 0
}

// RootID returns the id of the root task of an attempt at an objective: the
// objective's own id for the first attempt.
func RootID(objectiveID string, attempt int) string {
	if attempt <= 1 {
		return objectiveID
	}
	return objectiveID + "~" + strconv.Itoa(attempt)
}

// SplitRoot returns the objective and the attempt of a root task.
func SplitRoot(rootID string) (objectiveID string, attempt int) {
	objectiveID, n, later := strings.Cut(rootID, "~")
	if !later {
		return objectiveID, 1
	}
	attempt, _ = strconv.Atoi(n)
	return objectiveID, attempt
}

// A Ref holds the parts of an id.
type Ref struct {
	ObjectiveID string
	PlanID      string // "" for an objective
	TaskID      string // plan task without its attempt; "" for an objective or a plan
	Attempt     int    // 1 unless the id names a later one
}

// ParseID returns the parts of an id. The workflow that owns an objective, plan or
// task follows from the id alone. ok is false if id is in none of the forms made
// here. Each number has one spelling: else one thing would have two ids for a client.
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

// ArtifactID returns the id of the artifact that its task calls local. It is
// unique within the objective, so that a root task can show the artifacts of
// several tasks.
func ArtifactID(taskID, local string) string {
	_, place, _ := strings.Cut(strings.TrimPrefix(taskID, "task-"), "-")
	return place + "-" + local
}

// digestOf returns "sha256:" and the SHA-256, in hexadecimal, of v as JSON in the canonical
// form of RFC 8785.
func digestOf(v any) string {
	sum := sha256.Sum256(a2a.Canonical(a2a.DataPart(v).Data))
	return "sha256:" + hex.EncodeToString(sum[:])
}
