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

// A journal extracts the relevant events from an agent's log: only the end of a log is buffered, and an agent
// without its store logs much.
type journal struct {
	mu     sync.Mutex
	last   string            // last line read
	active map[string]string // by lease: the newest line that reports it as active
	counts map[string]int    // counts by message; for partitions, by message and partition
	errors map[string]int    // counts by message
	panics int
}

func newJournal() journal {
	return journal{active: map[string]string{}, counts: map[string]int{}, errors: map[string]int{}}
}

// readLogs reads the logs of all agents until ctx ends.
func (m *mesh) readLogs(ctx context.Context) {
	for ; ctx.Err() == nil; time.Sleep(500 * time.Millisecond) {
		for _, a := range m.all() {
			a.readLog()
		}
	}
}

// readLog reads the agent's new log lines.
func (a *agent) readLog() { a.journal.read(a.Log()) }

// read reads the new lines of a log.
func (j *journal) read(log string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	log = log[:strings.LastIndexByte(log, '\n')+1]
	if at := strings.LastIndex(log, j.last); j.last != "" && at >= 0 {
		log = log[at+len(j.last):]
	}
	for line := range strings.Lines(log) {
		line = strings.Clone(line) // a substring would retain the whole log
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
	j.counts[strings.TrimSpace(message+" "+valueOf(line, "language"))]++
	if valueOf(line, "level") == "ERROR" {
		j.errors[message]++
	}
}

// valueOf returns the first value of a key in a log line, or "".
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

// activeIn returns the newest line that reports the agent as the active holder of a lease, or "".
func (j *journal) activeIn(lease string) string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.active[lease]
}

// count returns the number of occurrences of a message.
func (j *journal) count(message string) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.counts[message]
}

// faulty returns the counts of error messages and of panics.
func (j *journal) faulty() (errors map[string]int, panics int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.errors), j.panics
}

func TestJournal_ReadsEachLineOnce(t *testing.T) {
	j := newJournal()
	const (
		first  = `time=1 level=DEBUG msg=active lease=schedule` + "\n"
		second = `time=2 level=DEBUG msg="cluster active" language=en items=3` + "\n" +
			`time=3 level=ERROR msg="task quarantined" err="it says msg=active lease=index"` + "\n"
		third = `time=4 level=WARN msg="task failed" err="panic: index out of range\ngoroutine 1"` + "\n" +
			`time=5 level=ERROR msg="task quarantined" err=x` + "\n"
	)
	j.read(first + second[:20]) // an incomplete line
	j.read(first + second)
	j.read(first + second)
	j.read(second + third) // the first is no longer in the buffer

	errors, panics := j.faulty()
	if j.activeIn("schedule") != first || j.activeIn("index") != "" || j.count("cluster active en") != 1 ||
		len(errors) != 1 || errors["task quarantined"] != 2 || panics != 1 {
		t.Errorf("got active %q, counts %v, errors %v and %d panics", j.active, j.counts, errors, panics)
	}
}
