package report

import (
	"fmt"
	"time"
)

// A Machine describes the hardware, software and time of a measurement.
type Machine struct {
	Date   time.Time `json:"date"`
	Commit string    `json:"commit"`
	Cores  int       `json:"cores"`
	CPU    string    `json:"cpu"`
	Memory int64     `json:"memory_bytes"`
	Kernel string    `json:"kernel"`
	Go     string    `json:"go"`
	Load   string    `json:"load_before"` // runnable processes, averages of 1, 5 and 15 minutes
}

// head returns the head of a page of results.
func (m Machine) head() string {
	return fmt.Sprintf("# Measured on %s\n\nCommit %s; %d cores of %s, %.1f GB of memory, Linux %s, %s; load before the start %s.\n",
		m.Date.Format("2006-01-02 15:04 MST"), m.Commit, m.Cores, m.CPU, float64(m.Memory)/1e9, m.Kernel, m.Go, m.Load)
}
