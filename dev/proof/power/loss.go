package power

import (
	"maps"
	"slices"
)

// A Loss says what of the unsynced data a power cut takes.
type Loss int

const (
	// LoseAll takes all of it.
	LoseAll Loss = iota
	// LoseSome takes a random part of the writes, in no order, and the latest changes of
	// names from a random one on.
	LoseSome
	// Tear does the same, and takes random sectors of writes that remain.
	Tear
	losses
)

// sector is what a disk writes at once.
const sector = 512

// AnyLoss returns a random one.
func (d *Disk) AnyLoss() Loss {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Loss(d.rand.IntN(int(losses)))
}

// lose makes the disk what it is after a power cut.
func (d *Disk) lose(how Loss) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.loseNames(how)
	done := map[*file]bool{} // with two names
	for f := range d.root.all() {
		if done[f] {
			continue
		}
		done[f] = true
		// The range continues with these names.
		f.names = maps.Clone(f.syncedNames)
		f.synced = d.surviving(f, how)
		f.data, f.unsynced = slices.Clone(f.synced), nil
	}
}

// loseNames keeps some of the changes of names that were not synced.
func (d *Disk) loseNames(how Loss) {
	if how != LoseAll && len(d.log) > 0 {
		if d.names == Ordered {
			d.commit(d.rand.IntN(len(d.log)+1), nil)
		} else {
			for f := range d.root.all() {
				if f.isDir() {
					d.commit(d.rand.IntN(len(d.log)+1), f)
				}
			}
		}
	}
	d.losses.Names += len(d.log)
	d.log = nil
}

// surviving returns what a file has after a cut. Writes after a change of the length
// are there only if that is.
func (d *Disk) surviving(f *file, how Loss) []byte {
	data := f.synced
	for i, w := range f.unsynced {
		if how == LoseAll || w.isCut && d.rand.IntN(2) == 0 {
			d.losses.Writes += len(f.unsynced) - i
			break
		}
		switch {
		case w.isCut:
			data = w.to(data)
		case d.rand.IntN(2) == 0:
			d.losses.Writes++
		case how == Tear && d.rand.IntN(2) == 0:
			d.losses.Torn++
			data = d.torn(w, data)
		default:
			d.losses.Kept++
			data = w.to(data)
		}
	}
	return data
}

// torn returns data after random sectors of a write.
func (d *Disk) torn(w write, data []byte) []byte {
	for from := 0; from < len(w.data); {
		to := min(len(w.data), from+sector-(w.at+from)%sector)
		if d.rand.IntN(2) == 0 {
			data = write{at: w.at + from, data: w.data[from:to]}.to(data)
		}
		from = to
	}
	return data
}
