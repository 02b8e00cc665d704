package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"feedmesh/agent/opml"
	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/parse/discover"
	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Bounds of a discovery.
const (
	MaxProbes       = 8                // candidates fetched
	maxProbeBytes   = 16 << 20         // bytes of each document
	maxOffered      = 50               // feeds of a list
	discoverTimeout = 25 * time.Second // timeout of the whole discovery
)

// Discovery finds feeds.
type Discovery struct{ *core }

// Find fetches an address and returns it as a feed, or the feeds of the page or the list there. Only errors of the store
// are returned as an error.
func (d *Discovery) Find(ctx context.Context, in wire.DiscoverRequest) (wire.Discovery, error) {
	address := in.Body.URL
	ctx, cancel := context.WithTimeout(ctx, discoverTimeout)
	defer cancel()
	canonical, err := storage.CanonicalURL(address)
	if err != nil {
		return wire.Discovery{URL: address, Kind: wire.KindUnreachable, Feeds: []wire.Candidate{}, Problem: err.Error()}, nil
	}
	found := wire.Discovery{URL: canonical, Kind: wire.KindPage, Feeds: []wire.Candidate{}}
	first, page, err := d.probe(ctx, canonical)
	var unread *feed.Error
	switch {
	case err == nil:
		found.Kind, found.Feeds = wire.KindFeed, []wire.Candidate{first}
	case errors.As(err, &unread) && isDamaged(unread):
		first.Problem = err.Error()
		found.Kind, found.Feeds = wire.KindFeed, []wire.Candidate{first}
	case errors.As(err, &unread) && isList(page.body):
		listed(&found, page.body, in.Body.Words)
	case errors.As(err, &unread):
		found.Feeds = d.probePage(ctx, page)
		if len(found.Feeds) == 0 {
			found.Problem = fmt.Sprintf("no feed was found: %v; the page links to none, and none is at the usual paths", unread)
		}
	default:
		found.Kind, found.Problem = wire.KindUnreachable, err.Error()
	}
	for i := range found.Feeds {
		c := &found.Feeds[i]
		c.FeedID = storage.FeedID(c.URL)
		_, err := d.Store.Feed(ctx, c.FeedID)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			return wire.Discovery{}, err
		}
		c.Stored = err == nil
	}
	return found, nil
}

// isList reports whether a document that is no feed is a list in the format OPML.
func isList(document []byte) bool {
	return bytes.Contains(bytes.ToLower(document[:min(len(document), 1024)]), []byte("<opml"))
}

// listed adds the feeds of a list that contain all words.
func listed(found *wire.Discovery, document []byte, words string) {
	found.Kind = wire.KindList
	feeds, err := opml.Read(bytes.NewReader(document))
	if err != nil {
		found.Problem = err.Error()
		return
	}
	found.Listed = int64(len(feeds))
	wanted, seen := strings.Fields(strings.ToLower(words)), map[string]bool{}
	for _, f := range feeds {
		text := strings.ToLower(strings.Join(append([]string{f.Title, f.URL, f.Site}, f.Tags...), " "))
		lacks := func(word string) bool { return !strings.Contains(text, word) }
		address, err := storage.CanonicalURL(f.URL)
		if err != nil || seen[address] || slices.ContainsFunc(wanted, lacks) {
			continue
		}
		seen[address] = true
		if found.Matches++; found.Matches <= maxOffered {
			found.Feeds = append(found.Feeds, wire.Candidate{URL: address, Title: f.Title})
		}
	}
}

// isDamaged reports whether an unreadable document is nevertheless a feed.
func isDamaged(e *feed.Error) bool {
	return e.Kind == feed.Broken || e.Kind == feed.TooDeep || e.Kind == feed.TooLarge
}

// A fetched is a fetched, decompressed document.
type fetched struct {
	url, contentType string
	body             []byte
}

// probe fetches and parses a document. The error is a [*feed.Error] if the document is not a readable feed.
func (d *Discovery) probe(ctx context.Context, address string) (wire.Candidate, fetched, error) {
	c := wire.Candidate{URL: address}
	answer, err := d.Fetcher.Fetch(ctx, fetch.Request{URL: address}, d.Now())
	if err != nil {
		return c, fetched{}, err
	}
	doc := fetched{url: answer.URL, contentType: answer.ContentType}
	if doc.body, err = fetch.Decompress(answer.Body, maxProbeBytes); err != nil {
		return c, doc, err
	}
	read, err := feed.Parse(doc.body, doc.contentType, doc.url)
	if err != nil {
		return c, doc, err
	}
	c.Title, c.Format, c.Entries = read.Title, discover.Format(doc.body), len(read.Entries)
	for _, e := range read.Entries {
		if e.Published.After(c.Newest) {
			c.Newest = e.Published
		}
	}
	return c, doc, nil
}

// probePage returns the feeds of a page: those it links to or, without any, those at well-known paths. A
// guessed address is returned only if it is a feed; an address that the page names as its feed is returned
// even if it can't be read.
func (d *Discovery) probePage(ctx context.Context, page fetched) []wire.Candidate {
	feeds := []wire.Candidate{}
	looks, seen := 0, map[string]bool{} // addresses already probed, before and after redirects
	try := func(address, title string, named bool) {
		address, err := storage.CanonicalURL(address)
		if err != nil || seen[address] || !named && looks >= MaxProbes {
			return
		}
		seen[address] = true
		c := wire.Candidate{URL: address, Problem: "not fetched: the page has too many candidates"}
		if looks++; looks <= MaxProbes {
			read, doc, err := d.probe(ctx, address)
			if err == nil && doc.url != address && seen[doc.url] {
				return
			}
			c, seen[doc.url] = read, true
			if err != nil {
				c.Problem = err.Error()
			}
		}
		c.Title = cmp.Or(c.Title, title)
		if c.Problem == "" || named {
			feeds = append(feeds, c)
		}
	}
	for _, c := range discover.Candidates(page.body, page.contentType, page.url) {
		try(c.URL, c.Title, c.Source == discover.Linked)
	}
	if len(feeds) == 0 {
		for _, address := range discover.WellKnown(page.url) {
			if try(address, "", false); len(feeds) > 0 {
				break
			}
		}
	}
	return feeds
}
