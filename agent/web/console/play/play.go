// Package play decides how a page plays a file or a medium of an item, and which host the page may load it from.
package play

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/classify/text/player"
	"feedmesh/storage"
)

// The kinds of players.
const (
	Audio = "audio"
	Video = "video"
	Frame = "frame" // a website's player
)

// A Player plays an enclosure.
type Player struct {
	Kind    string
	Address string // absolute http(s), of the file or the website's player
}

// Of returns the player of an enclosure. ok is false if a page can't play it.
func Of(e storage.Enclosure) (p Player, ok bool) {
	address := storage.WebURL(e.URL)
	switch {
	case address == "" || strings.Contains(e.Type, "mpegurl") || strings.Contains(e.Type, "dash"):
		return Player{}, false // few browsers play streams without scripts
	case e.Player != "":
		if p.Address, ok = player.Embed(address); ok {
			p.Kind = Frame
		}
	default:
		p.Address = address
		p.Kind, _, _ = strings.Cut(e.Type, "/")
		if m, known := player.Of(address); p.Kind == "" && known && m.Site == "" {
			p.Kind = string(m.Kind)
		}
		ok = p.Kind == Audio || p.Kind == Video
	}
	if !ok || p.origin() == "" {
		return Player{}, false
	}
	return p, true
}

// plainHost matches hosts with ports. Publishers choose the hosts, and Go accepts some with ; and * in them, which have a
// meaning in policies.
var plainHost = regexp.MustCompile(`^(?:[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]+)?$`)

// origin returns the origin of the address, or "" if a policy can't contain it.
func (p Player) origin() string {
	u, err := url.Parse(p.Address)
	if err != nil || !plainHost.MatchString(u.Host) {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// A Fetcher fetches documents, as [fetch.Client] does.
type Fetcher interface {
	Fetch(ctx context.Context, r fetch.Request, now time.Time) (fetch.Document, error)
}

// resolveTimeout is the timeout of all redirects of a file.
const resolveTimeout = 5 * time.Second

// Resolve returns the player with the address to which a file redirects: podcasts are often behind hosts that count
// downloads, and a policy allows one host. The player is unchanged if the address is not found in time.
func (p Player) Resolve(ctx context.Context, from Fetcher) Player {
	if p.Kind == Frame {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	final := p
	// The first response that is no redirect ends the fetch with an error: its body is not needed.
	_, _ = from.Fetch(ctx, fetch.Request{URL: p.Address, Close: true, OnResponse: func(r *http.Response) {
		if r.StatusCode/100 != 3 {
			final.Address = r.Request.URL.String()
			cancel()
		}
	}}, time.Now())
	if final.origin() == "" {
		return p
	}
	return final
}

// Policy returns the directive of a content security policy that allows the player, and nothing of other hosts. A player
// within a frame has the policy of its own website.
func (p Player) Policy() string {
	if p.Kind == Frame {
		return "frame-src " + p.origin()
	}
	return "media-src " + p.origin()
}
