//go:build !unix

package commands

import "os"

func session() int { return os.Getppid() }
