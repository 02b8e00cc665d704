package reading_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/agent/access"
	"feedmesh/agent/service/reading"
	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/wire"
	"feedmesh/storage"
	"feedmesh/storage/sqlite"
)

// halves is the source of one view, which has half of all items.
type halves struct{}

func (halves) Readable(context.Context, int) ([]reading.View, error) {
	return []reading.View{{Name: "half", Title: "Half", Number: 1}}, nil
}

func (halves) Find(context.Context, string) (reading.View, error) {
	return reading.View{Name: "half", Number: 1}, nil
}

// BenchmarkLists reads the lists and folders of 100 clients, and of 10,000, each with marks of its own, over 50,000 feeds
// with 200,000 items of the last month, and of a view with half of them. A client has read all items but the 5,000 newest, and 100 of those. "after a mark"
// counts without the cache.
func BenchmarkLists(b *testing.B) {
	for _, clients := range []int{100, 10_000} {
		b.Run(fmt.Sprint(clients, " clients"), func(b *testing.B) { benchmarkLists(b, clients) })
	}
}

func benchmarkLists(b *testing.B, clients int) {
	const feeds, items, unread = 50_000, 200_000, 5_000
	file := b.TempDir() + "/store.db"
	store, err := sqlite.Open(b.Context(), file)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	ids := make([]string, feeds)
	list := make([]storage.Feed, feeds)
	for n := range list {
		address := fmt.Sprintf("https://f%d.example/", n)
		ids[n] = storage.FeedID(address)
		list[n] = storage.Feed{ID: ids[n], URL: address, Title: fmt.Sprint("Feed ", n), Tags: []string{fmt.Sprint("Folder ", n%50)}, Added: noon}
	}
	if _, err := store.AddFeeds(b.Context(), list...); err != nil {
		b.Fatal(err)
	}
	seen := func(n int) time.Time { return noon.Add(-time.Duration(n) * 10 * time.Second) }
	published := func(n int) time.Time { return seen(n).Add(-time.Duration(n%7) * 5 * time.Hour) }
	var fill errgroup.Group
	fill.SetLimit(100) // concurrent writes share a transaction
	for f, id := range ids {
		batch := storage.Batch{FeedID: id}
		for n := f; n < items; n += feeds {
			key := fmt.Sprint(n)
			batch.Items = append(batch.Items, storage.Item{
				ID: storage.ItemID(id, key), FeedID: id, Key: key, Hash: key, Title: "Title " + key, Excerpt: "An excerpt of the text.", Published: published(n), FirstSeen: seen(n),
			})
		}
		fill.Go(func() error {
			_, err := store.PutItems(b.Context(), batch)
			return err
		})
	}
	if err := fill.Wait(); err != nil {
		b.Fatal(err)
	}
	now := noon
	lists := reading.New(store, servicetest.New(b, time.Now).Mesh, func() time.Time { return now }, slog.New(slog.DiscardHandler))
	lists.ReadViews(halves{})
	for from := 0; from < items; from += 10_000 {
		var members []storage.Member
		for n := from; n < from+10_000; n += 2 {
			members = append(members, storage.Member{View: 1, ItemID: storage.ItemID(ids[n%feeds], fmt.Sprint(n)), Entered: noon, Published: published(n)})
		}
		if err := store.ChangeMembers(b.Context(), storage.Fence{}, members, nil); err != nil {
			b.Fatal(err)
		}
	}
	before := sizeOf(b, file)
	as := make([]context.Context, clients)
	var marks errgroup.Group
	marks.SetLimit(100)
	for n := range as {
		as[n] = access.With(b.Context(), access.Client{ID: fmt.Sprint("client", n)})
		marks.Go(func() error {
			if err := lists.MarkStream(as[n], storage.Stream{}, seen(unread)); err != nil {
				return err
			}
			var read []string
			for k := range 100 {
				i := n%1000 + k*17
				read = append(read, storage.ItemID(ids[i%feeds], fmt.Sprint(i)))
			}
			yes := true
			return lists.Mark(as[n], storage.MarkChange{Read: &yes}, read...)
		})
	}
	if err := marks.Wait(); err != nil {
		b.Fatal(err)
	}
	b.Logf("%d clients with 100 marks each take %.1f KB of the store each", clients, (sizeOf(b, file)-before)/float64(clients)/1e3)
	each := func(name string, do func(ctx context.Context) error) {
		b.Run(name, func(b *testing.B) {
			for n := 0; b.Loop(); n++ {
				if err := do(as[n%clients]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	folders := func(ctx context.Context) error {
		f, err := lists.Folders(ctx, wire.FolderQuery{})
		if err == nil && f.Unread != unread-100 {
			err = fmt.Errorf("got %d unread items", f.Unread)
		}
		return err
	}
	free := heap()
	for _, ctx := range as[:100] {
		if err := folders(ctx); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("a client takes %.0f KB of memory for the %d feeds with unread items until the count is too old", float64(heap()-free)/100/1e3, unread)
	each("folders", folders)
	b.Run("folders after a mark, which is not timed", func(b *testing.B) {
		yes := true
		for n := 0; b.Loop(); n++ {
			b.StopTimer()
			err := lists.Mark(as[n%clients], storage.MarkChange{Starred: &yes}, storage.ItemID(ids[0], "0"))
			b.StartTimer()
			if err := errors.Join(err, folders(as[n%clients])); err != nil {
				b.Fatal(err)
			}
		}
	})
	each("unread, 100 items", func(ctx context.Context) error {
		_, err := lists.List(ctx, wire.ReadingQuery{Limit: 100})
		return err
	})
	each("unread of a folder, 100 items", func(ctx context.Context) error {
		_, err := lists.List(ctx, wire.ReadingQuery{Tag: "Folder 7", Limit: 100})
		return err
	})
	each("unread of a view, 100 items", func(ctx context.Context) error {
		list, err := lists.List(ctx, wire.ReadingQuery{View: "half", Limit: 100})
		if err == nil && len(list.Items) != 100 {
			err = fmt.Errorf("got %d items", len(list.Items))
		}
		return err
	})
	now = noon.Add(time.Second)
	all := access.With(b.Context(), access.Client{ID: "all read"})
	if err := lists.MarkStream(all, storage.Stream{}, now); err != nil {
		b.Fatal(err)
	}
	each("unread of a view, all read", func(context.Context) error {
		list, err := lists.List(all, wire.ReadingQuery{View: "half", Limit: 100})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("got %d items", len(list.Items))
		}
		return err
	})
	each("all, 100 items", func(ctx context.Context) error {
		_, err := lists.List(ctx, wire.ReadingQuery{Show: wire.ShowAll, Limit: 100})
		return err
	})
	keepingUp := access.With(b.Context(), access.Client{ID: "keeping up"})
	if err := lists.MarkStream(keepingUp, storage.Stream{}, seen(20)); err != nil {
		b.Fatal(err)
	}
	each("unread, 20 items of a client that keeps up", func(context.Context) error {
		_, err := lists.List(keepingUp, wire.ReadingQuery{Limit: 100})
		return err
	})
	each("mark an item", func(ctx context.Context) error {
		yes := true
		return lists.Mark(ctx, storage.MarkChange{Read: &yes}, storage.ItemID(ids[1], "1"))
	})
}

// heap returns the bytes of the heap in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// sizeOf returns the size of the file of a store with its log, in bytes.
func sizeOf(b *testing.B, file string) float64 {
	b.Helper()
	size := 0.0
	for _, name := range []string{file, file + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += float64(info.Size())
		}
	}
	return size
}
