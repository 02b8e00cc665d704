package main

import (
	"feedmesh/tools/bench/cpu"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// processorTime returns the CPU time of a process and its children, ended ones included.
func processorTime(pid int) time.Duration {
	sum := ticks(pid, 14, 15, 16, 17)
	for _, child := range children(pid) {
		sum += processorTime(child)
	}
	return sum
}

// ticks returns the sum of some fields of a process's stat file, numbered as in proc(5): 14 and 15 its own
// time, 16 and 17 that of its ended children.
func ticks(pid int, fields ...int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain spaces
	values, sum := strings.Fields(rest), 0
	for _, f := range fields {
		n, _ := strconv.Atoi(values[f-3])
		sum += n
	}
	return time.Duration(sum) * 10 * time.Millisecond // a tick is 1/100 s on Linux
}

// memoryOf returns the memory of a process, in bytes: VmRSS is the current value, VmHWM the maximum.
func memoryOf(pid int, name string) int64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	return kilobytes(string(status), name)
}

// sharedMemory returns the memory of a process and its children, in bytes. Pages that several processes use count once.
func sharedMemory(pid int) int64 {
	rollup, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	sum := kilobytes(string(rollup), "Pss")
	for _, child := range children(pid) {
		sum += sharedMemory(child)
	}
	return sum
}

// children returns the IDs of a process's children.
func children(pid int) (ids []int) {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, child := range strings.Fields(string(list)) {
		if id, err := strconv.Atoi(child); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// writtenBy returns the number of bytes that a process has written to disk.
func writtenBy(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	n, _ := strconv.ParseInt(field(string(text), "write_bytes"), 10, 64)
	return n
}

// field returns the first value of a name in lines of "name: value", or "".
func field(lines, name string) string {
	for line := range strings.Lines(lines) {
		if key, value, is := strings.Cut(line, ":"); is && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// kilobytes converts a field's value in kB to bytes.
func kilobytes(lines, name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(field(lines, name), " kB"), 10, 64)
	return n << 10
}

// bytesUnder returns the size of a file with its write-ahead log, or of all files in a folder.
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

// resourceUsage is the resource usage of a process at a time.
type resourceUsage struct {
	at      time.Time
	cpu     time.Duration
	written int64 // bytes on disk
}

// usedBy returns the resource usage of a process.
func usedBy(pid int) resourceUsage {
	u := resourceUsage{time.Now(), ticks(pid, 14, 15), writtenBy(pid)}
	if pid == os.Getpid() {
		u.cpu = cpu.Time() // more precise
	}
	return u
}

// since returns the usage since an earlier time.
func (u resourceUsage) since(before resourceUsage) usagePeriod {
	return usagePeriod{u.at.Sub(before.at), u.cpu - before.cpu, u.written - before.written}
}

// usagePeriod is the resource usage of a period.
type usagePeriod struct {
	elapsed, cpu time.Duration
	written      int64
}

func (s usagePeriod) rate(n float64) float64   { return n / s.elapsed.Seconds() }
func (s usagePeriod) millis(n float64) float64 { return s.cpu.Seconds() * 1e3 / n } // CPU time, for each of n
func (s usagePeriod) micros(n float64) float64 { return s.cpu.Seconds() * 1e6 / n }
func (s usagePeriod) percent() float64         { return 100 * s.cpu.Seconds() / s.elapsed.Seconds() } // of a core

// inFolder runs a step with a temporary folder.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(dir)
}
