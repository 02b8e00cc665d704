//go:build linux

package faults

import (
	"context"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A journal keeps of what an agent says that which must not be forgotten: of its
// log only the last is kept, and an agent without its store says much.
type journal struct {
	mu     sync.Mutex
	last   string            // line read
	active map[string]string // by lease: the newest line that says so
	said   map[string]int    // how often, by message; of lanes, by message and lane
	errors map[string]int    // how often, by message
	panics int
}

func newJournal() journal {
	return journal{active: map[string]string{}, said: map[string]int{}, errors: map[string]int{}}
}

// hear keeps up with what all agents say until ctx ends.
func (m *mesh) hear(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		for _, a := range m.all() {
			a.hear()
		}
	}
}

// hear takes in what the agent has said since it was last heard.
func (a *agent) hear() { a.heard.read(a.Log()) }

// read takes in what is new in a log.
func (j *journal) read(log string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	log = log[:strings.LastIndexByte(log, '\n')+1]
	if at := strings.LastIndex(log, j.last); j.last != "" && at >= 0 {
		log = log[at+len(j.last):]
	}
	for line := range strings.Lines(log) {
		line = strings.Clone(line) // or what is kept of it would keep the whole log
		j.note(line)
		j.last = line
	}
}

func (j *journal) note(line string) {
	if strings.Contains(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		j.panics++
	}
	message := valueOf(line, "msg")
	switch message {
	case "":
		return
	case "active":
		j.active[valueOf(line, "lease")] = line
	}
	j.said[strings.TrimSpace(message+" "+valueOf(line, "lane"))]++
	if valueOf(line, "level") == "ERROR" {
		j.errors[message]++
	}
}

// valueOf returns the first value of a key in a line of a log, or "".
func valueOf(line, key string) string {
	_, after, found := strings.Cut(" "+line, " "+key+"=")
	if !found {
		return ""
	}
	if quoted, err := strconv.QuotedPrefix(after); err == nil {
		value, _ := strconv.Unquote(quoted)
		return value
	}
	value, _, _ := strings.Cut(strings.TrimSpace(after), " ")
	return value
}

// activeIn returns the newest line that says that the agent is active in what a
// lease is for, or "".
func (j *journal) activeIn(lease string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.active[lease]
}

// count returns how often something was said.
func (j *journal) count(message string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.said[message]
}

// faulty returns how often which errors were told, and how many panics.
func (j *journal) faulty() (errors map[string]int, panics int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.errors), j.panics
}

func TestAJournalReadsEachLineOnce(t *testing.T) {
	j := newJournal()
	const (
		first  = `time=1 level=DEBUG msg=active lease=schedule` + "\n"
		second = `time=2 level=DEBUG msg="cluster is active" lane=en items=3` + "\n" +
			`time=3 level=ERROR msg="task goes to quarantine" err="it says msg=active lease=index"` + "\n"
		third = `time=4 level=WARN msg="task failed" err="panic: index out of range\ngoroutine 1"` + "\n" +
			`time=5 level=ERROR msg="task goes to quarantine" err=x` + "\n"
	)
	j.read(first + second[:20]) // a line is not whole yet
	j.read(first + second)
	j.read(first + second)
	j.read(second + third) // the first is forgotten

	errors, panics := j.faulty()
	if j.activeIn("schedule") != first || j.activeIn("index") != "" || j.count("cluster is active en") != 1 ||
		len(errors) != 1 || errors["task goes to quarantine"] != 2 || panics != 1 {
		t.Errorf("got active %q, said %v, errors %v and %d panics", j.active, j.said, errors, panics)
	}
}
