package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"feedmesh/classify/query"
	"feedmesh/storage"
	"feedmesh/storage/bleve"
	"feedmesh/storage/meilisearch"
	"feedmesh/storage/storagetest"
	"feedmesh/tests/engines"
)

// benchSearch prints what each search engine takes to index made-up items of some
// 2 KB, and to answer: one client at a time, each query another, then 1, 16 and 64
// clients who ask a mix of a thousand queries, some of them much more often than
// others, as people do.
func benchSearch(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("search", flag.ContinueOnError)
	items := flags.Int("items", 200_000, "items to index")
	engine := flags.String("engine", "both", "bleve, meilisearch or both")
	each := flags.Duration("each", 4*time.Second, "how long a row is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	measures := map[string]func(context.Context, *searchBench) error{"bleve": withBleve, "meilisearch": withMeilisearch}
	names := []string{*engine}
	if *engine == "both" {
		names = []string{"bleve", "meilisearch"}
	}
	var columns []table
	for _, name := range names {
		measure := measures[name]
		if measure == nil {
			return fmt.Errorf("there is no engine %q: take bleve, meilisearch or both", name)
		}
		b := &searchBench{items: *items, each: *each, made: storagetest.NewMaker(1)}
		if err := measure(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		columns = append(columns, b.table)
	}
	printBeside(names, columns)
	return nil
}

// printBeside prints tables of the same rows as one.
func printBeside(names []string, columns []table) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "\t%s\n", strings.ToUpper(strings.Join(names, "\t")))
	for i, row := range columns[0] {
		fmt.Fprint(out, row[0])
		for _, column := range columns {
			fmt.Fprint(out, "\t", column[i][1])
		}
		fmt.Fprintln(out)
	}
	out.Flush()
}

// A searchBench is an index under measurement.
type searchBench struct {
	index storage.Index
	items int
	each  time.Duration
	made  *storagetest.Maker
	some  []storage.Indexed // of those in the index
	table table
}

func withBleve(ctx context.Context, b *searchBench) error {
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x, err := bleve.Open(filepath.Join(dir, "index"))
	if err != nil {
		return err
	}
	b.index = x
	return errors.Join(b.run(ctx, dir, os.Getpid()), x.Close())
}

func withMeilisearch(ctx context.Context, b *searchBench) error {
	dir, err := os.MkdirTemp("", "feedmesh-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	server, err := engines.StartMeilisearch(dir)
	if err != nil {
		return err
	}
	defer server.Kill()
	x, err := meilisearch.Open(ctx, meilisearch.Options{URL: server.URL(), Key: server.Key()})
	if err != nil {
		return err
	}
	b.index = x
	return errors.Join(b.run(ctx, dir, server.ID()), x.Close())
}

// run measures the index, which a process keeps in a folder.
func (b *searchBench) run(ctx context.Context, dir string, process int) error {
	if err := b.fill(ctx); err != nil {
		return err
	}
	size := settled(dir)
	b.table.add("on disk", "%.0f bytes an item (%.0f MB)", float64(size)/float64(b.items), float64(size)/1e6)
	for _, row := range b.rows() {
		b.clients(ctx, row.what, 1, func(*rand.Rand) func(context.Context) error { return row.ask })
	}
	for _, n := range []int{1, 16, 64} {
		b.clients(ctx, fmt.Sprintf("mix, %d clients", n), n, b.mix())
	}
	b.table.add("memory of the process now, and at most", "%.0f MB, %.0f MB", float64(memoryOf(process, "VmRSS"))/1e6, float64(memoryOf(process, "VmHWM"))/1e6)
	return nil
}

// settled waits until the engine no longer rearranges its files, at most a minute,
// and returns their size.
func settled(dir string) (size int64) {
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

// fill indexes the items, by several at once, as those who index do.
func (b *searchBench) fill(ctx context.Context) error {
	const batch, putters = 500, 4
	batches := make(chan []storage.Indexed)
	var putting sync.WaitGroup
	var failed atomic.Pointer[error]
	for range putters {
		putting.Go(func() {
			for items := range batches {
				if err := b.index.Put(ctx, items...); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	began, making := time.Now(), time.Duration(0)
	for n := 0; n < b.items && failed.Load() == nil; n += batch {
		making -= time.Since(began)
		items := b.made.Items(min(batch, b.items-n))
		making += time.Since(began)
		if len(b.some) < 200 {
			b.some = append(b.some, items[0])
		}
		batches <- items
	}
	close(batches)
	putting.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	took := time.Since(began) - making
	b.table.add("items indexed", "%.0f /s (%d in %.0f s)", float64(b.items)/took.Seconds(), b.items, took.Seconds())
	return nil
}

// A searchRow is one kind of question.
type searchRow struct {
	what string
	ask  func(ctx context.Context) error
}

func (b *searchBench) rows() []searchRow {
	now := time.Now()
	search := func(what string, ask func() storage.Query) searchRow {
		return searchRow{what, func(ctx context.Context) error {
			q := ask()
			now = now.Add(-time.Minute) // so that no answer is remembered
			q.Now = now
			_, err := b.index.Search(ctx, q)
			return err
		}}
	}
	first := func(letters int) string { return string([]rune(b.made.Sought())[:letters]) }
	return []searchRow{
		search("1 word, filter, facets", func() storage.Query { return b.faceted(1) }),
		search("2 words, filter, facets", func() storage.Query { return b.faceted(2) }),
		search("3 words, filter, facets", func() storage.Query { return b.faceted(3) }),
		search("1 word, newest first", func() storage.Query { return storage.Query{Where: b.words(1), Newest: true} }),
		search("all, newest first, facets", func() storage.Query { return storage.Query{Facets: true} }),
		search("1 word, each story once", func() storage.Query { return storage.Query{Where: b.words(1), Once: true} }),
		search("a phrase of 2", func() storage.Query {
			return storage.Query{Where: query.Text{Words: b.made.Sought() + " " + b.made.Sought(), Form: query.Phrase}}
		}),
		search("as typed: 2 letters", func() storage.Query { return storage.Query{Where: query.Text{Words: first(2), Form: query.Prefix}} }),
		search("as typed: a word and 3 letters", func() storage.Query {
			return storage.Query{Where: query.Text{Words: b.made.Sought() + " " + first(3), Form: query.Prefix}}
		}),
		search("a mistyped word", func() storage.Query { return storage.Query{Where: query.Text{Words: b.made.Sought() + "q"}} }),
		{"similar items", func(ctx context.Context) error {
			_, err := b.index.Similar(ctx, b.some[rand.IntN(len(b.some))], 10)
			return err
		}},
		{"suggestions for 2 letters", func(ctx context.Context) error {
			_, err := b.index.Suggest(ctx, first(2), 10)
			return err
		}},
	}
}

// words returns a query for so many words.
func (b *searchBench) words(n int) query.Node {
	var all query.And
	for range n {
		all = append(all, query.Text{Words: b.made.Sought()})
	}
	return all
}

// faceted returns a query for so many words with a filter and facets.
func (b *searchBench) faceted(words int) storage.Query {
	return storage.Query{Where: query.And{b.words(words), query.Is{Field: query.Language, Value: "en"}}, Facets: true}
}

// mix returns what a client asks by chance: for 1 to 3 words with a filter and
// facets.
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

// clients adds a row of so many clients, each of whom asks again and again.
func (b *searchBench) clients(ctx context.Context, what string, n int, client func(chance *rand.Rand) func(context.Context) error) {
	times, failed, last := make([][]time.Duration, n), make([]int, n), make([]error, n)
	began := time.Now()
	var asking sync.WaitGroup
	for i := range n {
		asking.Go(func() {
			ask := client(rand.New(rand.NewPCG(1, uint64(i))))
			for time.Since(began) < b.each && ctx.Err() == nil {
				asked := time.Now()
				if err := ask(ctx); err != nil {
					failed[i]++
					last[i] = err
					continue
				}
				times[i] = append(times[i], time.Since(asked))
			}
		})
	}
	asking.Wait()
	all, fails := slices.Concat(times...), 0
	for _, n := range failed {
		fails += n
	}
	why := ""
	if fails > 0 {
		first, _, _ := strings.Cut(errors.Join(last...).Error(), "\n")
		why = fmt.Sprintf("; %d of %d failed: %s", fails, fails+len(all), first)
	}
	if len(all) == 0 {
		b.table.add(what, "none answered%s", why)
		return
	}
	rate := float64(len(all)) / time.Since(began).Seconds()
	t := timingOf(all)
	b.table.add(what, "%.0f /s, p50 %s, p99 %s%s", rate, millis(t.p50), millis(t.p99), why)
}

func millis(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }
