package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cpuTime returns the processor time that this process has used.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// processorTime returns what a process and its children, living and dead, have
// used.
func processorTime(pid int) time.Duration {
	sum := ticks(pid, 14, 15, 16, 17)
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(list)) {
		if n, err := strconv.Atoi(child); err == nil {
			sum += processorTime(n)
		}
	}
	return sum
}

// ticks returns the sum of some fields of a process's stat file, counted as in
// proc(5): 14 and 15 its own time, 16 and 17 that of its dead children.
func ticks(pid int, fields ...int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may have spaces in it
	values, sum := strings.Fields(rest), 0
	for _, f := range fields {
		n, _ := strconv.Atoi(values[f-3])
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond // a tick is 1/100 s on Linux
}

// memoryOf returns the memory that a process has, in bytes: VmRSS is what it has
// now, VmHWM the most it has had.
func memoryOf(pid int, name string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return kilobytes(string(status), name)
}

// writtenBy returns how many bytes a process has had written to disk.
func writtenBy(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	n, _ := strconv.ParseInt(field(string(text), "write_bytes"), 10, 64)
	return n
}

// field returns the first value of that name in lines of "name: value", or "".
func field(lines, name string) string {
	for line := range strings.Lines(lines) {
		if key, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kilobytes returns such a value that is given in kB, in bytes.
func kilobytes(lines, name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(field(lines, name), " kB"), 10, 64)
	return n << 10
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

// used is what a process has used so far, and at what time.
type used struct {
	at      time.Time
	cpu     time.Duration
	written int64 // bytes on disk
}

// usedBy returns what a process has used.
func usedBy(pid int) used {
	u := used{time.Now(), ticks(pid, 14, 15), writtenBy(pid)}
	if pid == os.Getpid() {
		u.cpu = cpuTime() // which is finer
	}
	return u
}

// since returns what was used since then.
func (u used) since(before used) spent {
	return spent{u.at.Sub(before.at), u.cpu - before.cpu, u.written - before.written}
}

// spent is what something took.
type spent struct {
	took, cpu time.Duration
	written   int64
}

func (s spent) rate(n float64) float64   { return n / s.took.Seconds() }
func (s spent) millis(n float64) float64 { return s.cpu.Seconds() * 1e3 / n } // of the processor, each
func (s spent) micros(n float64) float64 { return s.cpu.Seconds() * 1e6 / n }
func (s spent) percent() float64         { return 100 * s.cpu.Seconds() / s.took.Seconds() } // of a core

// inFolder does something with a folder of its own, which is gone afterwards.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(dir)
}
