package meilisearch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	upstream "github.com/meilisearch/meilisearch-go"
	"golang.org/x/sync/errgroup"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/indextest"
	"feedmesh/tests/engines"
)

func TestOpen_ErrorStatesRemedy(t *testing.T) {
	options := newOptions(t)
	keys := upstream.New(options.URL, upstream.WithAPIKey(options.Key))
	searchOnly, err := keys.CreateKey(&upstream.Key{Actions: []string{"search", "version"}, Indexes: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	answer := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }))
		t.Cleanup(s.Close)
		return s.URL
	}
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		url, key    string
		want        string
		unavailable bool
	}{
		{"", "", "must be like http://host:7700", false},
		{"meilisearch://host", "", "must be like http://host:7700", false},
		{fmt.Sprint("http://127.0.0.1:", port), "a secret", "check that it runs", true},
		{options.URL, "a secret", "give its master key", false},
		{options.URL, "", "give its master key", false},
		{options.URL, searchOnly.Key, "give its master key", false},
		{answer(`{"pkgVersion":"1.20.9"}`), "a secret", "update it to 1.21 or newer", false},
		{answer(`<h1>It works!</h1>`), "a secret", "check the address", false},
		{answer(`{}`), "a secret", "check the address", false},
	} {
		_, err := Open(t.Context(), Options{URL: test.url, Key: test.key, name: options.name})
		if err == nil || !strings.Contains(err.Error(), test.want) ||
			errors.Is(err, storage.ErrUnavailable) != test.unavailable {
			t.Errorf("open %s: %v, want %q, unavailable %v", test.url, err, test.want, test.unavailable)
		}
		if err != nil && test.key != "" && strings.Contains(err.Error(), test.key) {
			t.Errorf("open %s: the error contains the key: %v", test.url, err)
		}
	}
}

// tasks returns the number of the index's tasks of the given types, or of all.
func (x *Index) tasks(t *testing.T, types ...upstream.TaskType) int64 {
	t.Helper()
	tasks, err := x.server.GetTasks(&upstream.TasksQuery{IndexUIDS: []string{x.name}, Types: types, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	return tasks.Total
}

func TestOpen_AppliesOnlyChangedSettings(t *testing.T) {
	options := newOptions(t)
	x := open(t, options)
	if err := x.Put(t.Context(), words("a")...); err != nil {
		t.Fatal(err)
	}
	before := x.tasks(t)
	open(t, options)
	if got := x.tasks(t); got != before {
		t.Errorf("the second open added %d tasks, want none", got-before)
	}
	dictionary := func() []string {
		t.Helper()
		words, err := x.server.Index(x.name).GetDictionary()
		if err != nil {
			t.Fatal(err)
		}
		return words
	}
	info, err := x.server.Index(x.name).UpdateDictionary([]string{"c++"}) // as versions before had it
	if err != nil {
		t.Fatal(err)
	}
	if err := x.wait(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	if err := x.Put(t.Context(), words("b")...); err != nil {
		t.Fatal(err)
	}
	if got := x.tasks(t, upstream.TaskTypeSettingsUpdate); got != 2 {
		t.Errorf("got %d settings tasks after put, want 2: put must not change settings", got)
	}
	if got := dictionary(); len(got) != 1 {
		t.Errorf("got the dictionary %q after put, want that of the test", got)
	}
	open(t, options)
	if got := x.tasks(t, upstream.TaskTypeSettingsUpdate); got != 3 {
		t.Errorf("got %d settings tasks after open, want 3: open must restore changed settings", got)
	}
	if err := x.Put(t.Context(), words("c")...); err != nil { // behind the settings
		t.Fatal(err)
	}
	if got := dictionary(); len(got) != 0 {
		t.Errorf("got the dictionary %q after open, want none", got)
	}
}

// wantSettings fails if the settings of the index are incomplete.
func wantSettings(t *testing.T, x *Index) {
	t.Helper()
	before := x.tasks(t)
	if err := x.applySettings(t.Context(), x.name); err != nil {
		t.Fatal(err)
	}
	if x.tasks(t) != before {
		t.Error("the index lacks settings")
	}
}

func TestPut_RecreatesADeletedIndex(t *testing.T) {
	x := open(t, newOptions(t))
	deleted := func() {
		t.Helper()
		info, err := x.server.DeleteIndex(x.name)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.wait(t.Context(), info); err != nil && !errors.As(err, new(*rejection)) {
			t.Fatal(err)
		}
	}
	for range 3 {
		deleted()
		days, daysErr := x.Days(t.Context())
		stamps, stampsErr := x.Stamps(t.Context(), noon, "", 10)
		results, searchErr := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}, Facets: true})
		n, countErr := x.Count(t.Context())
		if err := errors.Join(daysErr, stampsErr, searchErr, countErr, x.Delete(t.Context(), "a")); err != nil ||
			len(days)+len(stamps)+int(results.Total)+int(n) > 0 || results.Facets == nil {
			t.Errorf("missing index: got %v, %v, %v, %d, %v, want empty results", days, stamps, results, n, err)
		}
		if err := x.Put(t.Context(), words("a", "b")...); err != nil {
			t.Fatal(err)
		}
		wantFound(t, x, "a", "b")
		wantSettings(t, x)
	}

	// Deletion during concurrent puts also leaves a complete index.
	var putting sync.WaitGroup
	for w := range 2 {
		putting.Go(func() {
			for n := range 15 {
				if err := x.Put(t.Context(), words(fmt.Sprint(w, "-", n))...); err != nil {
					t.Errorf("put: %v", err)
				}
			}
		})
	}
	for range 10 {
		deleted()
		time.Sleep(7 * time.Millisecond)
	}
	putting.Wait()
	wantSettings(t, x)
	if err := x.Put(t.Context(), words("last")...); err != nil {
		t.Fatal(err)
	}
	if results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "words"}}); err != nil || results.Total < 1 {
		t.Errorf("search: got %v, %v, want an item", results, err)
	}
}

// wantFound fails unless a search for "word" returns exactly the IDs.
func wantFound(t *testing.T, x *Index, want ...string) {
	t.Helper()
	results, err := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}, Limit: storage.MaxLimit})
	if err != nil {
		t.Fatalf("search: %v", err)
	}
	var got []string
	for _, h := range results.Hits {
		got = append(got, h.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPut_ReturnsRejectedIDs(t *testing.T) {
	x := open(t, newOptions(t))
	var fine, bad []string
	var items []storage.IndexItem
	for i := range 100 {
		id := fmt.Sprintf("%02d", i)
		if i == 3 || i == 64 || i == 65 {
			id = strings.Repeat(id, maxKey/2+1) // above the limit of Meilisearch
			bad = append(bad, id)
		} else {
			fine = append(fine, id)
		}
		items = append(items, words(id)...)
	}
	items = append(items, words("", bad[0])...)
	bad = append(bad, "")
	var rejected *storage.RejectedError
	if err := x.Put(t.Context(), items...); !errors.As(err, &rejected) || errors.Is(err, storage.ErrUnavailable) {
		t.Fatalf("put: got %v, want a RejectedError", err)
	}
	slices.Sort(bad)
	if slices.Sort(rejected.IDs); !slices.Equal(rejected.IDs, bad) || rejected.Err == nil {
		t.Errorf("got %d rejected items, %v, want %d", len(rejected.IDs), rejected.Err, len(bad))
	}
	wantFound(t, x, fine...)
	if err := x.Delete(t.Context(), append(bad, fine[0])...); err != nil {
		t.Errorf("delete: %v", err)
	}
	wantFound(t, x, fine[1:]...)
}

func TestPut_SplitsLargeBatches(t *testing.T) {
	x := open(t, newOptions(t))
	items := words("a", "b", "c", "d", "e")
	for i := range items {
		items[i].Text = strings.Repeat("text", maxPayload/4/3*(i%2)) // two of these fit
	}
	before := x.tasks(t)
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	if got := x.tasks(t) - before; got != 1 {
		t.Errorf("got %d tasks, want 1", got)
	}
	for i := range items {
		items[i].Text = strings.Repeat("text", maxPayload/4*2/3)
	}
	if err := x.Put(t.Context(), items...); err != nil {
		t.Fatal(err)
	}
	if got := x.tasks(t) - before; got != 6 {
		t.Errorf("got %d more tasks, want 5", got-1)
	}
	wantFound(t, x, "a", "b", "c", "d", "e")
}

func TestPut_WaitsForTheTaskQueue(t *testing.T) {
	x := open(t, newOptions(t))
	docs := indextest.NewItemGenerator(1).Items(30)
	key := string(attrID)
	for i := range docs { // tasks of another agent, of two kinds so that the server does not batch them
		_, err := x.server.Index(x.name).AddDocumentsNdjson(documentOf(&docs[i]), &upstream.DocumentOptions{PrimaryKey: &key})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.server.Index(x.name).UpdateSearchCutoffMs(3000); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	before := x.tasks(t)
	if err := x.Put(ctx, words("late")...); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("put behind other tasks: got %v, want context.DeadlineExceeded", err)
	}
	if got := x.tasks(t) - before; got != 0 {
		t.Errorf("got %d more tasks, want none", got)
	}
	if err := x.Put(t.Context(), words("late")...); err != nil {
		t.Fatal(err)
	}
	wantFound(t, x, "late")
	if n, err := x.Count(t.Context()); err != nil || n != 31 {
		t.Errorf("got count %d, %v, want 31", n, err)
	}
}

// The server processes waiting tasks of several agents together. One that it rejects fails only for the agent that sent it.
func TestPut_TasksOfSeveralAgents(t *testing.T) {
	options := newOptions(t)
	bad := strings.Repeat("x", maxKey+1) // above the limit of Meilisearch
	const agents, batches = 6, 4
	var fine []string
	var group errgroup.Group
	for i := range agents {
		x := open(t, options)
		own := make([][]string, batches)
		for j := range own {
			own[j] = []string{fmt.Sprintf("%d-%d-a", i, j), fmt.Sprintf("%d-%d-b", i, j)}
			fine = append(fine, own[j]...)
		}
		group.Go(func() error {
			for j, ids := range own {
				isBad := i == 2 && j == 1
				if isBad {
					ids = append(ids, bad)
				}
				var rejected *storage.RejectedError
				if err := x.Put(t.Context(), words(ids...)...); errors.As(err, &rejected) != isBad || !isBad && err != nil {
					return fmt.Errorf("batch %d of agent %d: got %v, want a RejectedError: %v", j, i, err, isBad)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	wantFound(t, open(t, options), fine...)
}

// Of puts of one item by several agents, the one that the server accepted last is applied last, though all wait there together.
func TestPut_OrderOfAcceptance(t *testing.T) {
	options := newOptions(t)
	titles := []string{"apple", "river", "stone", "cloud"}
	var put func(i int)
	put = func(i int) {
		items := words("item")
		items[0].Title += " " + titles[i]
		accepted := 0
		ctx := storage.WithAccepted(t.Context(), func() {
			if accepted++; i+1 < len(titles) {
				put(i + 1)
			}
		})
		if err := open(t, options).Put(ctx, items...); err != nil || accepted != 1 {
			t.Errorf("put %d: %v, accepted %d times", i, err, accepted)
		}
	}
	put(0)
	wantFound(t, open(t, options), "item")
	for i, title := range titles {
		results, err := open(t, options).Search(t.Context(), storage.Query{Where: query.Text{Words: title}, Limit: 1})
		if want := i == len(titles)-1; err != nil || (len(results.Hits) == 1) != want {
			t.Errorf("%s: got %d hits, %v; want one: %v", title, len(results.Hits), err, want)
		}
	}
}

// stampsAfterRestart retries until the server returns stamps: after a restart it may still apply settings.
func stampsAfterRestart(t *testing.T, x *Index, after string) []storage.Stamp {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		page, err := x.Stamps(t.Context(), noon, after, 100)
		if err == nil {
			return page
		}
		if !errors.Is(err, storage.ErrUnavailable) || time.Now().After(deadline) {
			t.Fatalf("stamps: %v", err)
		}
	}
}

func TestPut_KilledServerLosesNothing(t *testing.T) {
	needServer(t)
	m := engines.NewMeilisearch(t)
	x := open(t, Options{URL: m.URL(), Key: m.Key()})
	var put []string
	for round := range 3 {
		for n := 0; ; n++ {
			if n == 3 { // the kill interrupts one of the puts that follow
				time.AfterFunc(time.Duration(20+25*round)*time.Millisecond, m.Kill)
			}
			ids := []string{fmt.Sprint(round, "-", n), fmt.Sprint(round, "-", n, "-too")}
			if err := x.Put(t.Context(), words(ids...)...); errors.Is(err, storage.ErrUnavailable) {
				break
			} else if err != nil {
				t.Fatalf("put: %v, want ErrUnavailable", err)
			}
			put = append(put, ids...)
		}
		m.Wait(time.Minute)
		_, searchErr := x.Search(t.Context(), storage.Query{Where: query.Text{Words: "word"}})
		_, daysErr := x.Days(t.Context())
		_, stampsErr := x.Stamps(t.Context(), noon, "", 1)
		_, countErr := x.Count(t.Context())
		for call, err := range map[string]error{
			"search": searchErr, "days": daysErr, "stamps": stampsErr, "count": countErr,
			"put": x.Put(t.Context(), words("a")...), "delete": x.Delete(t.Context(), "a"),
		} {
			if !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s without a server: %v, want ErrUnavailable", call, err)
			}
		}
		if err := m.Start(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for after := ""; ; after = got[len(got)-1] {
			page := stampsAfterRestart(t, x, after)
			if len(page) == 0 {
				break
			}
			for _, s := range page {
				got = append(got, s.ID)
			}
		}
		for _, id := range put {
			if !slices.Contains(got, id) {
				t.Errorf("item %s, put before the kill, is lost", id)
			}
		}
	}
	if len(put) < 6 {
		t.Errorf("got %d items put, want at least 6", len(put))
	}
}

// delayProxy is a TCP proxy to the address that delays each response. It returns its URL.
func delayProxy(t *testing.T, to string, delay time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go io.Copy(out, in)
				time.Sleep(delay)
				io.Copy(in, out)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

func TestIndex_SlowServerRespectsContext(t *testing.T) {
	options := newOptions(t)
	open(t, options)
	address, err := url.Parse(options.URL)
	if err != nil {
		t.Fatal(err)
	}
	options.URL = delayProxy(t, address.Host, 30*time.Second)
	x, err := newIndex(options)
	if err != nil {
		t.Fatal(err)
	}
	for call, f := range map[string]func(context.Context) error{
		"open":   func(ctx context.Context) error { _, err := Open(ctx, options); return err },
		"put":    func(ctx context.Context) error { return x.Put(ctx, words("a")...) },
		"delete": func(ctx context.Context) error { return x.Delete(ctx, "a") },
		"search": func(ctx context.Context) error { _, err := x.Search(ctx, storage.Query{}); return err },
		"days":   func(ctx context.Context) error { _, err := x.Days(ctx); return err },
		"stamps": func(ctx context.Context) error { _, err := x.Stamps(ctx, noon, "", 1); return err },
		"count":  func(ctx context.Context) error { _, err := x.Count(ctx); return err },
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		if err := f(ctx); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s: %v, want context.DeadlineExceeded", call, err)
		}
		if elapsed := time.Since(begin); elapsed > 20*time.Second { // the response comes after 30 s
			t.Errorf("%s: took %v, with a timeout of 100 ms", call, elapsed)
		}
		cancel()
	}
}

func TestSearch_TimesOut(t *testing.T) {
	options := newOptions(t)
	open(t, options)
	address, err := url.Parse(options.URL)
	if err != nil {
		t.Fatal(err)
	}
	options.URL = delayProxy(t, address.Host, time.Minute)
	x, err := newIndex(options)
	if err != nil {
		t.Fatal(err)
	}
	var calls sync.WaitGroup
	for call, f := range map[string]func() error{
		"search":  func() error { _, err := x.Search(t.Context(), storage.Query{}); return err },
		"similar": func() error { _, err := x.Similar(t.Context(), words("a")[0], 5); return err },
		"suggest": func() error { _, err := x.Suggest(t.Context(), "wo", 5); return err },
	} {
		calls.Go(func() {
			begin := time.Now()
			if err := f(); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("%s: %v, want ErrUnavailable", call, err)
			}
			if elapsed := time.Since(begin); elapsed > 30*time.Second { // the response comes after a minute
				t.Errorf("%s: took %v, want about %v", call, elapsed, searchTimeout)
			}
		})
	}
	calls.Wait()
}

func TestStamps_OlderDocumentFormatIsStale(t *testing.T) {
	x := open(t, newOptions(t))
	if err := x.Put(t.Context(), words("old", "new")...); err != nil {
		t.Fatal(err)
	}
	key := string(attrID)
	info, err := x.server.Index(x.name).UpdateDocuments([]map[string]any{{"id": "old", "form": form - 1}}, &upstream.DocumentOptions{PrimaryKey: &key})
	if err != nil {
		t.Fatal(err)
	}
	if err := x.wait(t.Context(), info); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Count(t.Context()); err != nil || n != 1 {
		t.Errorf("got count %d, %v, want 1 of the current format", n, err)
	}
	if days, err := x.Days(t.Context()); err != nil || days[storage.Day(noon)] != 1 {
		t.Errorf("got days %v, %v, want 1 of the current format", days, err)
	}
	stamps, err := x.Stamps(t.Context(), storage.Day(noon), "", 10)
	want := []storage.Stamp{{ID: "new", Changed: noon}, {ID: "old", Changed: time.UnixMicro(0).UTC()}}
	if err != nil || !slices.Equal(stamps, want) {
		t.Errorf("got stamps %v, %v, want the older document with a zero change time: %v", stamps, err, want)
	}
	if err := x.Put(t.Context(), words("old")...); err != nil {
		t.Fatal(err)
	}
	if n, err := x.Count(t.Context()); err != nil || n != 2 {
		t.Errorf("got count %d, %v, want 2 after the second put", n, err)
	}
}

// The comparison with the store reads the stamps of an index that was deleted and made again.
func TestStamps_IndexWithoutDocuments(t *testing.T) {
	x, err := Open(t.Context(), newOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if stamps, err := x.Stamps(t.Context(), time.Now(), "", 10); err != nil || len(stamps) > 0 {
		t.Errorf("got %v, %v; want no stamps", stamps, err)
	}
}
