package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"feedmesh/agent/api"
	"feedmesh/tests/engines"
)

// buildAgent builds the program in a folder, as a release is, but for extra flags
// of the Go command.
func buildAgent(ctx context.Context, dir string, extra ...string) (program string, err error) {
	program = filepath.Join(dir, "agent")
	args := append([]string{"build", "-trimpath", "-o", program}, extra...)
	if out, err := exec.CommandContext(ctx, "go", append(args, "./agent")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the agent: %w: %s", err, out)
	}
	return program, nil
}

// An agent is the program as a process of its own.
type agent struct {
	*api.Client
	process *engines.Process
	health  string // where it tells of itself, and of its processor time
}

// newAgent returns an agent that keeps its data in a folder, reads feeds of this
// machine, and takes flags beside that. It is not started.
func newAgent(program, dir string, flags ...string) (*agent, error) {
	var addresses [2]string
	for i := range addresses {
		port, err := engines.FreePort()
		if err != nil {
			return nil, err
		}
		addresses[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	client, err := api.NewClient("http://"+addresses[0], "")
	if err != nil {
		return nil, err
	}
	args := []string{"--data", dir, "--listen", addresses[0], "--health", addresses[1], "--starter=false", "--allow-net", "127.0.0.0/8"}
	return &agent{
		Client: client, health: "http://" + addresses[1],
		process: &engines.Process{Name: "agent", Path: program, Args: append(args, flags...)},
	}, nil
}

// start starts the agent and returns how long it took until it was ready.
func (a *agent) start() (time.Duration, error) {
	began := time.Now()
	if err := a.process.Start(); err != nil {
		return 0, err
	}
	for {
		response, err := http.Get(a.health + "/readyz")
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return time.Since(began), nil
			}
		}
		if !a.process.Running() {
			return 0, fmt.Errorf("the agent ended: %s", a.process.Log())
		}
		if time.Since(began) > 5*time.Minute {
			return 0, fmt.Errorf("the agent is not ready after five minutes: %s", a.process.Log())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stop asks the agent to end and waits until it has.
func (a *agent) stop() error { return a.process.Stop(syscall.SIGTERM, time.Minute) }

// usage returns what the agent has used so far.
func (a *agent) usage() used { return usedBy(a.process.ID()) }

// memory returns the memory that the agent has now, in MB.
func (a *agent) memory() float64 { return float64(memoryOf(a.process.ID(), "VmRSS")) / 1e6 }
