//go:build !unix

package shell

import "os/exec"

func setGroup(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
