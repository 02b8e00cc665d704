package mesh_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/prometheus/client_golang/prometheus"

	"feedmesh/agent/mesh"
	"feedmesh/embedded"
	"feedmesh/subjects"
)

// An actor serves the index queue of a mesh on an embedded server. Publish stores the task in the queue; a worker of
// Serve passes it to the actor and acknowledges it when the actor returns nil.
func ExampleServe() {
	if err := serveOneTask(); err != nil {
		fmt.Println(err)
	}
	// Output: index i1 because it is stored
}

func serveOneTask() error {
	dir, err := os.MkdirTemp("", "mesh")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	log := slog.New(slog.DiscardHandler)
	server, err := embedded.Start(embedded.Options{Dir: dir, MaxFile: 16 << 30, MaxMessage: subjects.MaxMessage, Log: log})
	if err != nil {
		return err
	}
	defer server.Close()
	conn, err := server.Connect()
	if err != nil {
		return err
	}
	defer conn.Close()

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	m, err := mesh.Join(ctx, mesh.Options{Agent: "example", Conn: conn, Log: log, Metrics: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	if err := subjects.Publish(ctx, m, subjects.IndexQueue, subjects.Index{Reason: "stored", IDs: []string{"i1"}}); err != nil {
		return err
	}
	return mesh.Serve(ctx, m, subjects.IndexQueue, "", mesh.ActorFunc[subjects.Index](func(_ context.Context, task subjects.Index) error {
		fmt.Printf("index %s because it is %s\n", task.IDs[0], task.Reason)
		stop() // Serve returns when the task is acknowledged
		return nil
	}), 1)
}
