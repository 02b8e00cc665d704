package feed

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Hints are what a document says of when to read it and of who tells when.
type Hints struct {
	TTL       time.Duration // between readings, by RSS's ttl; 0 if it says none, at most a week
	Period    time.Duration // between publications, by the syndication module; 0 if it says none, at most a week
	SkipHours uint32        // bit h is set: nothing comes in hour h, GMT
	SkipDays  uint8         // bit d is set: nothing comes on [time.Weekday] d, GMT
	Hub       string        // where WebSub subscriptions are asked for, absolute; "" if nowhere
	Self      string        // the topic to ask for there, absolute; "" if the document names none
	Zone      int           // minutes east of UTC in which most of its dates are written
	ZoneKnown bool          // some are written in another zone than UTC, which programs write for any
}

// maxWait bounds what a document may ask us to wait.
const maxWait = 7 * 24 * time.Hour

// hints returns what the feed says of when to read it, and of who tells when.
//
// Source: RSS 2.0 specification, ttl, skipHours and skipDays; RSS 0.91 counted
// hours from 1 to 24.
func (r *reader) hints() Hints {
	h := Hints{TTL: wait(r.say("ttl"), time.Minute)}
	h.skip(r.heads[0].child("skiphours"), r.heads[0].child("skipdays"))
	h.syndication(r.say("sy:updateperiod"), r.say("sy:updatefrequency"))
	name := "atom:link"
	if r.format == atom {
		name = "link"
	}
	for _, head := range r.heads {
		for c := head.first; c != nil; c = c.next {
			if c.name == name {
				h.link(c.attr("rel"), cmp.Or(resolve(c.base(r.outer), c.attr("href")), c.attr("href")))
			}
		}
	}
	return h
}

// skip reads when nothing comes. Nobody means never.
func (h *Hints) skip(hours, days *node) {
	for _, hour := range values(hours) {
		if n, err := strconv.Atoi(hour); err == nil && 0 <= n && n <= 24 {
			h.SkipHours |= 1 << (n % 24)
		}
	}
	for _, day := range values(days) {
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(day, d.String()) {
				h.SkipDays |= 1 << d
			}
		}
	}
	if h.SkipHours == 1<<24-1 {
		h.SkipHours = 0
	}
	if h.SkipDays == 1<<7-1 {
		h.SkipDays = 0
	}
}

// values returns the texts of the children of n, which may be nil.
func values(n *node) []string {
	if n == nil {
		return nil
	}
	var all []string
	for c := n.first; c != nil; c = c.next {
		all = append(all, c.value())
	}
	return all
}

// periods are the lengths of the periods that updatePeriod names.
var periods = map[string]time.Duration{
	"":        24 * time.Hour, // daily is the default
	"hourly":  time.Hour,
	"daily":   24 * time.Hour,
	"weekly":  7 * 24 * time.Hour,
	"monthly": 30 * 24 * time.Hour,
	"yearly":  365 * 24 * time.Hour,
}

// syndication reads updatePeriod and updateFrequency, how often in a period.
//
// Source: RDF Site Summary 1.0 Modules: Syndication.
func (h *Hints) syndication(period, times string) {
	if period == "" && times == "" {
		return
	}
	n, _ := strconv.Atoi(times)
	h.Period = min(periods[strings.ToLower(period)]/time.Duration(max(n, 1)), maxWait)
}

// wait returns n units within what a document may ask for; 0 if n is no
// number. Numbers too large for an int are large.
func wait(n string, unit time.Duration) time.Duration {
	i, _ := strconv.Atoi(strings.TrimSpace(n))
	return time.Duration(min(max(i, 0), int(maxWait/unit))) * unit
}

// link takes note of the first hub and the first self.
func (h *Hints) link(rel, href string) {
	for _, r := range strings.Fields(strings.ToLower(rel)) {
		switch {
		case r == "hub" && h.Hub == "":
			h.Hub = address(href)
		case r == "self" && h.Self == "":
			h.Self = address(href)
		}
	}
}

// resolve makes the addresses absolute, and drops what is no web address.
func (h *Hints) resolve(base *url.URL) {
	for _, address := range []*string{&h.Hub, &h.Self} {
		u, err := base.Parse(*address)
		if *address == "" || err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || len(u.String()) > maxAddress {
			*address = ""
			continue
		}
		*address = u.String()
	}
}
