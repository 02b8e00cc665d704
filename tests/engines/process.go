// Package engines runs the real servers of tests as separate processes: [Postgres], [Meilisearch], [NATS] and others.
// They end with the test program in any case, on Linux by a kernel signal.
package engines

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A Process is a program that can be stopped and restarted.
type Process struct {
	Name string
	Path string   // of the program
	Args []string //
	Dir  string   // working directory; empty: the current one
	Env  []string // "KEY=value", added to this process's environment
	User uint32   // ID of its user and group; 0: those of this process

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd has ended
	log   tail
}

// Start starts the program.
func (p *Process) Start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	cmd := exec.Command(p.Path, p.Args...)
	cmd.Dir, cmd.Env = p.Dir, append(os.Environ(), p.Env...)
	cmd.Stdout, cmd.Stderr = &p.log, &p.log
	cmd.SysProcAttr = attributes(p.User)
	started := make(chan error)
	ended := make(chan struct{})
	go func() {
		defer hold()() // the kernel kills the child when the thread that started it exits
		err := cmd.Start()
		started <- err
		if err == nil {
			cmd.Wait()
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("start %s: %w", p.Name, err)
	}
	p.cmd, p.ended = cmd, ended
	return nil
}

// Signal sends a signal to the program, if it runs.
func (p *Process) Signal(s os.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil {
		p.cmd.Process.Signal(s)
	}
}

// Kill kills the program, like a power failure.
func (p *Process) Kill() {
	p.Signal(syscall.SIGKILL)
	p.Wait(time.Minute)
}

// Stop sends SIGTERM, and kills the program after a timeout, which is returned as an error.
func (p *Process) Stop(s os.Signal, within time.Duration) error {
	p.Signal(s)
	if p.Wait(within) {
		return nil
	}
	p.Kill()
	return fmt.Errorf("%s did not stop within %v", p.Name, within)
}

// Wait waits until the program has ended, and reports whether it did before the timeout.
func (p *Process) Wait(within time.Duration) bool {
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended == nil {
		return true
	}
	select {
	case <-ended:
		return true
	case <-time.After(within):
	}
	select {
	case <-ended: // both together
		return true
	default:
		return false
	}
}

// Running reports whether the program runs.
func (p *Process) Running() bool {
	p.mu.Lock()
	started := p.ended != nil
	p.mu.Unlock()
	return started && !p.Wait(0)
}

// ID returns the process ID, or 0.
func (p *Process) ID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return 0
	}
	return p.cmd.Process.Pid
}

// ExitCode returns the program's exit code, or -1 after a signal or while it runs.
func (p *Process) ExitCode() int {
	if p.Running() {
		return -1
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil || p.cmd.ProcessState == nil {
		return -1
	}
	return p.cmd.ProcessState.ExitCode()
}

// Log returns the end of the program's output.
func (p *Process) Log() string { return p.log.String() }

// Ready waits until ok returns nil, and fails if the program ends or after a timeout.
func (p *Process) Ready(within time.Duration, ok func() error) error {
	err := errors.New("not checked yet")
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if err = ok(); err == nil {
			return nil
		}
		if !p.Running() {
			return fmt.Errorf("%s ended: %s", p.Name, p.Log())
		}
	}
	return fmt.Errorf("%s is not ready after %v: %w: %s", p.Name, within, err, p.Log())
}

// tail buffers the end of its input.
type tail struct {
	mu sync.Mutex
	b  []byte // at most twice tailSize, so that few writes copy it
}

const tailSize = 256 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	if len(t.b) > 2*tailSize {
		t.b = bytes.Clone(t.b[len(t.b)-tailSize:])
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b[max(0, len(t.b)-tailSize):])
}
