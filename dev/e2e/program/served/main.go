// Served runs the agent of package writer as it is.
package main

import (
	"longhaul"
	"longhaul/dev/e2e/program/writer"
)

func main() { longhaul.Serve(writer.Agent{}) }
