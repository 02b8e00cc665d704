package feed

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Hints are a document's requests about polling and push: intervals, quiet hours, and its WebSub hub.
type Hints struct {
	TTL       time.Duration // minimum interval between polls, from RSS's ttl; 0 if absent, at most a week
	Period    time.Duration // interval between publications, from the syndication module; 0 if absent, at most a week
	SkipHours uint32        // bit h set: no publication in hour h, GMT
	SkipDays  uint8         // bit d set: no publication on [time.Weekday] d, GMT
	Hub       string        // absolute URL of the WebSub hub; "" if absent
	Self      string        // absolute URL of the WebSub topic; "" if absent
	Zone      int           // minutes east of UTC of most dates in the document
	ZoneKnown bool          // some dates have an offset other than UTC, so that Zone is not merely the software's default
}

// maxHint bounds the intervals of a document's hints.
const maxHint = 7 * 24 * time.Hour

// hints returns the hints of an XML feed.
//
// Source: RSS 2.0 specification, ttl, skipHours and skipDays; RSS 0.91 counted hours from 1 to 24.
func (r *builder) hints() Hints {
	h := Hints{TTL: hintDuration(r.headText("ttl"), time.Minute)}
	h.skip(r.heads[0].child("skiphours"), r.heads[0].child("skipdays"))
	h.syndication(r.headText("sy:updateperiod"), r.headText("sy:updatefrequency"))
	name := "atom:link"
	if r.format == atom {
		name = "link"
	}
	for _, head := range r.heads {
		for c := head.first; c != nil; c = c.next {
			if c.name == name {
				h.link(c.attr("rel"), cmp.Or(resolve(c.base(r.documentURL), c.attr("href")), c.attr("href")))
			}
		}
	}
	return h
}

// skip parses skipHours and skipDays. Sets that exclude every hour or day are ignored.
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

// periods are the durations of the values of updatePeriod.
var periods = map[string]time.Duration{
	"":        24 * time.Hour, // daily is the default
	"hourly":  time.Hour,
	"daily":   24 * time.Hour,
	"weekly":  7 * 24 * time.Hour,
	"monthly": 30 * 24 * time.Hour,
	"yearly":  365 * 24 * time.Hour,
}

// syndication parses updatePeriod and updateFrequency, the number of updates in a period.
//
// Source: RDF Site Summary 1.0 Modules: Syndication.
func (h *Hints) syndication(period, times string) {
	if period == "" && times == "" {
		return
	}
	n, _ := strconv.Atoi(times)
	h.Period = min(periods[strings.ToLower(period)]/time.Duration(max(n, 1)), maxHint)
}

// hintDuration returns n units, at most maxHint, or 0 if n is not a number. Atoi clamps numbers that overflow
// an int.
func hintDuration(n string, unit time.Duration) time.Duration {
	i, _ := strconv.Atoi(strings.TrimSpace(n))
	return time.Duration(min(max(i, 0), int(maxHint/unit))) * unit
}

// link records the first hub and the first self link.
func (h *Hints) link(rel, href string) {
	for _, r := range strings.Fields(strings.ToLower(rel)) {
		switch {
		case r == "hub" && h.Hub == "":
			h.Hub = boundedAddress(href)
		case r == "self" && h.Self == "":
			h.Self = boundedAddress(href)
		}
	}
}

// resolve makes the addresses absolute and removes those that are not web addresses.
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

// mostCommonZone returns the offset of most dates, in minutes east of UTC, and whether it indicates the
// publisher's zone. Many programs write all dates in UTC, so that UTC counts only if other offsets occur too.
// The newest date breaks a tie, because it reflects current summer or winter time. dates are newest first.
func mostCommonZone(dates []string) (minutes int, known bool) {
	votes := make(map[int]int)
	most := 0
	for i := len(dates) - 1; i >= 0; i-- { // the newest last
		offset, ok := writtenOffset(dates[i])
		if !ok {
			continue
		}
		known = known || offset != 0
		votes[offset]++
		if votes[offset] >= most {
			minutes, most = offset, votes[offset]
		}
	}
	return minutes, known
}

// writtenOffset returns the offset of a date's zone, in minutes. Zones that mean UTC without a place (Z, GMT,
// -0000 by RFC 5322) have none. A name in parentheses may follow an offset.
func writtenOffset(date string) (minutes int, ok bool) {
	date = strings.TrimSpace(date[max(0, len(date)-maxDated):])
	if i := strings.LastIndexByte(date, '('); i >= 0 && strings.HasSuffix(date, ")") {
		date = strings.TrimSpace(date[:i])
	}
	sign := strings.LastIndexAny(date, "+-")
	digits := strings.Replace(date[sign+1:], ":", "", 1)
	n, err := strconv.ParseUint(digits, 10, 16)
	if sign < 0 || len(digits) != len("hhmm") || err != nil {
		minutes, ok = namedZones[date[strings.LastIndexByte(date, ' ')+1:]]
		return minutes, ok
	}
	minutes = int(n/100*60 + n%100)
	if date[sign] == '-' {
		return -minutes, 0 < minutes && minutes <= 12*60
	}
	return minutes, minutes <= 14*60
}

// namedZones are the offsets, in minutes, of names of exactly one zone.
var namedZones = map[string]int{
	"EST": -5 * 60, "EDT": -4 * 60, "CST": -6 * 60, "CDT": -5 * 60,
	"MST": -7 * 60, "MDT": -6 * 60, "PST": -8 * 60, "PDT": -7 * 60,
	"WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 2 * 60, "EET": 2 * 60, "EEST": 3 * 60,
}
