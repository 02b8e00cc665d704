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

// BenchmarkPipeline publishes 32 tasks and processes them in two joined steps.
func BenchmarkPipeline(b *testing.B) {
	r := newRig(b)
	m := r.join("a")
	ctx, cancel := context.WithCancel(b.Context())
	var wait sync.WaitGroup
	first, second := jobs(), direct()
	first.MaxBatch = 32
	done := make(chan struct{}, 1000)
	wait.Go(func() {
		mesh.Serve(ctx, m, second, "", mesh.ActorFunc[job](func(context.Context, job) error { done <- struct{}{}; return nil }), 1)
	})
	r.serving()
	wait.Go(func() { mesh.Serve(ctx, m, first, "", send(m, second), 1) })
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for range 32 {
			n++
			if err := subjects.Publish(b.Context(), m, first, job{Name: strconv.Itoa(n)}); err != nil {
				b.Fatal(err)
			}
		}
		for range 32 {
			<-done
		}
	}
	cancel()
	wait.Wait()
}
