// Command rivals measures general-purpose rule engines with the rules and documents on its input, and prints
// the figures. Both are JSON; [Task] and [Figures] define the format. "bench classify" runs it.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// A Task is the input.
type Task struct {
	Rules     []Condition
	Documents []Fact
}

// A Condition has one of: parts of which any or all must match; a part that must not match; or a term, in
// stems, in a field.
type Condition struct {
	Or, And     []Condition `json:",omitempty"`
	Not         *Condition  `json:",omitempty"`
	Field, Term string      `json:",omitempty"`
}

// A Fact is a document: the stems and phrases of its fields.
type Fact struct {
	Any, Title, Tag, Body, Feed, Author, URL []string
}

// Figures are the measurements of one engine.
type Figures struct {
	Name     string
	Load     time.Duration
	Memory   uint64        // of the loaded rules, in bytes
	PerItem  time.Duration // CPU time
	P50, P99 time.Duration
	Fired    [][]int // by document, the sorted indexes of the matching rules
}

// A set contains the strings of a field.
type set map[string]bool

// A document is a [Fact] as passed to the engines: with precomputed sets.
type document struct {
	Any, Title, Tag, Body, Feed, Author, URL set
}

// An engine loads rules into a function that returns the matching ones.
type engine struct {
	name string
	load func([]Condition) (func(*document) ([]int, error), error)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(1)
	}
}

func run() error {
	var task Task
	if err := json.NewDecoder(os.Stdin).Decode(&task); err != nil {
		return fmt.Errorf("read the task: %w", err)
	}
	documents := make([]*document, len(task.Documents))
	for i, f := range task.Documents {
		documents[i] = &document{setOf(f.Any), setOf(f.Title), setOf(f.Tag), setOf(f.Body), setOf(f.Feed), setOf(f.Author), setOf(f.URL)}
	}
	var all []Figures
	for _, e := range []engine{{"expr-lang/expr v1.17.8", loadExpr}, {"Grule v1.20.4", loadGrule}} {
		f, err := measure(e, task.Rules, documents)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		all = append(all, f)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

func setOf(list []string) set {
	s := make(set, len(list))
	for _, text := range list {
		s[text] = true
	}
	return s
}

func measure(e engine, rules []Condition, documents []*document) (Figures, error) {
	f := Figures{Name: e.name}
	before := heap()
	began := cpuTime()
	fire, err := e.load(rules)
	if err != nil {
		return f, err
	}
	f.Load = cpuTime() - began
	f.Memory = heap() - before
	times := make([]time.Duration, len(documents))
	f.Fired = make([][]int, len(documents))
	f.PerItem = time.Hour
	for range rounds {
		began = cpuTime()
		for i, d := range documents {
			start := time.Now()
			if f.Fired[i], err = fire(d); err != nil {
				return f, err
			}
			times[i] = time.Since(start)
		}
		if each := (cpuTime() - began) / time.Duration(len(documents)); each < f.PerItem {
			slices.Sort(times)
			f.PerItem, f.P50, f.P99 = each, times[len(times)/2], times[len(times)*99/100]
		}
	}
	for _, fired := range f.Fired {
		slices.Sort(fired)
	}
	return f, nil
}

// rounds is the number of measurements of all documents. The fastest counts, because other processes only add
// time.
const rounds = 3

// cpuTime returns the CPU time of this process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap returns the memory in use, in bytes.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
