package memory

import (
	"bytes"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// unknown is the room there is where nobody says.
const unknown = math.MaxInt64

// roomIn returns how many bytes this process may take: all that the machine has,
// or what its control group leaves it, as that of a container or of a service with
// MemoryMax.
//
// Source: cgroups(7).
func roomIn(root fs.FS, machine int64) int64 {
	room := machine
	for _, group := range groups(root) {
		text, err := fs.ReadFile(root, group)
		if err != nil {
			continue
		}
		most, err := strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64) // or "max"
		if err == nil && most > 0 {
			room = min(room, most)
		}
	}
	return room
}

// groups returns the files that may say how much memory this process's control
// group and those above it have. Inside of a container the path is that of the
// machine outside, and the group itself is at the root.
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
