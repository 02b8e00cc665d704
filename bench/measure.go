package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/google/pprof/profile"
)

// A table is what was measured, in order.
type table [][2]string

func (t *table) add(what, format string, args ...any) {
	row := [2]string{what, fmt.Sprintf(format, args...)}
	*t = append(*t, row)
	fmt.Fprintf(os.Stderr, "%s: %s\n", row[0], row[1])
}

func (t table) print(w io.Writer) {
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns)
	for _, row := range t {
		fmt.Fprintf(columns, "%s\t%s\n", row[0], row[1])
	}
	columns.Flush()
}

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// memory returns the memory that this process has, in bytes: VmRSS is what it has
// now, VmHWM the most it has had.
func memory(field string) int64 { return memoryOf(os.Getpid(), field) }

// memoryOf returns the same of a process.
func memoryOf(process int, field string) int64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", process))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), field+":")
	var kb int64
	fmt.Sscan(rest, &kb)
	return kb << 10
}

// bytesUnder returns the size of a file, with its write-ahead log, or of all
// files in a folder.
func bytesUnder(path string) (size int64) {
	if info, err := os.Stat(path + "-wal"); err == nil {
		size += info.Size()
	}
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// shares adds a row for each role and engine: the CPU it took of each item.
func (r *run) shares(raw []byte, items float64) error {
	p, err := profile.Parse(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	spent := map[string]time.Duration{}
	for _, s := range p.Sample {
		spent[whose(s)] += time.Duration(s.Value[1])
	}
	names := slices.SortedFunc(maps.Keys(spent), func(a, b string) int { return cmp.Compare(spent[b], spent[a]) })
	for _, name := range names {
		r.table.add("  of it "+name, "%.3f ms an item", spent[name].Seconds()*1000/items)
	}
	return nil
}

// whose says whom a sample of the profile belongs to: a role by its label, or
// else what works in the background for all of them.
func whose(s *profile.Sample) string {
	if role := s.Label["role"]; len(role) > 0 {
		return "role " + role[0]
	}
	for _, background := range []struct{ function, name string }{
		{"nats-server", "NATS server"},
		{"scorch", "index: merging and writing"},
		{"bleve", "index: analysis"},
		{"nats.go", "NATS client"},
		{"gcBgMarkWorker", "garbage collection"},
		{"net/http", "HTTP"},
		{"sqlite", "store"},
	} {
		for _, l := range s.Location {
			for _, line := range l.Line {
				if strings.Contains(line.Function.Name, background.function) {
					return background.name
				}
			}
		}
	}
	return "Go scheduler and the rest"
}
