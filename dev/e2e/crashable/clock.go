package main

import (
	"os"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/agiledragon/gomonkey/v2"
)

// The clock of the machine, when this process began, and that of the runtime.
var began, beganNanos = time.Now(), nanotime()

//go:linkname nanotime runtime.nanotime
func nanotime() int64

// trueNow returns the time by the clock of the machine.
func trueNow() time.Time { return began.Add(time.Duration(nanotime() - beganNanos)) }

// theClock keeps the function that is called in place of [time.Now], of which the collector does not know.
var theClock func() time.Time

// readEvery is how often the file of a clock is read.
const readEvery = 20 * time.Millisecond

// setClock replaces the clock of this process, also for its libraries, before others use it. It is ahead by
// what a file says, which is read again and again. Durations are measured as ever, as on a machine whose
// clock is set.
func setClock(path string) {
	var ahead atomic.Int64
	read := func() {
		text, err := os.ReadFile(path)
		if err != nil {
			return // it is being replaced
		}
		if d, err := time.ParseDuration(strings.TrimSpace(string(text))); err == nil {
			ahead.Store(int64(d / time.Second))
		}
	}
	read()
	theClock = func() time.Time {
		t := trueNow()
		*(*int64)(unsafe.Pointer(&t)) += ahead.Load() << 30 // where a time with a monotonic reading has its seconds
		return t
	}
	gomonkey.ApplyFunc(time.Now, theClock)
	go func() {
		for range time.Tick(readEvery) {
			read()
		}
	}()
}
