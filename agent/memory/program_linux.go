package memory

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// releaseCode releases the pages of the program's own file. Start-up and bursts load code and tables that
// an idle process does not need. They remain in the page cache while there is space, so pages in use return
// quickly. Errors are ignored.
func releaseCode() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	text, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, s := range filePages(path, string(text)) {
		// Without the first two a page fault maps up to 2 MB around its own page, most of which an idle process does not
		// need. A failure for one range is harmless.
		for _, advice := range []uintptr{unix.MADV_RANDOM, unix.MADV_NOHUGEPAGE, unix.MADV_DONTNEED} {
			unix.Syscall(unix.SYS_MADVISE, s.start, s.size, advice)
		}
	}
}

// addressRange is a range of a process's address space, in bytes.
type addressRange struct{ start, size uintptr }

// filePages parses smaps and returns the ranges that equal the file at path: not writable and without private
// pages, such as those of a linker or debugger. The kernel can read their pages from the file again at any
// time.
//
// Source: proc(5).
func filePages(path, smaps string) (list []addressRange) {
	var last *addressRange
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

// readOnly returns the range of a mapping that is not writable, or nil.
func readOnly(addresses, permissions string) *addressRange {
	from, to, _ := strings.Cut(addresses, "-")
	start, err1 := strconv.ParseUint(from, 16, 64)
	end, err2 := strconv.ParseUint(to, 16, 64)
	if err1 != nil || err2 != nil || end < start || strings.Contains(permissions, "w") {
		return nil
	}
	return &addressRange{uintptr(start), uintptr(end - start)}
}
