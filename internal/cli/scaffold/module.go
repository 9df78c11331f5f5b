package scaffold

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/mod/modfile"
)

// Modules of Longhaul, and the directory of the second one in the source of the first.
const (
	rootModule = "longhaul"
	devModule  = "dev"
)

// noVersion is the version of a module that is replaced by a directory.
const noVersion = "v0.0.0"

// goMod returns the go.mod of the program. It requires the versions that Longhaul is
// tested with, so that a build needs no other, and has the stand-ins of its workspace.
func (c Config) goMod() ([]byte, error) {
	name := filepath.Join(c.Source, devModule, "go.mod")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	tested, err := modfile.Parse(name, text, nil)
	if err != nil {
		return nil, err
	}
	mod := &modfile.File{}
	if err := errors.Join(mod.AddModuleStmt(c.Module), mod.AddGoStmt(tested.Go.Version)); err != nil {
		return nil, err
	}
	for _, m := range []struct{ path, dir string }{{rootModule, c.Source}, {rootModule + "/" + devModule, filepath.Join(c.Source, devModule)}} {
		mod.AddNewRequire(m.path, noVersion, false)
		if err := mod.AddReplace(m.path, "", m.dir, ""); err != nil {
			return nil, err
		}
	}
	if err := c.addStandIns(mod); err != nil {
		return nil, err
	}
	for _, r := range tested.Require {
		if r.Mod.Path != rootModule {
			mod.AddNewRequire(r.Mod.Path, r.Mod.Version, true)
		}
	}
	mod.SetRequireSeparateIndirect(mod.Require)
	mod.Cleanup()
	return mod.Format()
}

// addStandIns has mod replace the modules that the workspace of the source replaces.
func (c Config) addStandIns(mod *modfile.File) error {
	name := filepath.Join(c.Source, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	work, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return err
	}
	for _, r := range work.Replace {
		if r.Old.Path == rootModule {
			continue // it is replaced already
		}
		if err := mod.AddReplace(r.Old.Path, "", filepath.Join(c.Source, r.New.Path), ""); err != nil {
			return err
		}
	}
	return nil
}

// IsSource reports whether dir has the source of Longhaul.
func IsSource(dir string) bool {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil || modfile.ModulePath(text) != rootModule {
		return false
	}
	_, err = os.Stat(filepath.Join(dir, devModule, "go.mod"))
	return err == nil
}
