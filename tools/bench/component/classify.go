package component

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"feedmesh/classify"
	"feedmesh/classify/rule"
	"feedmesh/classify/stem"
	"feedmesh/tools/bench/cpu"
	"feedmesh/tools/bench/report"
)

// Classify measures loading and matching rules on one core, with generated documents or those of a file,
// and compares general-purpose rule engines.
func Classify(ctx context.Context, _ *report.Report, args []string) error {
	flags := flag.NewFlagSet("classify", flag.ContinueOnError)
	count := flags.Int("documents", 2000, "number of documents")
	file := flags.String("file", "", "read documents from this gzipped file, a JSON object with title and body per line, instead of generating them")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	documents := madeDocuments(*count)
	if *file != "" {
		var err error
		if documents, err = readDocuments(*file, *count); err != nil {
			return fmt.Errorf("read documents: %w", err)
		}
	}
	bytes := 0
	for _, d := range documents {
		bytes += len(d.Title) + len(d.Text)
	}
	fmt.Printf("%d documents of %d bytes, one core, the fastest of 7 rounds; processor time, but p50 and p99 by the clock\n", len(documents), bytes/len(documents))
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "rules\tshipped\tparse\tcompile\tmemory\tfire each\titems/s\tp50\tp99\twith stemming\titems/s\tp50\tp99\tfired each")
	for _, n := range []int{300, 1_000, 10_000} {
		text, ours := newWriter(documents, true).write(n, shuffled(classify.Shipped().Rules))
		if err := benchRules(out, n, ours, text, documents); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return benchOtherEngines(ctx, documents[:min(len(documents), 500)])
}

// shuffled returns rules in a random order, so that a prefix is representative.
func shuffled(rules []rule.Rule) []rule.Rule {
	rules = slices.Clone(rules)
	random := rand.New(rand.NewPCG(6, 24))
	random.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	return rules
}

// A loaded set contains loaded rules with the cost of loading.
type loaded struct {
	*classify.Rules
	parse, compile time.Duration
	memory         uint64 // of the text, its trees and the compiled rules, in bytes
}

func load(text string) (*rule.Set, loaded, error) {
	var l loaded
	before := heap()
	began := cpu.Time()
	set, err := rule.Parse([]byte(text))
	if err != nil {
		return nil, l, err
	}
	l.parse = cpu.Time() - began
	began = cpu.Time()
	l.Rules, err = classify.Compile(set)
	l.compile = cpu.Time() - began
	l.memory = heap() - before
	runtime.KeepAlive(set)
	return set, l, err
}

// heap returns the memory in use, in bytes, without pooled memory.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// benchRules adds the row of a set of rules.
func benchRules(out io.Writer, n, ours int, text string, documents []classify.Document) error {
	_, l, err := load(text)
	if err != nil {
		return err
	}
	stemmed := slices.Clone(documents)
	for i := range stemmed {
		stemmed[i].Stems = stem.Words(stemmed[i].Text, stemmed[i].Language)
	}
	matches := 0
	for _, d := range stemmed { // also initializes lazy data
		matches += len(l.Evaluate(d).Matched)
	}
	alone, whole := timeFiring(l.Rules, stemmed), timeFiring(l.Rules, documents)
	fmt.Fprintf(out, "%d\t%d\t%.0f ms\t%.0f ms\t%.1f MB\t%.1f us\t%.0f\t%.0f us\t%.0f us\t%.1f us\t%.0f\t%.0f us\t%.0f us\t%.1f\n",
		n, ours, l.parse.Seconds()*1e3, l.compile.Seconds()*1e3, float64(l.memory)/1e6,
		alone.Mean.Seconds()*1e6, 1/alone.Mean.Seconds(), alone.P50.Seconds()*1e6, alone.P99.Seconds()*1e6,
		whole.Mean.Seconds()*1e6, 1/whole.Mean.Seconds(), whole.P50.Seconds()*1e6, whole.P99.Seconds()*1e6,
		float64(matches)/float64(len(documents)))
	return nil
}

// timeFiring returns the timing of the fastest of several rounds: other processes only add time.
func timeFiring(rules *classify.Rules, documents []classify.Document) report.Timing {
	best := report.Timing{Mean: time.Hour}
	times := make([]time.Duration, len(documents))
	for range 7 {
		began := cpu.Time()
		for i, d := range documents {
			start := time.Now()
			rules.Evaluate(d)
			times[i] = time.Since(start)
		}
		if each := (cpu.Time() - began) / time.Duration(len(times)); each < best.Mean {
			slices.Sort(times)
			best = report.Timing{Mean: each, P50: times[len(times)/2], P99: times[len(times)*99/100]}
		}
	}
	return best
}

// readDocuments reads at most n documents with a body.
func readDocuments(path string, n int) ([]classify.Document, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, err
	}
	var documents []classify.Document
	for lines := json.NewDecoder(z); len(documents) < n; {
		var record struct {
			Title, Body, URL string
			Tags             []string
		}
		if err := lines.Decode(&record); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if record.Body == "" {
			continue
		}
		documents = append(documents, classify.Document{
			Title: record.Title, Text: cut(record.Body, bodyBytes), URL: record.URL, Tags: record.Tags, Language: "en",
		})
	}
	if len(documents) == 0 {
		return nil, errors.New("no document has a body")
	}
	return documents, nil
}

// cut returns at most n bytes of s, in whole characters.
func cut(s string, n int) string {
	for i := range s {
		if i > n {
			return s[:i]
		}
	}
	return s
}
