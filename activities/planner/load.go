package planner

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"longhaul/internal/opfile"
)

//go:embed playbooks/*.yaml
var bundled embed.FS

// Bundled returns the playbooks that come with Longhaul, for trying it out with
// the echo executor.
func Bundled() (*Playbooks, error) { return Load(bundled, "playbooks/demo.yaml") }

// Load reads playbooks from files of fsys, which are tried in the order given. One of the files may have their
// calendars.
// The error lists everything that is wrong with them, by file and line.
func Load(fsys fs.FS, names ...string) (*Playbooks, error) { return Calendars{}.load(fsys, names) }

func (c Calendars) load(fsys fs.FS, names []string) (*Playbooks, error) {
	return c.read(names, func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) })
}

// LoadAll is Load with the calendars of c for all *.yaml and *.yml files in fsys, below its directories too, in
// the order of their paths.
func LoadAll(c Calendars, fsys fs.FS) (*Playbooks, error) {
	var names []string
	err := fs.WalkDir(fsys, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isPlaybook(name) {
			names = append(names, name)
		}
		return err
	})
	if err == nil && len(names) == 0 {
		err = errors.New("no *.yaml among the files of the program")
	}
	if err != nil {
		return nil, fmt.Errorf("load playbooks: %w", err)
	}
	return c.load(fsys, names)
}

// isPlaybook reports whether a file is a playbook by its name.
func isPlaybook(name string) bool {
	ext := path.Ext(name)
	return ext == ".yaml" || ext == ".yml"
}

// LoadFiles is Load with the calendars of c for files by their paths. A directory means the *.yaml and
// *.yml files in it, in the order of their names.
func LoadFiles(c Calendars, paths ...string) (*Playbooks, error) {
	var files []string
	for _, p := range paths {
		found, err := expand(p)
		if err != nil {
			return nil, fmt.Errorf("load playbooks: %w", err)
		}
		files = append(files, found...)
	}
	return c.read(files, os.ReadFile)
}

// expand returns a path, or the playbooks in it if it is a directory.
func expand(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return []string{dir}, nil // load reports the error
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, e := range entries {
		if !e.IsDir() && isPlaybook(e.Name()) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no *.yaml in %s", dir)
	}
	return files, nil
}

// read reads playbooks. Without calendars in c, those in one of the files count.
func (c Calendars) read(names []string, read func(string) ([]byte, error)) (*Playbooks, error) {
	p := &Playbooks{}
	var wrong problems
	var books []string
	texts, own := map[string][]byte{}, ""
	for _, name := range names {
		data, err := read(name)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("load playbook: %w", err))
		case !slices.Contains(opfile.Members(data), "calendars"):
			books, texts[name] = append(books, name), data
		case own != "":
			wrong.add(name, 1, "%s has calendars, too: put all into one file", own)
		default:
			own = name
			if len(c.list) > 0 {
				continue
			}
			if c, err = calendarsIn(data, name, time.Now()); err != nil {
				wrong = append(wrong, err)
			}
		}
	}
	for _, name := range books {
		s := source{file: name, calendars: c}
		if b := s.read(texts[name]); b != nil {
			p.list = append(p.list, b)
		}
		wrong = append(wrong, s.wrong...)
	}
	p.checkUnique(&wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// checkUnique reports names, skills and defaults that several playbooks have.
func (p *Playbooks) checkUnique(wrong *problems) {
	for i, b := range p.list {
		for _, before := range p.list[:i] {
			b.compare(before, wrong)
		}
	}
}

// compare reports the name and the skills that b has in common with another playbook, and
// if both are the default.
func (b *playbook) compare(before *playbook, wrong *problems) {
	if b.name == before.name {
		wrong.add(b.file, b.line, "%s also has the name %q", before.file, b.name)
	}
	if b.rules.fallback && before.rules.fallback {
		wrong.add(b.file, b.line, "%s is also the default", before.file)
	}
	for _, skill := range b.rules.skills {
		if slices.Contains(before.rules.skills, skill) {
			wrong.add(b.file, b.line, "%s also has the skill %q", before.file, skill)
		}
	}
}
