// Command bench measures feedmesh: a whole node and whole meshes on synthetic
// feeds, which a process of their own serves, and parts of them alone. Without
// arguments it runs the suite, prints one table, and keeps it under bench/results;
// with names of parts it runs those, each with flags of its own:
//
//	bench sweep -feeds 2000 -hosts 200 search -engine bleve
//
// Each part runs in a process of its own, so that its memory and its processor
// time are its own too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"text/tabwriter"
)

// A part is one thing that can be measured.
type part struct {
	name, measures string
	suite          bool
	run            func(ctx context.Context, out *report, args []string) error
}

// parts lists all of them, those of the suite in the order it runs them.
var parts = []part{
	{"sweep", "a node that takes in feeds, polls them again unchanged, and again with something new", true, benchSweep},
	{"steady", "a node with feeds that publish as real ones do, for a while, and people who search", true, benchSteady},
	{"mesh", "the first sweep of one node, and of agents on PostgreSQL and Meilisearch, side by side", true, benchMesh},
	{"search", "what each search engine takes to index items and to answer", true, benchSearch},
	{"growth", "what an item and a poll cost when there are more and more items, and feeds", true, benchGrowth},
	{"idle", "a node with few feeds that publish nothing, its start, and how large the program is", true, benchIdle},
	{"crawl", "polling alone, of many feeds, and what memory they take", false, benchCrawl},
	{"parse", "what documents cost to read, and entries to prepare", false, benchParse},
	{"classify", "what rules cost to load and to fire", false, benchClassify},
	{"near", "what it costs to find items that repeat others", false, benchNear},
	{"stories", "what it costs to group items into stories", false, benchStories},
	{"takeover", "how long who groups items needs to remember what there is", false, benchTakeover},
}

// servers are what parts start as processes of their own to measure against.
var servers = map[string]func(ctx context.Context, args []string) error{"serve-farm": serveFarm, "serve-web": serveWeb}

// exitHelp is how a process ends that was only asked for its flags.
const exitHelp = 2

func main() {
	results := flag.String("results", "", "keep the results under this folder; without it those of the suite are kept under "+history)
	rows := flag.String("rows", "", "be the process of one part, and append its rows to this file")
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

// partNamed returns the part of that name.
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
		return fmt.Errorf("there is no part %q", args[0])
	}
	file, err := os.OpenFile(rows, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	return p.run(ctx, newReport(file), args[1:])
}

// parse sets a part's flags from its arguments, which must be flags only.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is neither a flag of %s nor a part", flags.Arg(0), flags.Name())
	}
	return nil
}
