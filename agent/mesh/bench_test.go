package mesh_test

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"feedmesh/agent/mesh"
	"feedmesh/subjects"
)

// BenchmarkTask publishes a task to its queue and processes it in an actor.
func BenchmarkTask(b *testing.B) {
	r := newRig(b)
	m := r.join("a")
	queue := jobs()
	done := make(chan struct{}, 1)
	actor := mesh.ActorFunc[job](func(context.Context, job) error { done <- struct{}{}; return nil })
	ctx, cancel := context.WithCancel(b.Context())
	var wait sync.WaitGroup
	wait.Go(func() { mesh.Serve(ctx, m, queue, "", actor, 1) })
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := subjects.Publish(b.Context(), m, queue, job{Name: strconv.Itoa(i)}); err != nil {
			b.Fatal(err)
		}
		<-done
	}
	cancel()
	wait.Wait()
}
