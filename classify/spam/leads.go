package spam

import (
	"fmt"
	"slices"
	"strings"
)

const (
	farmLinks    = 3   // links to one stranger before they look like a farm
	farmShare    = 0.2 // share of the text in them from which they do
	shortMessage = 12  // words of a message that is hardly more than a link
)

// links weighs the addresses.
func (s *scales) links(list []link) {
	seen := make(map[string]bool, 2*len(list))
	for _, l := range list {
		if l.paid {
			s.flags = append(s.flags, evidence{kind: "sponsored", what: fmt.Sprintf("the link to %.100s says so", l.host)})
		}
		if l.host == "" {
			s.matchPatterns(s.filter.emails, l.address)
			continue
		}
		if !seen[l.host] {
			seen[l.host] = true
			if e, ok := s.filter.listed(l.host); ok {
				s.add(e, 1, "domain "+e.text)
			}
		}
		if l.own {
			l.address = l.host + "/" // its path says again what its title says
		}
		if !seen[l.address] {
			seen[l.address] = true
			s.matchPatterns(s.filter.urls, l.address)
		}
	}
	s.farm(list)
	if s.message {
		s.promotion(list)
	}
}

// listed returns the entry of the lists for a host, or for a domain it is under.
func (f *Filter) listed(host string) (e entry, ok bool) {
	for host != "" && !ok {
		e, ok = f.domains[host]
		_, host, _ = strings.Cut(host, ".")
	}
	return e, ok
}

// isKnown reports whether to lead to a host speaks against spam.
func (s *scales) isKnown(host string) bool {
	e, _ := s.filter.listed(host)
	return e.weight < 0
}

func (s *scales) matchPatterns(list patterns, address string) {
	for _, p := range list.in(address) {
		what := fmt.Sprintf("%s in %.100s", p.text, address)
		if p.list == sponsoredList {
			s.flags = append(s.flags, evidence{kind: p.group, what: what, where: p.where})
		} else if !slices.ContainsFunc(s.evidence, func(e evidence) bool { return e.where == p.where }) {
			s.add(p.entry, 1, what)
		}
	}
}

// farm weighs how much of the text is links to one other site: a list of links
// has many sites, and a site's own pages are its own business.
func (s *scales) farm(list []link) {
	type farm struct {
		host         string
		links, shown int
	}
	var own string
	var worst farm
	farms := make(map[string]farm)
	for _, l := range list {
		if l.own {
			own = l.host
			continue
		}
		if l.shown == 0 || site(l.host) == site(own) {
			continue
		}
		f := farms[l.host]
		f = farm{l.host, f.links + 1, f.shown + l.shown}
		farms[l.host] = f
		if f.links > worst.links {
			worst = f
		}
	}
	share := float64(worst.shown) / float64(max(1, len(s.doc.Text)))
	if worst.links >= farmLinks && share >= farmShare && own != "" {
		s.look(linkFarm, min(1, share/farmShare/2), fmt.Sprintf("%d links to %.100s", worst.links, worst.host))
	}
}

// site returns the last two labels of a host: near enough to who owns it.
func site(host string) string {
	i := strings.LastIndexByte(host, '.')
	if i < 0 {
		return host
	}
	if i = strings.LastIndexByte(host[:i], '.'); i < 0 {
		return host
	}
	return host[i+1:]
}

// promotion weighs that a message leads somewhere.
func (s *scales) promotion(list []link) {
	var first link
	for _, l := range list {
		if l.host != "" && !s.isKnown(l.host) {
			first = l
			break
		}
	}
	if first.host == "" {
		return
	}
	what := fmt.Sprintf("a message leads to %.100s", first.host)
	if first.address == first.host {
		s.look(messageDomain, 1, what)
	} else {
		s.look(messageLink, 1, what)
	}
	if n := len(s.text); n < shortMessage {
		s.look(messageBare, 1-float64(n)/shortMessage, "and hardly says more")
	}
}
