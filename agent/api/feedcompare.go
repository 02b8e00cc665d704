package api

import (
	"context"
	"runtime/debug"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/role/parse/feed/compare"
)

// A Comparison is the second opinion of gofeed on a tested document.
type Comparison struct {
	Parser  string              `json:"parser" doc:"Name and version of the other parser."`
	Error   string              `json:"error,omitempty" doc:"Why the other parser returned no entries."`
	Title   string              `json:"title,omitempty"`
	Format  string              `json:"format,omitempty"`
	Entries int                 `json:"entries" doc:"Number of entries that it found."`
	Same    int                 `json:"same" doc:"Entries that both parsers read alike."`
	Differ  int                 `json:"differ" doc:"Entries that only one of the parsers found, or that differ in title, link or date."`
	Pairs   []compare.EntryPair `json:"pairs" doc:"The first of those that differ, at most 20."`
}

// comparedPairs is the maximum number of differing entries in a comparison.
const comparedPairs = 20

// compareParsers returns the second opinion on a document. One comparison runs at a time in a process, because
// the other parser may need [compare.MaxMemory].
func (s *Server) compareParsers(ctx context.Context, document []byte, ours []feed.Entry) Comparison {
	c := Comparison{Parser: gofeedVersion(), Pairs: []compare.EntryPair{}}
	select {
	case s.comparisons <- struct{}{}:
		defer func() { <-s.comparisons }()
	case <-ctx.Done():
		c.Error = ctx.Err().Error()
		return c
	}
	theirs, err := compare.Parser{Command: s.CompareCommand}.Parse(ctx, document)
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
