package feed

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	gatom "github.com/mmcdole/gofeed/atom"
	ext "github.com/mmcdole/gofeed/extensions"
	gjson "github.com/mmcdole/gofeed/json"
	grss "github.com/mmcdole/gofeed/rss"
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

// rssHints returns the hints of a channel, addresses as written.
//
// Source: RSS 2.0 specification, ttl, skipHours and skipDays; RSS 0.91 counted
// hours from 1 to 24.
func rssHints(raw *grss.Feed) Hints {
	h := Hints{TTL: wait(raw.TTL, time.Minute)}
	for _, hour := range raw.SkipHours {
		if n, err := strconv.Atoi(strings.TrimSpace(hour)); err == nil && 0 <= n && n <= 24 {
			h.SkipHours |= 1 << (n % 24)
		}
	}
	for _, day := range raw.SkipDays {
		for d := time.Sunday; d <= time.Saturday; d++ {
			if strings.EqualFold(strings.TrimSpace(day), d.String()) {
				h.SkipDays |= 1 << d
			}
		}
	}
	if h.SkipHours == 1<<24-1 {
		h.SkipHours = 0 // nobody means never
	}
	if h.SkipDays == 1<<7-1 {
		h.SkipDays = 0
	}
	h.syndication(raw.Extensions)
	for _, link := range raw.Extensions["atom"]["link"] {
		h.link(link.Attrs["rel"], link.Attrs["href"])
	}
	return h
}

// atomHints returns the hints of an Atom feed, addresses as written.
func atomHints(raw *gatom.Feed) Hints {
	var h Hints
	h.syndication(raw.Extensions)
	for _, link := range raw.Links {
		h.link(link.Rel, link.Href)
	}
	return h
}

// jsonHints returns the hints of a JSON Feed, addresses as written. gofeed
// leaves the hubs out, so they are read from the text again.
//
// Source: JSON Feed 1.1, "Subscribing to Real-time Notifications".
func jsonHints(raw *gjson.Feed, text []byte) Hints {
	var h Hints
	h.link("self", raw.FeedURL)
	var also struct {
		Hubs []struct{ Type, URL string }
	}
	_ = json.Unmarshal(text, &also) // hubs that are not as they should be are none
	for _, hub := range also.Hubs {
		if strings.EqualFold(hub.Type, "WebSub") || strings.EqualFold(hub.Type, "PubSubHubbub") {
			h.link("hub", hub.URL)
		}
	}
	return h
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
func (h *Hints) syndication(all ext.Extensions) {
	value := func(name string) string {
		if e := first(all, "sy", name); e != nil {
			return strings.ToLower(e.Value) // gofeed takes the space around it off
		}
		return ""
	}
	period, times := value("updatePeriod"), value("updateFrequency")
	if period == "" && times == "" {
		return
	}
	n, _ := strconv.Atoi(times)
	h.Period = min(periods[period]/time.Duration(max(n, 1)), maxWait)
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
