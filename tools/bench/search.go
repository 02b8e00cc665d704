package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/indextest"
	"feedmesh/storage/meilisearch"
	"feedmesh/tests/engines"
	"feedmesh/tools/bench/busy"
	"feedmesh/tools/bench/report"
)

// benchSearch measures indexing generated items of some 2 KB, published within a year, with each search engine, and queries: different
// ones from one client, then a mix of a thousand queries with natural frequencies from 1, 16 and 64 clients.
func benchSearch(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	items := flags.Int("items", 200_000, "items to index")
	engine := flags.String("engine", "bleve", "bleve, meilisearch or both")
	each := flags.Duration("each", 4*time.Second, "duration of each measurement")
	agents := flags.Int("agents", 1, "agents that put items into Meilisearch")
	vectors := flags.Int("vectors", 0, "dimensions of the vectors of an embedder, for semantic searches in Meilisearch; 0: no embedder")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	measures := map[string]func(context.Context, *searchBench) error{"bleve": withBleve, "meilisearch": withMeilisearch}
	names := []string{*engine}
	if *engine == "both" {
		names = []string{"bleve", "meilisearch"}
	}
	for _, name := range names {
		measure := measures[name]
		if measure == nil {
			return fmt.Errorf("no engine %q: use bleve, meilisearch or both", name)
		}
		b := &searchBench{out: out, name: name, items: *items, each: *each, vectors: *vectors, agents: max(1, *agents), made: indextest.NewItemGenerator(1),
			now: storage.Day(time.Now()).AddDate(-1, 0, 0), days: map[time.Time]int64{}}
		if err := measure(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// add adds a row of the engine.
func (b *searchBench) add(what string, value float64, unit, aim string) {
	b.out.Aimed(b.name+": "+what, value, unit, aim)
}

// A searchBench is an index under measurement.
type searchBench struct {
	out   *report.Report
	name  string // of the engine
	index storage.Index
	put   []storage.Index // the same, as each agent has it
	items int
	each  time.Duration

	agents  int // that share the index of Meilisearch
	vectors int // dimensions of the vectors of an embedder; 0: none

	// steps returns the times of the engine's steps; nil if it has none.
	steps func(ctx context.Context, since time.Time) (map[string]time.Duration, error)

	made *indextest.ItemGenerator
	now  time.Time           // at which the last item was first seen
	days map[time.Time]int64 // items first seen on each day
	some []storage.IndexItem // a sample of the indexed items
}

func withBleve(ctx context.Context, b *searchBench) error {
	return inFolder(func(dir string) error {
		x, err := bleve.Open(indexPath(dir), slog.New(slog.DiscardHandler))
		if err != nil {
			return err
		}
		b.index, b.put = x, []storage.Index{x}
		return errors.Join(b.run(ctx, dir, os.Getpid()), x.Close())
	})
}

func withMeilisearch(ctx context.Context, b *searchBench) error {
	return inFolder(func(dir string) error {
		server, err := engines.StartMeilisearch(dir)
		if err != nil {
			return err
		}
		defer server.Kill()
		options := meilisearch.Options{URL: server.URL(), Key: server.Key()}
		if b.vectors > 0 {
			embedder := newRandomEmbedder(b.vectors)
			defer embedder.Close()
			options.Embedder = embedder.settings()
		}
		for range b.agents {
			x, err := meilisearch.Open(ctx, options)
			if err != nil {
				return err
			}
			defer x.Close()
			b.index, b.put = x, append(b.put, x)
		}
		b.steps = func(ctx context.Context, since time.Time) (map[string]time.Duration, error) {
			return busy.Steps(ctx, server.URL(), server.Key(), since)
		}
		return b.run(ctx, dir, server.ID())
	})
}

// run measures the index, with its files in a process's folder.
func (b *searchBench) run(ctx context.Context, dir string, process int) error {
	if err := b.fill(ctx, process); err != nil {
		return err
	}
	if err := b.single(ctx); err != nil {
		return err
	}
	size := settledSize(dir)
	b.add("on disk", float64(size)/float64(b.items), "bytes an item", "")
	for _, row := range b.rows() {
		b.clients(ctx, row, 1, func(*rand.Rand) func(context.Context) error { return row.run })
	}
	for _, n := range []int{1, 16, 64} {
		b.clients(ctx, searchRow{what: fmt.Sprintf("mix, %d clients", n)}, n, b.mix())
	}
	b.add("memory of the process (RSS), at most", float64(memoryOf(process, "VmHWM"))/1e6, "MB", "")
	return nil
}

// settledSize waits until the engine has finished merging its files, at most a minute, and returns their size.
func settledSize(dir string) (size int64) {
	same := 0
	for range 60 {
		before := size
		if size = bytesUnder(dir); size != before {
			same = 0
		} else if same++; same == 3 {
			break
		}
		time.Sleep(time.Second)
	}
	return size
}

// fillEdge is the number of items at the beginning and at the end of fill that are measured by themselves: an engine may need more
// for an item the more items there are.
const fillEdge = 10_000

// fill indexes the items in the index of a process.
func (b *searchBench) fill(ctx context.Context, process int) error {
	edge := min(fillEdge, b.items/2)
	var all time.Duration
	for _, part := range []struct {
		what  string
		items int
	}{{"the first", edge}, {"", b.items - 2*edge}, {"the last", edge}} {
		spent, err := b.intake(ctx, part.items, process)
		if err != nil {
			return err
		}
		if all += spent.elapsed; part.what != "" {
			what := fmt.Sprintf("%s %d items indexed", part.what, part.items)
			b.add(what, spent.rate(float64(part.items)), "/s", "")
			b.add(what+", CPU of the process", spent.millis(float64(part.items)), "ms an item", "")
		}
	}
	b.add("items indexed", float64(b.items)/all.Seconds(), "/s", "")
	return nil
}

// intake generates items and indexes them in batches, some at a time, as role index does with a backlog. It returns what a process
// used, without the time of the generator.
func (b *searchBench) intake(ctx context.Context, count, process int) (spent usagePeriod, err error) {
	batch, putters := b.index.Batches()
	batches := make(chan []storage.IndexItem)
	group, ctx := errgroup.WithContext(ctx)
	for _, x := range b.put {
		for range putters {
			group.Go(func() error {
				for items := range batches {
					if err := x.Put(ctx, items...); err != nil {
						return err
					}
				}
				return nil
			})
		}
	}
	used, making := usedBy(process), time.Duration(0)
	for n := 0; n < count && ctx.Err() == nil; n += batch {
		began := time.Now()
		items := b.next(min(batch, count-n))
		making += time.Since(began)
		if err := b.divide(ctx); err != nil {
			close(batches)
			return spent, errors.Join(err, group.Wait())
		}
		if len(b.some) < 200 {
			b.some = append(b.some, items[0])
		}
		select {
		case batches <- items:
		case <-ctx.Done():
		}
	}
	close(batches)
	if err := group.Wait(); err != nil {
		return spent, err
	}
	spent = usedBy(process).since(used)
	if spent.elapsed -= making; process == os.Getpid() {
		spent.cpu -= making
	}
	return spent, nil
}

// next returns the next items.
func (b *searchBench) next(n int) []storage.IndexItem {
	items := b.made.Items(n)
	for i := range items {
		b.now = b.now.Add(365 * 24 * time.Hour / time.Duration(b.items))
		items[i].Published, items[i].FirstSeen, items[i].Changed = b.now, b.now, b.now
		b.days[storage.Day(b.now)]++
	}
	return items
}

// divide adjusts the parts of an index that has such, as the reconciler does each hour.
func (b *searchBench) divide(ctx context.Context) error {
	if index, is := b.index.(storage.DividedIndex); is {
		return index.Divide(ctx, b.days, b.now)
	}
	return nil
}

// single adds rows of how long an item takes that comes alone, and of the steps of an engine that take longest.
func (b *searchBench) single(ctx context.Context) error {
	var times []time.Duration
	began := time.Now()
	for time.Since(began) < b.each || len(times) < 3 {
		items, sent := b.next(1), time.Now()
		if err := b.index.Put(ctx, items...); err != nil {
			return err
		}
		times = append(times, time.Since(sent))
	}
	b.add("a single item indexed within: p50", report.TimingOf(times).P50.Seconds(), "s", "")
	if b.steps == nil {
		return nil
	}
	steps, err := b.steps(ctx, began)
	if err != nil {
		return err
	}
	longest := slices.SortedFunc(maps.Keys(steps), func(a, b string) int { return cmp.Compare(steps[b], steps[a]) })
	for _, step := range longest[:min(len(longest), 4)] {
		b.add("a single item: "+step, steps[step].Seconds()/float64(len(times)), "s", "")
	}
	return nil
}

// A searchRow is one kind of query.
type searchRow struct {
	what     string
	run      func(ctx context.Context) error
	p50, p99 string // aims, in milliseconds
}

// aimed returns a row with the aims of a common search.
func aimed(row searchRow) searchRow {
	row.p50, row.p99 = "<= 5", "<= 50"
	return row
}

func (b *searchBench) rows() []searchRow {
	now := time.Now()
	search := func(what string, newQuery func() storage.Query) searchRow {
		return searchRow{what: what, run: func(ctx context.Context) error {
			q := newQuery()
			now = now.Add(-time.Minute) // to bypass the cache
			q.Now = now
			_, err := b.index.Search(ctx, q)
			return err
		}}
	}
	first := func(letters int) string { return string([]rune(b.made.SearchWord())[:letters]) }
	rows := []searchRow{
		aimed(search("1 word, filter, facets", func() storage.Query { return b.faceted(1) })),
		aimed(search("2 words, filter, facets", func() storage.Query { return b.faceted(2) })),
		aimed(search("3 words, filter, facets", func() storage.Query { return b.faceted(3) })),
		search("1 word, newest first", func() storage.Query { return storage.Query{Where: b.words(1), Newest: true} }),
		search("all, newest first, facets", func() storage.Query { return storage.Query{Facets: true} }),
		search("1 word, each story once", func() storage.Query { return storage.Query{Where: b.words(1), OnePerStory: true} }),
		search("a phrase of 2", func() storage.Query {
			return storage.Query{Where: query.Text{Words: b.made.SearchWord() + " " + b.made.SearchWord(), Form: query.Phrase}}
		}),
		search("as typed: 2 letters", func() storage.Query { return storage.Query{Where: query.Text{Words: first(2), Form: query.Prefix}} }),
		search("as typed: a word and 3 letters", func() storage.Query {
			return storage.Query{Where: query.Text{Words: b.made.SearchWord() + " " + first(3), Form: query.Prefix}}
		}),
		search("a mistyped word", func() storage.Query { return storage.Query{Where: query.Text{Words: b.made.SearchWord() + "q"}} }),
		{what: "similar items", run: func(ctx context.Context) error {
			_, err := b.index.Similar(ctx, b.some[rand.IntN(len(b.some))], 10)
			return err
		}},
		{what: "suggestions for 2 letters", run: func(ctx context.Context) error {
			_, err := b.index.Suggest(ctx, first(2), 10)
			return err
		}},
	}
	if b.vectors > 0 {
		rows = append(rows, search("3 words, half by meaning", func() storage.Query { return storage.Query{Where: b.words(3), Semantic: 50} }))
	}
	return rows
}

// words returns a query of a number of words.
func (b *searchBench) words(n int) query.Node {
	var all query.And
	for range n {
		all = append(all, query.Text{Words: b.made.SearchWord()})
	}
	return all
}

// faceted returns a query of a number of words with a filter and facets.
func (b *searchBench) faceted(words int) storage.Query {
	return storage.Query{Where: query.And{b.words(words), query.FieldEquals{Field: query.Language, Value: "en"}}, Facets: true}
}

// mix returns a random query of a client: 1 to 3 words with a filter and facets.
func (b *searchBench) mix() func(*rand.Rand) func(context.Context) error {
	queries := make([]storage.Query, 1000)
	for i := range queries {
		queries[i] = b.faceted(1 + i%3)
	}
	return func(chance *rand.Rand) func(context.Context) error {
		often := rand.NewZipf(chance, 1.1, 4, uint64(len(queries)-1))
		return func(ctx context.Context) error {
			_, err := b.index.Search(ctx, queries[often.Uint64()])
			return err
		}
	}
}

// clients adds rows for a number of clients, which query continuously.
func (b *searchBench) clients(ctx context.Context, row searchRow, n int, client func(chance *rand.Rand) func(context.Context) error) {
	times, failed, last := make([][]time.Duration, n), make([]int, n), make([]error, n)
	began := time.Now()
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			request := client(rand.New(rand.NewPCG(1, uint64(i))))
			for time.Since(began) < b.each && ctx.Err() == nil {
				sent := time.Now()
				if err := request(ctx); err != nil {
					failed[i]++
					last[i] = err
					continue
				}
				times[i] = append(times[i], time.Since(sent))
			}
		})
	}
	running.Wait()
	elapsed := time.Since(began)
	all, fails := slices.Concat(times...), 0
	for _, n := range failed {
		fails += n
	}
	if fails > 0 {
		first, _, _ := strings.Cut(errors.Join(last...).Error(), "\n")
		b.out.Failed(b.name+": "+row.what, fmt.Sprintf("%d of %d: %s", fails, fails+len(all), first))
	}
	if len(all) == 0 {
		return
	}
	t := report.TimingOf(all)
	b.add(row.what, float64(len(all))/elapsed.Seconds(), "/s", "")
	b.add(row.what+": p50", t.P50.Seconds()*1e3, "ms", row.p50)
	b.add(row.what+": p99", t.P99.Seconds()*1e3, "ms", row.p99)
}
