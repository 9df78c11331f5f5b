package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"longhaul/client"
	"longhaul/internal/process"
	"longhaul/opt"
)

// taskIDOf returns the task of id, which may be that of a gate.
func taskIDOf(id string) string {
	taskID, _ := opt.TaskOfGate(id)
	if _, ok := opt.ParseID(taskID); ok {
		return taskID
	}
	return id
}

// objectiveIDOf returns the objective of id, which may be that of a plan, a task or a
// gate.
func objectiveIDOf(id string) string {
	id = taskIDOf(id)
	if ref, ok := opt.ParseID(id); ok {
		return ref.ObjectiveID
	}
	return id
}

// rootOf returns the objective whose root task has an id, "" for an id of another task or agent.
func rootOf(taskID string) string {
	if ref, ok := opt.ParseID(taskID); ok && ref.TaskID == "" {
		return ref.ObjectiveID
	}
	return ""
}

// shortID matches the begin of an id, with or without its kind.
var shortID = regexp.MustCompile(`^(?:(?:obj-|task-|plan-)[a-z2-7]{1,26}(?:-\d*)*|[a-z2-7]{4,25})$`)

// wholeID returns the id that a text means: @1 is the first of the last list, and the begin of one
// id means that. Any other text stays as it is: other agents have ids of their own.
func wholeID(ctx context.Context, r *remote, text string) (string, error) {
	if number, ok := strings.CutPrefix(text, "@"); ok {
		return listedID(r, number)
	}
	if _, whole := opt.ParseID(text); whole || !shortID.MatchString(text) {
		return text, nil
	}
	var found []string
	for _, id := range candidates(ctx, r.noRepeat, text) {
		if strings.HasPrefix(id, text) || strings.HasPrefix(id, "obj-"+text) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return text, nil // the agent says that there is no such id
	case 1:
		return found[0], nil
	}
	return "", process.Usagef("%s is the begin of %d ids: %s", text, len(found), strings.Join(found[:min(3, len(found))], ", "))
}

// searched is in how many of the newest objectives the begin of an id is looked for.
const searched = 1000

// candidates returns ids of which a text may be the begin: of objectives, or for those of tasks and
// plans the open gates, or else all tasks and plans of the objectives. It ignores errors: then the
// whole id is needed.
func candidates(ctx context.Context, agent *client.Client, text string) (ids []string) {
	if strings.HasPrefix(text, "task-") {
		ids = openGates(ctx, agent)
		if slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(id, text) }) {
			return ids
		}
	}
	kind, rest, _ := strings.Cut(text, "-")
	letters, _, _ := strings.Cut(cmp.Or(rest, kind), "-")
	for token := ""; ; {
		page, err := agent.ListObjectives(ctx, client.ObjectiveOptions{PageSize: listPage, PageToken: token})
		for _, o := range pageItems(page, err) {
			switch {
			case !strings.HasPrefix(o.ID, "obj-"+letters):
			case kind == "task", kind == "plan":
				ids = append(ids, partsOf(ctx, agent, o.ID)...)
			default:
				ids = append(ids, o.ID)
			}
		}
		if err != nil || page.NextPageToken == "" || len(ids) >= searched {
			return ids
		}
		token = page.NextPageToken
	}
}

func openGates(ctx context.Context, agent *client.Client) (ids []string) {
	page, err := agent.Interrupts(ctx, client.InterruptOptions{PageSize: listPage})
	for _, g := range pageItems(page, err) {
		ids = append(ids, g.ID)
	}
	return ids
}

func pageItems[T any](page *client.Page[T], err error) []T {
	if err != nil {
		return nil
	}
	return page.Items
}

// partsOf returns the ids of the plans and tasks of an objective.
func partsOf(ctx context.Context, agent *client.Client, objectiveID string) (ids []string) {
	o, err := agent.GetObjective(ctx, objectiveID)
	if err != nil {
		return nil
	}
	for _, p := range o.Plans {
		ids = append(ids, p.ID)
		for _, t := range p.Tasks {
			ids = append(ids, cmp.Or(t.A2ATaskID, t.ID))
		}
	}
	return ids
}

// A keptList has the ids of the last list that was shown in a session of a terminal.
type keptList struct {
	URL string   `json:"url"` // of the agent
	IDs []string `json:"ids"`
}

// listFile returns the file with the last list of this session, "" if there is no place for it.
func listFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "longhaul", fmt.Sprintf("list-%d.json", session()))
}

// keepList stores ids for [wholeID], and removes the lists of old sessions.
func keepList(r *remote, ids []string) {
	file := listFile()
	raw, err := json.Marshal(keptList{r.settings.URL, ids})
	if file == "" || err != nil || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	_ = os.WriteFile(file, raw, 0o600) // without it @1 says that there is none
	others, _ := filepath.Glob(filepath.Join(filepath.Dir(file), "list-*.json"))
	for _, other := range others {
		if info, err := os.Stat(other); err == nil && time.Since(info.ModTime()) > 7*24*time.Hour {
			_ = os.Remove(other)
		}
	}
}

// listedID returns an id of the last list.
func listedID(r *remote, number string) (string, error) {
	var last keptList
	raw, err := os.ReadFile(listFile())
	if err != nil || json.Unmarshal(raw, &last) != nil || last.URL != r.settings.URL {
		return "", process.Usagef("@%s names an id of the last list in this terminal, and there is none of this agent. To see one: %s", number, r.command("inbox"))
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(last.IDs) {
		return "", process.Usagef("@%s is not in the last list, which has @1 to @%d", number, len(last.IDs))
	}
	return last.IDs[n-1], nil
}
