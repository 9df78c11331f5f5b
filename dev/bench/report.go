package main

import (
	"fmt"
	"slices"

	"longhaul/dev/e2e/cost"
)

func reportHead() {
	fmt.Println("| round | side | CPU (ms each) | rate (per s) | p50 (ms) | p95 (ms) |\n| ---: | --- | ---: | ---: | ---: | ---: |")
}

func reportRound(i int, sides [2]*side, p pair) {
	for k, r := range p {
		fmt.Printf("| %d | %s | %.1f | %.1f | %.1f | %.1f |\n", i+1, sides[k].name, r.cpu, r.rate, r.p50, r.p95)
	}
}

// reportRatios prints the median of each value, and of its ratio by round.
func reportRatios(pairs []pair) {
	fmt.Println("\n| median of the rounds | bare Temporal | Longhaul | Longhaul ÷ bare | min..max |\n| --- | ---: | ---: | ---: | ---: |")
	row := func(what string, value func(result) float64) {
		var bare, longhaul, ratios []float64
		for _, p := range pairs {
			a, b := value(p[0]), value(p[1])
			bare, longhaul, ratios = append(bare, a), append(longhaul, b), append(ratios, b/a)
		}
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.2f..%.2f |\n", what, median(bare), median(longhaul), median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
	row("CPU (ms each)", func(r result) float64 { return r.cpu })
	row("rate (per s)", func(r result) float64 { return r.rate })
	row("p50 (ms)", func(r result) float64 { return r.p50 })
	row("p95 (ms)", func(r result) float64 { return r.p95 })
	fmt.Println()
}

// reportCounts prints what single objectives cost.
func reportCounts(sides [2]*side) {
	fmt.Println("| count for one objective, median | bare Temporal | Longhaul |\n| --- | ---: | ---: |")
	for _, row := range []struct {
		what string
		kind cost.Kind
	}{{"requests to Temporal", cost.Request}, {"batches to the journal", cost.Batch}} {
		fmt.Printf("| %s | %d | %d |\n", row.what, sides[0].median.Count(row.kind), sides[1].median.Count(row.kind))
	}
}

// median returns the middle value, or the mean of the two in the middle.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}
