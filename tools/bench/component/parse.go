// Package component measures single components of feedmesh: parsing, rules, duplicates and stories.
package component

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/url"
	"os"
	"runtime"
	"text/tabwriter"
	"time"

	"github.com/mmcdole/gofeed"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/simulate"
	"feedmesh/classify/language"
	"feedmesh/classify/stem"
	"feedmesh/classify/text"
	"feedmesh/tools/bench/cpu"
	"feedmesh/tools/bench/report"
)

// A reader is a way to read documents, or a step of processing entries.
type reader struct {
	name string
	read func(document []byte) error
}

var readers = []reader{
	{"ours", func(d []byte) error {
		_, err := feed.Parse(d, "application/rss+xml", "https://example.org/")
		return err
	}},
	{"gofeed alone", func(d []byte) error {
		_, err := gofeed.NewParser().Parse(bytes.NewReader(d))
		return err
	}},
	{"encoding/xml alone", func(d []byte) error {
		tokens := xml.NewDecoder(bytes.NewReader(d))
		for {
			if _, err := tokens.RawToken(); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}},
}

// A cost is the cost of reading one document.
type cost struct {
	documents int
	bytes     int
	elapsed   time.Duration
	allocs    uint64
}

func (c *cost) add(d []byte, read func([]byte) error) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := cpu.Time()
	for range 5 {
		if err := read(d); err != nil {
			return err
		}
		c.documents, c.bytes = c.documents+1, c.bytes+len(d)
	}
	c.elapsed += cpu.Time() - began
	runtime.ReadMemStats(&after)
	c.allocs += after.Mallocs - before.Mallocs
	return nil
}

// Parse measures parsing documents, alternating with other parsers that read fewer fields, and preparing
// their entries.
func Parse(_ context.Context, _ *report.Report, args []string) error {
	if err := report.Flags(flag.NewFlagSet("parse", flag.ContinueOnError), args); err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer out.Flush()
	fmt.Fprintln(out, "documents\treader\tdocuments/s\tMB/s\tallocations\ttimes gofeed")
	for _, items := range []int{20, 100} {
		feedServer := simulate.NewFeedServer(50, items, time.Now())
		costs := make([]cost, len(readers))
		for range 4 {
			for i := range 50 {
				for j, r := range readers {
					if err := costs[j].add(feedServer.Document(i), r.read); err != nil {
						return fmt.Errorf("%s: %w", r.name, err)
					}
				}
			}
		}
		for j, r := range readers {
			c := costs[j]
			fmt.Fprintf(out, "of %d items\t%s\t%.0f\t%.1f\t%d\t%.2f\n", items, r.name,
				float64(c.documents)/c.elapsed.Seconds(), float64(c.bytes)/1e6/c.elapsed.Seconds(), c.allocs/uint64(c.documents),
				c.elapsed.Seconds()/costs[1].elapsed.Seconds())
		}
	}
	fmt.Fprintln(out, "\nentries\tstep\tms each\t\t\t")
	return benchPrepare(out)
}

// benchPrepare measures each step of preparing an entry with about 3 KB of markup.
func benchPrepare(out io.Writer) error {
	d, err := feed.Parse(simulate.NewFeedServer(1, 100, time.Now()).Document(0), "", "https://example.org/")
	if err != nil {
		return err
	}
	rules := text.Default()
	base, _ := url.Parse("https://example.org/")
	var size int
	var cleaned []text.Cleaned
	for _, e := range d.Entries {
		size += len(e.HTML)
	}
	steps := []struct {
		name string
		do   func(i int)
	}{
		{"clean, with plain text", func(i int) {
			c := rules.Clean(d.Entries[i].HTML, base, "https://example.org/feed")
			if len(cleaned) < len(d.Entries) {
				cleaned = append(cleaned, c)
			}
		}},
		{"language", func(i int) { language.Detect(cleaned[i].Text, "en") }},
		{"stems", func(i int) { stem.Words(cleaned[i].Text, "en") }},
	}
	var all time.Duration
	const rounds = 20
	for _, s := range steps {
		began := cpu.Time()
		for range rounds {
			for i := range d.Entries {
				s.do(i)
			}
		}
		elapsed := (cpu.Time() - began) / time.Duration(rounds*len(d.Entries))
		all += elapsed
		fmt.Fprintf(out, "of %.1f KB\t%s\t%.3f\t\t\t\n", float64(size)/1e3/float64(len(d.Entries)), s.name, elapsed.Seconds()*1e3)
	}
	fmt.Fprintf(out, "\tall\t%.3f\t\t\t\n", all.Seconds()*1e3)
	return nil
}
