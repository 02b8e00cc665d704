package machines

import (
	"os"
	"path/filepath"
	"strconv"

	"feedmesh/tests/engines"
)

// A Container bounds the memory of a program as containers do: the pages of files that it read count too, and the kernel
// drops them before it kills the program.
type Container struct {
	group group
}

// NewContainer returns a container with a memory limit in bytes. Its name is unique on this machine.
func NewContainer(name string, memory int64) (*Container, error) {
	bytes := strconv.FormatInt(memory, 10)
	g, err := newGroup(name, "memory",
		limits{{"memory.limit_in_bytes", bytes}},
		limits{{"memory.max", bytes}, {"memory.swap.max", "0"}})
	if err != nil {
		return nil, err
	}
	return &Container{g}, nil
}

// On changes a process, before its start, to run in the container.
func (c *Container) On(p *engines.Process) { c.group.on(p) }

// Close removes the container, whose program must have ended.
func (c *Container) Close() error { return c.group.remove() }

// A group is the folder of a control group.
type group string

// limits are files of a control group and their content, in the order in which they are written.
type limits [][2]string

// newGroup makes a control group of version 1, below a controller, or of version 2.
func newGroup(name, controller string, v1, v2 limits) (group, error) {
	root, all := "/sys/fs/cgroup", v2
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err != nil {
		root, all = filepath.Join(root, controller), v1
	}
	g := group(filepath.Join(root, name))
	if err := os.Mkdir(string(g), 0o755); err != nil {
		return "", err
	}
	for _, limit := range all {
		if err := os.WriteFile(filepath.Join(string(g), limit[0]), []byte(limit[1]), 0o644); err != nil {
			return g, err
		}
	}
	return g, nil
}

func (g group) on(p *engines.Process) {
	p.Args = append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, string(g), p.Path}, p.Args...)
	p.Path = "/bin/sh"
}

func (g group) remove() error { return os.Remove(string(g)) }
