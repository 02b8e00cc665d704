package main

import (
	"context"
	"errors"
	"fmt"

	"feedmesh/agent/api"
	"feedmesh/storage"
)

// An addCommand adds feeds.
type addCommand struct {
	query
	Tag  []string `placeholder:"TAG" help:"Tags of the feeds."`
	All  bool     `help:"Add all feeds of a page that has several."`
	AsIs bool     `help:"Add the addresses as they are, without a look at what is there."`
	URLs []string `arg:"" name:"url" help:"Addresses of feeds, or of pages that have one."`
}

// Help implements kong's HelpProvider.
func (addCommand) Help() string {
	return `Add two feeds under a tag:

    agent feeds add --tag go https://go.dev/blog/feed.atom https://blog.golang.org/feed

Add the feed of a site; if it has several, they are listed, the exit code is 2, and one of them or --all is added by another command:

    agent feeds add https://example.org/

Adding a feed that is known already changes nothing. An address that does not answer now is added all the same.`
}

// Run implements the command.
func (c *addCommand) Run(ctx context.Context, p *program) error {
	client, err := c.client()
	if err != nil {
		return err
	}
	urls, unsure := c.URLs, error(nil)
	if !c.AsIs {
		if urls, unsure = c.lookUp(ctx, p, client); unsure != nil && !errors.Is(unsure, errSaid) {
			return unsure
		}
	}
	got := api.Intakes{Feeds: []api.Intake{}}
	if len(urls) > 0 {
		if got, err = client.AddFeeds(ctx, urls, c.Tag); err != nil {
			return err
		}
	}
	err = c.print(p, got, func(pg *page) {
		pg.table(func(row func(...any)) {
			for _, f := range got.Feeds {
				if f.Outcome != api.Invalid {
					row(f.Outcome, f.FeedID, f.URL)
				}
			}
		})
	})
	for _, f := range got.Feeds {
		if f.Outcome == api.Invalid {
			p.say("%s", f.Reason)
		}
	}
	return errors.Join(err, c.verdict(got, unsure))
}

// verdict returns the fault that it makes if not all was added.
func (c *addCommand) verdict(got api.Intakes, unsure error) error {
	switch {
	case got.Invalid == 0 && unsure == nil:
		return nil
	case got.Added+got.Known == 0:
		return fault{errSaid, misused}
	}
	return fault{errSaid, partly}
}

// lookUp returns the addresses of feeds that the user's addresses stand for. It
// says what was found, and returns errSaid if there are some of which a person
// must choose, or no feed could be found.
func (c *addCommand) lookUp(ctx context.Context, p *program, client *api.Client) (urls []string, err error) {
	for _, url := range c.URLs {
		canonical, bad := storage.CanonicalURL(url)
		if bad != nil { // the API says so, as of others
			urls = append(urls, url)
			continue
		}
		if _, unknown := client.Feed(ctx, storage.FeedID(canonical)); unknown == nil {
			urls = append(urls, url)
			continue
		}
		found, failure := client.Discover(ctx, url)
		if failure != nil {
			return nil, failure
		}
		switch {
		case found.Kind == api.AFeed:
			urls = append(urls, url)
		case found.Kind == api.Unreachable:
			p.say("%s does not answer as it should (%s); it is added all the same, and polled later", url, found.Problem)
			urls = append(urls, url)
		case len(found.Feeds) == 0:
			p.say("%s: %s; --as-is adds the address all the same", url, found.Problem)
			err = errSaid
		case len(found.Feeds) == 1 || c.All:
			for _, f := range found.Feeds {
				p.say("%s is a web page; its feed is %s", url, f.URL)
				urls = append(urls, f.URL)
			}
		default:
			p.say("%s is a web page with %d feeds; add one of them by its address, or all with --all:", url, len(found.Feeds))
			for _, f := range found.Feeds {
				p.say("    %s  %s", f.URL, about(f))
			}
			err = errSaid
		}
	}
	return urls, err
}

// about says in a line what a candidate is.
func about(f api.Candidate) string {
	if f.Problem != "" {
		return cut(f.Title, 60) + " (" + f.Problem + ")"
	}
	return fmt.Sprintf("%s (%s, %d entries)", cut(f.Title, 60), f.Format, f.Entries)
}
