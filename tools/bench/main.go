// Command bench measures feedmesh: whole nodes and meshes with synthetic feeds, served by a separate process,
// and single components. Without arguments it runs the suite, prints one table, and stores it under
// results; with names of parts it runs those, each with its own flags:
//
//	bench sweep -feeds 2000 -hosts 200 search -engine bleve
//
// Each part runs in a separate process, so that memory and CPU time are measured separately.
package main

import (
	"context"
	"errors"
	"feedmesh/tools/bench/component"
	"feedmesh/tools/bench/report"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
)

// A part is a measurement.
type part struct {
	name, measures string
	suite          bool
	run            func(ctx context.Context, out *report.Report, args []string) error
}

// parts lists all parts, those of the suite in the order of their execution.
var parts = []part{
	{"sweep", "a node that adds feeds, polls them unchanged, and polls them with new items", true, benchSweep},
	{"steady", "a node with realistic feeds and search requests, for some minutes", true, benchSteady},
	{"mesh", "the first sweep of one node and of agents on PostgreSQL and Meilisearch, compared", true, benchMesh},
	{"scale", "throughput of one to six agents on small machines with a share of a core each", false, benchScale},
	{"search", "indexing and search costs of each search engine", true, benchSearch},
	{"growth", "cost of an item and of a poll at growing numbers of items and feeds", true, benchGrowth},
	{"idle", "an idle node with few feeds: its start, use of resources and program size", true, benchIdle},
	{"limited", "the first sweep of a node without a memory limit, and with one of 256 MiB in a container of 384 MB", true, benchLimited},
	{"endurance", "memory and files of a node that gets twenty times the items of 50,000 feeds, for an hour", false, benchEndurance},
	{"rivals", "this program and other feed readers, built from their sources, with the same feeds", false, benchReaders},
	{"crawl", "polling of many feeds without the other roles, and their memory", false, benchCrawl},
	{"parse", "cost of parsing documents and preparing entries", false, component.Parse},
	{"classify", "cost of loading and evaluating rules", false, component.Classify},
	{"near", "cost of detecting duplicates", false, component.Near},
	{"stories", "cost of clustering items into stories", false, component.Stories},
	{"schedule", "a partition of the schedule of 10 million feeds for a day in compressed time, without requests", false, benchSchedule},
	{"retention", "purge of a third of the items while a node answers searches", false, benchRetention},
	{"takeover", "time that a new active clusterer needs to load the window", false, benchTakeover},
}

// servers are the processes that parts start to measure against.
var servers = map[string]func(ctx context.Context, args []string) error{"serve-feeds": serveFeeds, "serve-web": serveWeb, "serve-crawls": serveCrawls}

// exitHelp is the exit code of a process that only printed its flags.
const exitHelp = 2

func main() {
	results := flag.String("results", "", "folder for results; without it, the suite writes to "+history)
	rows := flag.String("rows", "", "run one part in this process and append its rows to this file (used internally)")
	flag.Usage = usage
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if serve := servers[flag.Arg(0)]; serve != nil {
		err = serve(ctx, flag.Args()[1:])
	} else if *rows != "" {
		err = runPart(ctx, *rows, flag.Args())
	} else {
		err = runAll(ctx, flag.Args(), *results)
	}
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(exitHelp)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "bench [-results DIR] [PART [FLAGS]]...; PART -h names a part's flags. Without parts: the suite (*).")
	out := tabwriter.NewWriter(os.Stderr, 0, 0, 2, ' ', 0)
	for _, p := range parts {
		mark := ""
		if p.suite {
			mark = "*"
		}
		fmt.Fprintf(out, "  %s\t%s\t%s\n", p.name, mark, p.measures)
	}
	out.Flush()
}

// partNamed returns the part with a name.
func partNamed(name string) (part, bool) {
	i := slices.IndexFunc(parts, func(p part) bool { return p.name == name })
	if i < 0 {
		return part{}, false
	}
	return parts[i], true
}

// runPart runs one part in this process.
func runPart(ctx context.Context, rows string, args []string) error {
	p, is := partNamed(args[0])
	if !is {
		return fmt.Errorf("no part %q; see -h", args[0])
	}
	file, err := os.OpenFile(rows, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	return p.run(ctx, report.New(file), args[1:])
}
