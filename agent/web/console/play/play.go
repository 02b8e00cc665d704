// Package play decides how a page plays a file or a medium of an item, and which host the page may load it from.
package play

import (
	"net/url"
	"regexp"
	"strings"

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

// Policy returns the directive of a content security policy that allows the player, and nothing of other hosts. A player
// within a frame has the policy of its own website.
func (p Player) Policy() string {
	if p.Kind == Frame {
		return "frame-src " + p.origin()
	}
	return "media-src " + p.origin()
}
