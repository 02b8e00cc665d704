package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// forgetProgram gives back the pages of the program's own file: what it began with
// or did in a burst took code and tables that it does not need at rest. The system
// has them still, as long as it has room, so that those needed come back at once.
// What can't be given back stays.
func forgetProgram() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, s := range pagesOf(path, string(text)) {
		unix.Syscall(unix.SYS_MADVISE, s.start, s.size, unix.MADV_DONTNEED) // a stretch that stays does no harm
	}
}

// A stretch is where some pages are in a process's memory, in bytes.
type stretch struct{ start, size uintptr }

// pagesOf returns the stretches of a process's memory that are as they are in the
// file at path, by the text of its smaps: those it may not write, and in which
// nobody else has, as one who links the program or looks for its faults does. Their
// pages can be read again from the file at any time.
//
// Source: proc(5).
func pagesOf(path, smaps string) (list []stretch) {
	var last *stretch
	for line := range strings.Lines(smaps) {
		if kept, is := strings.CutPrefix(line, "Anonymous:"); is {
			if last != nil && strings.TrimSpace(kept) == "0 kB" {
				list = append(list, *last)
			}
			last = nil
		}
		// from-to permissions offset device inode path
		part := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 6)
		if len(part) == 6 && strings.TrimLeft(part[5], " ") == path {
			last = readOnly(part[0], part[1])
		}
	}
	return list
}

// readOnly returns the stretch of a mapping that may not be written, or nil.
func readOnly(addresses, permissions string) *stretch {
	from, to, _ := strings.Cut(addresses, "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil || end < start || strings.Contains(permissions, "w") {
		return nil
	}
	return &stretch{uintptr(start), uintptr(end - start)}
}
