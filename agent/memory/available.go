package memory

import (
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// unknown is the memory size if it can't be determined.
const unknown = math.MaxInt64

// memorySize returns the memory size of this process in bytes: the machine's, or the limit of its control group,
// for example of a container or of a service with MemoryMax.
//
// Source: cgroups(7).
func memorySize(root fs.FS, machine int64) int64 {
	available := machine
	for _, group := range groups(root) {
		text, err := fs.ReadFile(root, group)
		if err != nil {
			continue
		}
		most, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64) // or "max"
		if err == nil && most > 0 {
			available = min(available, most)
		}
	}
	return available
}

// groups returns the files with the memory limits of this process's control group and its parents. In a
// container the path is that of the host, and the group itself is at the root.
func groups(root fs.FS) (files []string) {
	text, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3) // number, controllers, path
		if len(part) < 3 {
			continue
		}
		above, file := "sys/fs/cgroup", "memory.max"
		switch {
		case part[1] == "memory":
			above, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		case part[1] != "":
			continue
		}
		for group := path.Clean("/" + part[2]); ; group = path.Dir(group) {
			files = append(files, path.Join(above, group, file))
			if group == "/" {
				break
			}
		}
	}
	return files
}
