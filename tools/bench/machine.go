package main

import (
	"context"
	"feedmesh/tools/bench/report"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// thisMachine returns the description on Linux; elsewhere most fields are empty.
func thisMachine(ctx context.Context) report.Machine {
	read := func(path string) string {
		data, _ := os.ReadFile(path)
		return strings.TrimSpace(string(data))
	}
	commit, _ := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	var load [3]string
	fmt.Sscan(read("/proc/loadavg"), &load[0], &load[1], &load[2])
	return report.Machine{
		Date: time.Now().UTC().Truncate(time.Second), Commit: strings.TrimSpace(string(commit)), Cores: runtime.NumCPU(),
		CPU: field(read("/proc/cpuinfo"), "model name"), Memory: kilobytes(read("/proc/meminfo"), "MemTotal"),
		Kernel: read("/proc/sys/kernel/osrelease"), Go: runtime.Version(), Load: strings.Join(load[:], " "),
	}
}
