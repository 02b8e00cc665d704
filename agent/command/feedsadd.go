package command

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// An addCommand adds feeds.
type addCommand struct {
	query
	Tag  []string `placeholder:"TAG" help:"Tags for the feeds."`
	All  bool     `help:"Add all feeds if a page has several."`
	AsIs bool     `help:"Add the URLs without fetching them first."`
	URLs []string `arg:"" name:"url" help:"URLs of feeds, or of pages that link to a feed."`
}

// Help implements kong's HelpProvider.
func (addCommand) Help() string {
	return `Add two feeds with a tag:

    agent feeds add --tag go https://go.dev/blog/feed.atom https://blog.golang.org/feed

Add the feed of a site. If it has several, they are listed and the exit code is 2; add one by its URL, or all with --all:

    agent feeds add https://example.org/

Adding an existing feed changes nothing. A URL that does not respond is added and polled later.`
}

// Run implements the command.
func (c *addCommand) Run(ctx context.Context, p *program) error {
	api, err := c.client(p)
	if err != nil {
		return err
	}
	urls, ambiguous := c.URLs, error(nil)
	if !c.AsIs {
		if urls, ambiguous = c.discover(ctx, p, api); ambiguous != nil && !errors.Is(ambiguous, errReported) {
			return ambiguous
		}
	}
	results := wire.ImportResults{Results: []wire.ImportResult{}}
	if len(urls) > 0 {
		if results, err = client.Call(ctx, api, wire.AddFeeds, wire.AddFeedsRequest{Body: wire.FeedAddresses{URLs: urls, Tags: c.Tag}}); err != nil {
			return err
		}
	}
	err = c.print(p, results, func(pg *page) {
		pg.table(func(row func(...any)) {
			for _, f := range results.Results {
				if f.Outcome != wire.ImportInvalid {
					row(f.Outcome, f.FeedID, f.URL)
				}
			}
		})
	})
	for _, f := range results.Results {
		if f.Outcome == wire.ImportInvalid {
			p.notice("%s", f.Reason)
		}
	}
	return errors.Join(err, c.result(results, ambiguous))
}

// result returns nil if all feeds were added, else an exit error: 2 if none was, 3 if some were.
func (c *addCommand) result(results wire.ImportResults, ambiguous error) error {
	switch {
	case results.Invalid == 0 && ambiguous == nil:
		return nil
	case results.Added+results.Existing == 0:
		return exitError{errReported, exitUsage}
	}
	return exitError{errReported, exitPartial}
}

// discover returns the feed addresses found at the user's addresses. It prints the findings, and returns
// errReported if the user must choose among several feeds or no feed was found.
func (c *addCommand) discover(ctx context.Context, p *program, api *client.Client) (urls []string, err error) {
	for _, url := range c.URLs {
		canonical, invalid := storage.CanonicalURL(url)
		if invalid != nil { // the API reports invalid addresses
			urls = append(urls, url)
			continue
		}
		if _, notStored := client.Call(ctx, api, wire.GetFeed, wire.ByID{ID: storage.FeedID(canonical)}); notStored == nil {
			urls = append(urls, url)
			continue
		}
		found, failure := client.Call(ctx, api, wire.DiscoverFeeds, wire.DiscoverRequest{Body: wire.DiscoveredAddress{URL: url}})
		if failure != nil {
			return nil, failure
		}
		switch {
		case found.Kind == wire.KindFeed:
			urls = append(urls, url)
		case found.Kind == wire.KindUnreachable:
			p.notice("%s cannot be fetched (%s); added anyway, to be polled later", url, found.Problem)
			urls = append(urls, url)
		case found.Kind == wire.KindList:
			p.notice("%s is a list of %d feeds; download it and import it with: agent import FILE", url, found.Listed)
			err = errReported
		case len(found.Feeds) == 0:
			p.notice("%s: %s; use --as-is to add the URL anyway", url, found.Problem)
			err = errReported
		case len(found.Feeds) == 1 || c.All:
			for _, f := range found.Feeds {
				p.notice("%s is a web page; its feed is %s", url, f.URL)
				urls = append(urls, f.URL)
			}
		default:
			p.notice("%s is a web page with %d feeds; add one by its URL, or all with --all:", url, len(found.Feeds))
			for _, f := range found.Feeds {
				p.notice("    %s  %s", f.URL, describeCandidate(f))
			}
			err = errReported
		}
	}
	return urls, err
}

// describeCandidate describes a found feed in one line.
func describeCandidate(f wire.Candidate) string {
	if f.Problem != "" {
		return truncate(f.Title, 60) + " (" + f.Problem + ")"
	}
	return fmt.Sprintf("%s (%s, %d entries)", truncate(f.Title, 60), f.Format, f.Entries)
}
