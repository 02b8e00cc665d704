package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// A machine describes the hardware, software and time of a measurement.
type machine struct {
	Date   time.Time `json:"date"`
	Commit string    `json:"commit"`
	Cores  int       `json:"cores"`
	CPU    string    `json:"cpu"`
	Memory int64     `json:"memory_bytes"`
	Kernel string    `json:"kernel"`
	Go     string    `json:"go"`
	Load   string    `json:"load_before"` // runnable processes, averages of 1, 5 and 15 minutes
}

// thisMachine returns the description on Linux; elsewhere most fields are empty.
func thisMachine(ctx context.Context) machine {
	read := func(path string) string {
		data, _ := os.ReadFile(path)
		return strings.TrimSpace(string(data))
	}
	commit, _ := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	var load [3]string
	fmt.Sscan(read("/proc/loadavg"), &load[0], &load[1], &load[2])
	return machine{
		Date: time.Now().UTC().Truncate(time.Second), Commit: strings.TrimSpace(string(commit)), Cores: runtime.NumCPU(),
		CPU: field(read("/proc/cpuinfo"), "model name"), Memory: kilobytes(read("/proc/meminfo"), "MemTotal"),
		Kernel: read("/proc/sys/kernel/osrelease"), Go: runtime.Version(), Load: strings.Join(load[:], " "),
	}
}

// head returns the head of a page of results.
func (m machine) head() string {
	return fmt.Sprintf("# Measured on %s\n\nCommit %s; %d cores of %s, %.1f GB of memory, Linux %s, %s; load before the start %s.\n",
		m.Date.Format("2006-01-02 15:04 MST"), m.Commit, m.Cores, m.CPU, float64(m.Memory)/1e9, m.Kernel, m.Go, m.Load)
}
