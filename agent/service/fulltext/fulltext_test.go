package fulltext

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/storage"
)

// A waiting fetcher answers no request before its context ends.
type waiting struct{}

func (waiting) Fetch(ctx context.Context, _ fetch.Request, _ time.Time) (fetch.Document, error) {
	<-ctx.Done()
	return fetch.Document{}, ctx.Err()
}

func TestFetcher_Bounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(waiting{}, waiting{}, nil, time.Now)
		feed := storage.Feed{ID: "f", URL: "https://f.example/"}
		text := func(client string, n int) error {
			_, err := f.Text(t.Context(), client, feed, storage.Item{ID: fmt.Sprint(n), URL: fmt.Sprintf("https://site%d.example/", n)})
			return err
		}
		began, results := time.Now(), make(chan error, maxFetches)
		for n := range maxFetches {
			go func() { results <- text(fmt.Sprint("client", n), n) }()
		}
		synctest.Wait()
		if err := text("other", 0); !errors.Is(err, ErrRunning) {
			t.Errorf("an item that is being fetched: got %v, want %v", err, ErrRunning)
		}
		if err := text("other", maxFetches); !errors.Is(err, ErrBusy) {
			t.Errorf("more items than are fetched at once: got %v, want %v", err, ErrBusy)
		}
		for range maxFetches {
			if err := <-results; !errors.Is(err, ErrTimeout) || time.Since(began) > timeout {
				t.Errorf("got %v after %v, want %v after %v", err, time.Since(began), ErrTimeout, timeout)
			}
		}
		if _, err := f.Text(t.Context(), "client", feed, storage.Item{ID: "x"}); !errors.Is(err, ErrNoPage) {
			t.Errorf("an item without a link: got %v, want %v", err, ErrNoPage)
		}
	})
}

func TestFetcher_LimitsClients(t *testing.T) {
	f := New(waiting{}, waiting{}, nil, time.Now)
	for n := range maxAtOnce {
		end, err := f.begin("a", "item")
		if err != nil {
			t.Fatalf("request %d: %v", n, err)
		}
		end()
	}
	if _, err := f.begin("a", "item"); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v, want %v", err, ErrBusy)
	}
	if _, err := f.begin("b", "item"); err != nil {
		t.Errorf("another client: %v", err)
	}
}
