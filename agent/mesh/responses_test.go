package mesh_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"feedmesh/storage"
)

func TestResponses_ClaimIsExclusive(t *testing.T) {
	r := newRig(t)
	a, b := r.join("a").Responses(), r.join("b").Responses()
	var claimed atomic.Int32
	var claiming sync.WaitGroup
	for i := range 20 {
		in := a
		if i%2 == 1 {
			in = b
		}
		claiming.Go(func() {
			kept, revision, err := in.Claim(t.Context(), "KEY", []byte{byte(i)})
			switch {
			case err != nil || revision == 0:
				t.Errorf("got revision %d, %v", revision, err)
			case kept == nil:
				claimed.Add(1)
			}
		})
	}
	claiming.Wait()
	if got := claimed.Load(); got != 1 {
		t.Errorf("got %d claims, want 1", got)
	}
}

func TestResponses_ReplaceRequiresRevision(t *testing.T) {
	r := newRig(t)
	a, b := r.join("a").Responses(), r.join("b").Responses()
	_, first, err := a.Claim(t.Context(), "KEY", []byte("claim"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Replace(t.Context(), "KEY", []byte("answer"), first)
	if err != nil || second == first {
		t.Fatalf("replace: got revision %d, %v", second, err)
	}
	if _, err := a.Replace(t.Context(), "KEY", []byte("late"), first); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("replace a missing response: got %v, want %v", err, storage.ErrConflict)
	}
	if err := a.Delete(t.Context(), "KEY", first); !errors.Is(err, storage.ErrConflict) {
		t.Errorf("drop a missing response: got %v, want %v", err, storage.ErrConflict)
	}
	if kept, revision, err := a.Claim(t.Context(), "KEY", []byte("claim")); err != nil || string(kept) != "answer" || revision != second {
		t.Errorf("got %s of revision %d, %v; want the response of %d", kept, revision, err, second)
	}
	if err := a.Delete(t.Context(), "KEY", second); err != nil {
		t.Fatal(err)
	}
	if kept, _, err := b.Claim(t.Context(), "KEY", []byte("claim")); err != nil || kept != nil {
		t.Errorf("after drop: got %s, %v; want a new claim", kept, err)
	}
}
