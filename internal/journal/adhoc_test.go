package journal_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"longhaul/internal/journal"
	"longhaul/opt"
)

func TestAdhocWAL(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.db")
	j := openFile(t, path)
	j2 := j
	if os.Getenv("TWO") != "" {
		j2 = openFile(t, path)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	took := map[*journal.Journal][]time.Duration{}
	end := time.Now().Add(8 * time.Second)
	for i := range 32 {
		wg.Go(func() {
			jj := []*journal.Journal{j, j2}[i%2]
			var mine []time.Duration
			for time.Now().Before(end) {
				s := begin(t, jj, newObjective())
				s.record(planAdded(s.objective, 0, 2))
				for n := range 20 {
					st := time.Now()
					s.record(s.moved(0, n%2, opt.TaskWorking))
					mine = append(mine, time.Since(st))
				}
			}
			mu.Lock()
			took[jj] = append(took[jj], mine...)
			mu.Unlock()
		})
	}
	wg.Go(func() {
		for time.Now().Before(end) {
			time.Sleep(time.Second)
			a, _ := os.Stat(path)
			b, _ := os.Stat(path + "-wal")
			fmt.Print(a.Size()>>20, "/", b.Size()>>20, " ")
		}
	})
	wg.Wait()
	js := []*journal.Journal{j, j2}
	if j == j2 {
		js = js[:1]
	}
	for _, jj := range js {
		d := took[jj]
		slices.Sort(d)
		fmt.Println(len(d), d[len(d)/2], d[len(d)*99/100], d[len(d)-1])
	}
}
