// Agent is the whole of feedmesh in one program: it plays roles in the mesh
// (agent run, or just agent), and asks and tells a running node (all other
// commands).
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

// untilSignal returns a context that ends with the first SIGINT or SIGTERM. The
// second ends the program there and then.
func untilSignal(ctx context.Context, stderr io.Writer, exit func(int)) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		<-signals
		fmt.Fprintln(stderr, "agent: stopped at once; work that was in hand will be done again")
		exit(interrupted)
	}()
	return ctx
}
