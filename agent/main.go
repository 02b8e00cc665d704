// Agent is the feedmesh program. `agent run`, or just `agent`, runs a node that plays roles in the mesh; all
// other commands are clients of a running node's API.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"feedmesh/agent/node"
)

// version is set by the linker: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() {
	p := &program{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		node: node.Run, lookup: net.DefaultResolver.LookupHost,
	}
	ctx := untilSignal(context.Background(), p.err, os.Exit)
	os.Exit(p.run(ctx, os.Args[1:]))
}

// untilSignal returns a context that is cancelled by the first SIGINT or SIGTERM. The second signal exits the
// program immediately.
func untilSignal(ctx context.Context, stderr io.Writer, exit func(int)) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(stderr, "agent: stopped immediately; unfinished work will be retried")
		exit(exitInterrupted)
	}()
	return ctx
}
