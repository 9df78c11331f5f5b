// Longhaul is an A2A agent server with durable tasks. This program needs a
// separate Temporal server; the program in dev has one built in.
package main

import "longhaul"

func main() { longhaul.Main(longhaul.Program{}) }
