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

// benchSearch measures indexing generated items, published within a year, with search engines, and queries: the same different ones in
// all of them, one after the other, from one client, then a mix of a thousand queries with natural frequencies from 1, 16 and 64 clients.
func benchSearch(ctx context.Context, out *report.Report, args []string) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	b := &searchBench{out: out, made: indextest.NewItemGenerator(1)}
	flags.IntVar(&b.items, "items", 200_000, "items to index")
	names := flags.String("engine", "bleve", "engines: bleve, meilisearch, undivided (Meilisearch with one index), or a list of them")
	flags.DurationVar(&b.each, "each", 4*time.Second, "duration of each measurement")
	flags.IntVar(&b.agents, "agents", 1, "agents that put items into Meilisearch")
	flags.IntVar(&b.made.Words, "words", b.made.Words, "words in the text of an item; 220 are some 2 KB")
	flags.IntVar(&b.vectors, "vectors", 0, "dimensions of the vectors of an embedder, for semantic searches in Meilisearch; 0: no embedder")
	if err := report.Flags(flags, args); err != nil {
		return err
	}
	return b.withEngines(ctx, strings.Split(*names, ","))
}

// A searchBench compares search engines.
type searchBench struct {
	out     *report.Report
	items   int
	each    time.Duration
	agents  int // that share the index of Meilisearch
	vectors int // dimensions of the vectors of an embedder; 0: none

	engines []*searchEngine
	made    *indextest.ItemGenerator // of queries
}

// A searchEngine is an index under measurement.
type searchEngine struct {
	*searchBench
	name    string
	index   storage.Index
	put     []storage.Index // the same, as each agent has it
	dir     string
	process int
	divided bool

	// steps returns the times of the engine's steps; nil if it has none.
	steps func(ctx context.Context, since time.Time) (map[string]time.Duration, error)

	made *indextest.ItemGenerator // of the items, the same for each engine
	now  time.Time                // at which the last item was first seen
	days map[time.Time]int64      // items first seen on each day
	some []storage.IndexItem      // a sample of the indexed items
}

// add adds a row of the engine.
func (e *searchEngine) add(what string, value float64, unit, aim string) {
	e.out.Aimed(e.name+": "+what, value, unit, aim)
}

// withEngines opens the engines with these names, and measures all.
func (b *searchBench) withEngines(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return b.run(ctx)
	}
	open := map[string]func(context.Context, *searchEngine) (closed func() error, err error){
		"bleve": openBleve, "meilisearch": openMeilisearch, "undivided": openMeilisearch,
	}[names[0]]
	if open == nil {
		return fmt.Errorf("no engine %q: use bleve, meilisearch or undivided", names[0])
	}
	return inFolder(func(dir string) error {
		e := &searchEngine{searchBench: b, name: names[0], dir: dir, divided: names[0] != "undivided",
			made: indextest.NewItemGenerator(1), now: storage.Day(time.Now()).AddDate(-1, 0, 0), days: map[time.Time]int64{}}
		e.made.Words = b.made.Words
		closed, err := open(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		b.engines = append(b.engines, e)
		return errors.Join(b.withEngines(ctx, names[1:]), closed())
	})
}

func openBleve(_ context.Context, e *searchEngine) (closed func() error, err error) {
	x, err := bleve.Open(indexPath(e.dir), slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	e.index, e.put, e.process = x, []storage.Index{x}, os.Getpid()
	return x.Close, nil
}

func openMeilisearch(ctx context.Context, e *searchEngine) (closed func() error, err error) {
	server, err := engines.StartMeilisearch(e.dir)
	if err != nil {
		return nil, err
	}
	ends := []func(){server.Kill}
	closed = func() error {
		for _, end := range slices.Backward(ends) {
			end()
		}
		return nil
	}
	options := meilisearch.Options{URL: server.URL(), Key: server.Key()}
	if e.vectors > 0 {
		embedder := newRandomEmbedder(e.vectors)
		ends = append(ends, embedder.Close)
		options.Embedder = embedder.settings()
	}
	for range max(1, e.agents) {
		x, err := meilisearch.Open(ctx, options)
		if err != nil {
			return nil, errors.Join(err, closed())
		}
		ends = append(ends, func() { x.Close() })
		e.index, e.put = x, append(e.put, x)
	}
	e.process = server.ID()
	e.steps = func(ctx context.Context, since time.Time) (map[string]time.Duration, error) {
		return busy.Steps(ctx, server.URL(), server.Key(), since)
	}
	return closed, nil
}

// run measures the engines.
func (b *searchBench) run(ctx context.Context) error {
	for _, e := range b.engines {
		err := e.fill(ctx)
		if err == nil {
			err = e.single(ctx)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		size := settledSize(e.dir)
		e.add("on disk", float64(size)/float64(b.items), "bytes an item", "")
	}
	for _, row := range b.rows() {
		b.compare(ctx, row)
	}
	for _, e := range b.engines {
		for _, n := range []int{1, 16, 64} {
			e.clients(ctx, n)
		}
		e.add("memory of the process (RSS), at most", float64(memoryOf(e.process, "VmHWM"))/1e6, "MB", "")
	}
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

// fill indexes the items.
func (e *searchEngine) fill(ctx context.Context) error {
	edge := min(fillEdge, e.items/2)
	var all time.Duration
	for _, part := range []struct {
		what  string
		items int
	}{{"the first", edge}, {"", e.items - 2*edge}, {"the last", edge}} {
		spent, err := e.intake(ctx, part.items)
		if err != nil {
			return err
		}
		if all += spent.elapsed; part.what != "" {
			what := fmt.Sprintf("%s %d items indexed", part.what, part.items)
			e.add(what, spent.rate(float64(part.items)), "/s", "")
			e.add(what+", CPU of the process", spent.millis(float64(part.items)), "ms an item", "")
		}
	}
	e.add("items indexed", float64(e.items)/all.Seconds(), "/s", "")
	return nil
}

// intake generates items and indexes them in batches, some at a time, as role index does with a backlog. It returns what the
// process used, without the time of the generator.
func (e *searchEngine) intake(ctx context.Context, count int) (spent usagePeriod, err error) {
	batch, putters := e.index.Batches()
	batches := make(chan []storage.IndexItem)
	group, ctx := errgroup.WithContext(ctx)
	for _, x := range e.put {
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
	used, making := usedBy(e.process), time.Duration(0)
	for n := 0; n < count && ctx.Err() == nil; n += batch {
		began := time.Now()
		items := e.next(min(batch, count-n))
		making += time.Since(began)
		if err := e.divide(ctx); err != nil {
			close(batches)
			return spent, errors.Join(err, group.Wait())
		}
		if len(e.some) < 200 {
			e.some = append(e.some, items[0])
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
	spent = usedBy(e.process).since(used)
	if spent.elapsed -= making; e.process == os.Getpid() {
		spent.cpu -= making
	}
	return spent, nil
}

// next returns the next items.
func (e *searchEngine) next(n int) []storage.IndexItem {
	items := e.made.Items(n)
	for i := range items {
		e.now = e.now.Add(365 * 24 * time.Hour / time.Duration(e.items))
		items[i].Published, items[i].FirstSeen, items[i].Changed = e.now, e.now, e.now
		e.days[storage.Day(e.now)]++
	}
	return items
}

// divide adjusts the parts of an index that has such, as the reconciler does each hour.
func (e *searchEngine) divide(ctx context.Context) error {
	if index, is := e.index.(storage.DividedIndex); is && e.divided {
		return index.Divide(ctx, e.days, e.now)
	}
	return nil
}

// single adds rows of how long an item takes that comes alone, and of the steps of an engine that take longest.
func (e *searchEngine) single(ctx context.Context) error {
	var times []time.Duration
	began := time.Now()
	for time.Since(began) < e.each || len(times) < 3 {
		items, sent := e.next(1), time.Now()
		if err := e.index.Put(ctx, items...); err != nil {
			return err
		}
		times = append(times, time.Since(sent))
	}
	e.add("a single item indexed within: p50", report.TimingOf(times).P50.Seconds(), "s", "")
	if e.steps == nil {
		return nil
	}
	steps, err := e.steps(ctx, began)
	if err != nil {
		return err
	}
	longest := slices.SortedFunc(maps.Keys(steps), func(a, b string) int { return cmp.Compare(steps[b], steps[a]) })
	for _, step := range longest[:min(len(longest), 4)] {
		e.add("a single item: "+step, steps[step].Seconds()/float64(len(times)), "s", "")
	}
	return nil
}

// A searchRow is one kind of query.
type searchRow struct {
	what     string
	next     func() searchCall
	p50, p99 string // aims, in milliseconds
}

// A searchCall is a call of an index.
type searchCall func(context.Context, storage.Index) error

// aimed returns a row with the aims of a common search.
func aimed(row searchRow) searchRow {
	row.p50, row.p99 = "<= 5", "<= 50"
	return row
}

func (b *searchBench) rows() []searchRow {
	now := time.Now()
	search := func(what string, newQuery func() storage.Query) searchRow {
		return searchRow{what: what, next: func() searchCall {
			q := newQuery()
			now = now.Add(-time.Minute) // to bypass the cache
			q.Now = now
			return searchOf(q)
		}}
	}
	some := b.engines[0].some
	first := func(letters int) string { return string([]rune(b.made.SearchWord())[:letters]) }
	rows := []searchRow{
		aimed(search("1 word, filter, facets", func() storage.Query { return b.faceted(1) })),
		aimed(search("2 words, filter, facets", func() storage.Query { return b.faceted(2) })),
		aimed(search("3 words, filter, facets", func() storage.Query { return b.faceted(3) })),
		search("1 word, newest first", func() storage.Query { return storage.Query{Where: b.words(1), Newest: true} }),
		search("1 word, newest first, facets", func() storage.Query { return storage.Query{Where: b.words(1), Newest: true, Facets: true} }),
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
		{what: "similar items", next: func() searchCall {
			item := some[rand.IntN(len(some))]
			return func(ctx context.Context, x storage.Index) error {
				_, err := x.Similar(ctx, item, 10)
				return err
			}
		}},
		{what: "suggestions for 2 letters", next: func() searchCall {
			prefix := first(2)
			return func(ctx context.Context, x storage.Index) error {
				_, err := x.Suggest(ctx, prefix, 10)
				return err
			}
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

// searchOf returns the call of a search.
func searchOf(q storage.Query) searchCall {
	return func(ctx context.Context, x storage.Index) error {
		_, err := x.Search(ctx, q)
		return err
	}
}

// compare adds the rows of a kind of query for all engines: each query in one of them after the other.
func (b *searchBench) compare(ctx context.Context, row searchRow) {
	all := make([]callTimes, len(b.engines))
	for began := time.Now(); time.Since(began) < b.each*time.Duration(len(b.engines)) && ctx.Err() == nil; {
		call := row.next()
		for i, e := range b.engines {
			all[i].measure(ctx, e.index, call)
		}
	}
	for i, e := range b.engines {
		e.addTimes(row, all[i:i+1], 0)
	}
}

// clients adds the rows of a number of clients, which query continuously: 1 to 3 words with a filter and facets.
func (e *searchEngine) clients(ctx context.Context, n int) {
	queries := make([]storage.Query, 1000)
	for i := range queries {
		queries[i] = e.faceted(1 + i%3)
	}
	all := make([]callTimes, n)
	began := time.Now()
	var running sync.WaitGroup
	for i := range n {
		running.Go(func() {
			often := rand.NewZipf(rand.New(rand.NewPCG(1, uint64(i))), 1.1, 4, uint64(len(queries)-1))
			for time.Since(began) < e.each && ctx.Err() == nil {
				all[i].measure(ctx, e.index, searchOf(queries[often.Uint64()]))
			}
		})
	}
	running.Wait()
	e.addTimes(searchRow{what: fmt.Sprintf("mix, %d clients", n)}, all, time.Since(began))
}

// callTimes are the times of a client's calls.
type callTimes struct {
	times  []time.Duration
	failed int
	last   error
}

func (c *callTimes) measure(ctx context.Context, x storage.Index, call searchCall) {
	sent := time.Now()
	if err := call(ctx, x); err != nil {
		c.failed++
		c.last = err
		return
	}
	c.times = append(c.times, time.Since(sent))
}

// addTimes adds the rows of calls, with their number a second if they took all of a time.
func (e *searchEngine) addTimes(row searchRow, clients []callTimes, elapsed time.Duration) {
	var all []time.Duration
	var failed int
	var last []error
	for _, c := range clients {
		all, failed, last = append(all, c.times...), failed+c.failed, append(last, c.last)
	}
	if failed > 0 {
		first, _, _ := strings.Cut(errors.Join(last...).Error(), "\n")
		e.out.Failed(e.name+": "+row.what, fmt.Sprintf("%d of %d: %s", failed, failed+len(all), first))
	}
	if len(all) == 0 {
		return
	}
	if elapsed > 0 {
		e.add(row.what, float64(len(all))/elapsed.Seconds(), "/s", "")
	}
	t := report.TimingOf(all)
	e.add(row.what+": p50", t.P50.Seconds()*1e3, "ms", row.p50)
	e.add(row.what+": p99", t.P99.Seconds()*1e3, "ms", row.p99)
}
