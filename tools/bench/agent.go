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

	"feedmesh/agent/client"
	"feedmesh/tests/engines"
)

// buildAgent builds the program in a folder like a release, with additional flags of the Go command.
func buildAgent(ctx context.Context, dir string, extra ...string) (program string, err error) {
	program = filepath.Join(dir, "agent")
	args := append([]string{"build", "-C", "../..", "-trimpath", "-o", program}, extra...)
	if out, err := exec.CommandContext(ctx, "go", append(args, "./agent")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the agent: %w: %s", err, out)
	}
	return program, nil
}

// An agent is the program as a separate process.
type agent struct {
	*client.Client
	process *engines.Process
	health  string // address of its health, metrics and profiles
}

// newAgent returns an agent with its data in a folder, which may read feeds of this machine, with additional
// flags. It is not started.
func newAgent(program, dir string, flags ...string) (*agent, error) {
	var addresses [2]string
	for i := range addresses {
		port, err := engines.FreePort()
		if err != nil {
			return nil, err
		}
		addresses[i] = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	client, err := client.NewClient("http://"+addresses[0], "")
	if err != nil {
		return nil, err
	}
	args := append(agentFlags(dir), "--listen", addresses[0], "--health", addresses[1])
	return &agent{
		Client: client, health: "http://" + addresses[1],
		process: &engines.Process{Name: "agent", Path: program, Args: append(args, flags...)},
	}, nil
}

// agentFlags returns the flags of an agent with its data in a folder, which may read feeds of this machine.
func agentFlags(dir string) []string {
	return []string{"--data", dir, "--starter=false", "--allow-net", "127.0.0.0/8"}
}

// start starts the agent and returns the time until it was ready.
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

// stop stops the agent and waits for its end.
func (a *agent) stop() error { return a.process.Stop(syscall.SIGTERM, time.Minute) }

// usage returns the agent's resource usage.
func (a *agent) usage() resourceUsage { return usedBy(a.process.ID()) }

// memory returns the agent's current memory, in MB.
func (a *agent) memory() float64 { return float64(memoryOf(a.process.ID(), "VmRSS")) / 1e6 }
