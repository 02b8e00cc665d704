package service

import (
	"context"
	"runtime/debug"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/role/parse/feed/compare"
	"feedmesh/agent/wire"
)

// comparedPairs is the maximum number of differing entries in a comparison.
const comparedPairs = 20

// compareParsers returns the second opinion on a document. One comparison runs at a time in a process, because
// the other parser may need [compare.MaxMemory].
func (t *FetchTests) compareParsers(ctx context.Context, document []byte, ours []feed.Entry) wire.Comparison {
	c := wire.Comparison{Parser: gofeedVersion(), Pairs: []compare.EntryPair{}}
	select {
	case t.comparisons <- struct{}{}:
		defer func() { <-t.comparisons }()
	case <-ctx.Done():
		c.Error = ctx.Err().Error()
		return c
	}
	theirs, err := compare.Parser{Command: t.CompareCommand}.Parse(ctx, document)
	if err != nil {
		c.Error = err.Error()
		return c
	}
	pairs := compare.Pair(compare.OurEntries(ours), theirs.Entries)
	different := compare.Differing(pairs)
	c.Title, c.Format, c.Entries = theirs.Title, theirs.Format, len(theirs.Entries)
	c.Same, c.Differ = len(pairs)-len(different), len(different)
	c.Pairs = append(c.Pairs, different[:min(len(different), comparedPairs)]...)
	return c
}

// gofeedVersion returns the name and version of gofeed in this program.
func gofeedVersion() string {
	const module = "github.com/mmcdole/gofeed"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == module {
				return "gofeed " + dependency.Version
			}
		}
	}
	return "gofeed"
}
