// Package serve puts the processes together that serve A2A and do the work.
package serve
