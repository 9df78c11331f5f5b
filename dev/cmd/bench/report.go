package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A figure is one line of the report. Value is the median of the rounds, between the
// lowest and the highest; Ratio the median of the ratios of the rounds.
type figure struct {
	Part          string  `json:"part"`
	Name          string  `json:"name"`
	Unit          string  `json:"unit"`
	Value         float64 `json:"value"`
	Low           float64 `json:"low"`
	High          float64 `json:"high"`
	Baseline      string  `json:"baseline"` // what it is compared with; "" for nothing
	BaselineValue float64 `json:"baselineValue,omitempty"`
	Ratio         float64 `json:"ratio,omitempty"` // of the value to the baseline
	RatioLow      float64 `json:"ratioLow,omitempty"`
	RatioHigh     float64 `json:"ratioHigh,omitempty"`
	Rounds        int     `json:"rounds"`
	Aim           string  `json:"aim,omitempty"`
	Met           *bool   `json:"met,omitempty"`
	Note          string  `json:"note,omitempty"`
}

// A report has all figures of a run.
type report struct {
	Began   time.Time `json:"began"`
	Took    float64   `json:"tookSeconds"`
	CPUs    int       `json:"cpus"`
	Go      string    `json:"go"`
	System  string    `json:"system"`
	Load    string    `json:"load"` // of the machine before the run
	Figures []figure  `json:"figures"`
}

func newReport() *report {
	load, _ := os.ReadFile("/proc/loadavg") // "" elsewhere
	return &report{Began: time.Now(), CPUs: runtime.NumCPU(), Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Load: strings.TrimSpace(string(load))}
}

// A measured is the values of the rounds of both sides.
type measured struct {
	part, name, unit string
	ours, base       []float64
	baseline         string // name of the other side; "" for none
}

// add adds a figure and returns it, for its aim.
func (r *report) add(m measured) *figure {
	f := figure{Part: m.part, Name: m.name, Unit: m.unit, Rounds: len(m.ours), Baseline: m.baseline}
	if len(m.ours) > 0 {
		f.Value, f.Low, f.High = median(m.ours), slices.Min(m.ours), slices.Max(m.ours)
	}
	if len(m.base) > 0 {
		f.BaselineValue = median(m.base)
		var ratios []float64
		for i := range min(len(m.base), len(m.ours)) {
			if m.base[i] > 0 {
				ratios = append(ratios, m.ours[i]/m.base[i])
			}
		}
		if len(ratios) > 0 {
			f.Ratio, f.RatioLow, f.RatioHigh = median(ratios), slices.Min(ratios), slices.Max(ratios)
		}
	}
	r.Figures = append(r.Figures, f)
	return &r.Figures[len(r.Figures)-1]
}

// compare adds a figure of Longhaul beside one of the official server.
func (r *report) compare(part, name, unit string, both []values, value string) *figure {
	return r.add(measured{part, name, unit, both[0][value], both[1][value], officialName})
}

// setAim sets an aim and whether it was met.
func (f *figure) setAim(aim string, met bool) { f.Aim, f.Met = aim, &met }

// write prints the table and writes the JSON file.
func (r *report) write(path string) error {
	r.Took = time.Since(r.Began).Seconds()
	fmt.Printf("%d CPUs, %s, %s, load before %s; %.0f s\n\n", r.CPUs, r.System, r.Go, r.Load, r.Took)
	fmt.Println("| | figure | Longhaul | low–high | baseline | its value | ratio | low–high | aim | met |\n| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | --- | --- |")
	for _, f := range r.Figures {
		fmt.Println(f.row())
	}
	if path == "" {
		return nil
	}
	raw, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(raw, '\n'), 0o644)
}

func (f figure) row() string {
	base, ratio, ratios, met := "", "", "", ""
	if f.BaselineValue != 0 {
		base = number(f.BaselineValue)
	}
	if f.Ratio > 0 {
		ratio, ratios = number(f.Ratio), number(f.RatioLow)+"–"+number(f.RatioHigh)
	}
	if f.Met != nil {
		met = map[bool]string{true: "yes", false: "**no**"}[*f.Met]
	}
	name := f.Name + " (" + f.Unit + ")"
	if f.Note != "" {
		name += "; " + f.Note
	}
	return fmt.Sprintf("| %s | %s | %s | %s–%s | %s | %s | %s | %s | %s | %s |",
		f.Part, name, number(f.Value), number(f.Low), number(f.High), f.Baseline, base, ratio, ratios, f.Aim, met)
}

// number writes three digits that matter.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100 || v <= -100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// milliseconds are the unit of times.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quantile returns the value below which a share of the values is.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(values))
	return s[min(len(s)-1, int(share*float64(len(s))))]
}

// percentiles returns those of times in milliseconds.
func percentiles(took []float64) map[string]float64 {
	return map[string]float64{"p50": quantile(took, 0.5), "p95": quantile(took, 0.95)}
}

// sizes are numbers in a flag: 1,100,1000.
type sizes []int

func (s *sizes) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*s)), " ", ","), "[]")
}

// Set implements [flag.Value].
func (s *sizes) Set(text string) error {
	*s = nil
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of 1 or more", word)
		}
		*s = append(*s, n)
	}
	return nil
}
