package spam

import (
	"fmt"
	"slices"
	"strings"
)

const (
	farmLinks    = 3   // minimum links to one other host that indicate a link farm
	farmShare    = 0.2 // minimum share of the text within these links
	shortMessage = 12  // words below which a message is little more than its link
)

// scoreLinks scores the URLs of a document.
func (s *scorer) scoreLinks(list []link) {
	seen := make(map[string]bool, 2*len(list))
	for _, l := range list {
		if l.paid {
			s.flags = append(s.flags, evidence{kind: "sponsored", text: fmt.Sprintf("link to %.100s is marked as sponsored", l.host)})
		}
		if l.host == "" {
			s.matchPatterns(s.filter.emails, l.address)
			continue
		}
		if !seen[l.host] {
			seen[l.host] = true
			if e, ok := s.filter.listedDomain(l.host); ok {
				s.addEntry(e, 1, "domain "+e.text)
			}
		}
		if l.own {
			l.address = l.host + "/" // the path of its own URL repeats its title
		}
		if !seen[l.address] {
			seen[l.address] = true
			s.matchPatterns(s.filter.urls, l.address)
		}
	}
	s.scoreLinkFarm(list)
	if s.message {
		s.scorePromotion(list)
	}
}

// listedDomain returns the list entry of a host or of a parent domain.
func (f *Filter) listedDomain(host string) (e entry, ok bool) {
	for host != "" && !ok {
		e, ok = f.domains[host]
		_, host, _ = strings.Cut(host, ".")
	}
	return e, ok
}

// isTrustedHost reports whether a link to the host counts against spam.
func (s *scorer) isTrustedHost(host string) bool {
	e, _ := s.filter.listedDomain(host)
	return e.weight < 0
}

func (s *scorer) matchPatterns(list patterns, address string) {
	for _, p := range list.in(address) {
		what := fmt.Sprintf("%s in %.100s", p.text, address)
		if p.list == sponsoredList {
			s.flags = append(s.flags, evidence{kind: p.group, text: what, where: p.where})
		} else if !slices.ContainsFunc(s.evidence, func(e evidence) bool { return e.where == p.where }) {
			s.addEntry(p.entry, 1, what)
		}
	}
}

// scoreLinkFarm scores the share of the text that links to one other site. A list of links has many sites,
// and links within the document's own site do not count.
func (s *scorer) scoreLinkFarm(list []link) {
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
		s.addSignal(linkFarm, min(1, share/farmShare/2), fmt.Sprintf("%d links to %.100s", worst.links, worst.host))
	}
}

// site returns the last two labels of a host, an approximation of the registered domain.
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

// scorePromotion scores a message that contains a link.
func (s *scorer) scorePromotion(list []link) {
	var first link
	for _, l := range list {
		if l.host != "" && !s.isTrustedHost(l.host) {
			first = l
			break
		}
	}
	if first.host == "" {
		return
	}
	what := fmt.Sprintf("the message links to %.100s", first.host)
	if first.address == first.host {
		s.addSignal(messageDomain, 1, what)
	} else {
		s.addSignal(messageLink, 1, what)
	}
	if n := len(s.text); n < shortMessage {
		s.addSignal(messageBare, 1-float64(n)/shortMessage, "with little other text")
	}
}
