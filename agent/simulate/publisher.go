package simulate

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"feedmesh/agent/opml"
)

// A publisher contains the fixed properties of one feed of a web.
type publisher struct {
	rhythm
	feed       int
	format     format
	window     int  // maximum number of entries in the document
	paragraphs int  // of an entry
	tags       bool // sends ETag
	dates      bool // sends Last-Modified
	gzip       bool // sends gzip to clients that accept it
	fault      Fault
}

// publishers are the feeds of a web. Their properties depend on the settings only.
type publishers struct {
	settings Settings
	rates    []float64 // items a day, by feed
}

// publisher returns the properties of a feed, which depend on the seed only.
func (s *publishers) publisher(feed int) publisher {
	seed := draw(s.settings.Seed, uint64(feed))
	of := func(what, n uint64) int { return int(draw(seed, 100, what) % n) }
	validators := of(1, 10)
	zone := s.settings.Zone
	if language(feed) == "ru" {
		zone += 3 * time.Hour
	}
	window := s.settings.Window
	if window == 0 {
		window = 10 + of(3, 41)
	}
	return publisher{
		rhythm: newRhythm(seed, s.rates[feed], zone), feed: feed,
		format: formats[of(2, uint64(len(formats)))], window: window, paragraphs: 1 + of(4, 3),
		tags: validators < 8, dates: validators < 6 || validators == 8, gzip: of(5, 10) > 0,
		fault: s.settings.Faults.of(unit(draw(seed, 101))),
	}
}

// shown returns the entries in the feed's document at a time.
func (p publisher) shown(at time.Time) span {
	to := p.published(at)
	return span{max(0, to-p.window), to}
}

// render returns the document with these entries.
func (p publisher) render(shown span) []byte {
	d := document{title: siteTitle(p.feed), site: site(p.feed), language: language(p.feed), items: make([]item, 0, p.window)}
	zone := time.FixedZone("", int(p.zone.Seconds()))
	for seq := shown.to - 1; seq >= shown.from; seq-- {
		title, body := p.text(seq)
		d.items = append(d.items, item{title, body, Link(p.feed, seq), p.at(seq).In(zone)})
	}
	return p.format.write(d, make([]byte, 0, 1<<10+len(d.items)*(400+300*p.paragraphs)))
}

// text returns the title and the HTML of an entry.
func (p publisher) text(seq int) (title, body string) {
	words := newProse(language(p.feed), draw(p.seed, 102, uint64(seq)), uint64(p.at(seq).Unix()/sixHours))
	b := make([]byte, 0, 400*p.paragraphs)
	for range p.paragraphs {
		b = append(words.sentence(append(b, "<p>"...), 20), ".</p>\n"...)
	}
	return string(words.sentence(nil, 7)), string(b)
}

// sixHours is the length in seconds of an event that several feeds report.
const sixHours = 6 * 60 * 60

// Host returns the IP address of a feed's host: 127.0.0.1 if all feeds share one host.
func (s *publishers) Host(feed int) string {
	if s.settings.Hosts == 1 {
		return "127.0.0.1"
	}
	host := feed % s.settings.Hosts
	return fmt.Sprintf("127.1.%d.%d", host/250, 1+host%250)
}

// Feeds returns all feeds with their URLs at a port.
func (s *publishers) Feeds(port int) []opml.Feed {
	feeds := make([]opml.Feed, s.settings.Feeds)
	for i := range feeds {
		feeds[i] = opml.Feed{
			URL: fmt.Sprintf("http://%s:%d/feed/%d", s.Host(i), port, i), Title: siteTitle(i), Site: site(i), Tags: []string{language(i)},
		}
	}
	return feeds
}

func siteTitle(feed int) string { return fmt.Sprintf("Site %d", feed) }

func site(feed int) string { return fmt.Sprintf("https://site%d.example/", feed) }

// alternation is the length of the periods in which an alternating feed refuses or serves.
const alternation = time.Hour

// refusedUntil returns the end of the current refusing period of an alternating feed; zero while it serves.
func (p publisher) refusedUntil(now time.Time) time.Time {
	since := now.Add(-time.Duration(draw(p.seed, 103)%uint64(2*alternation))).Sub(origin) % (2 * alternation)
	if since >= alternation {
		return time.Time{}
	}
	return now.Add(alternation - since)
}

// brokenStatus returns the status of a broken feed.
func (p publisher) brokenStatus() int {
	all := []int{http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}
	return all[draw(p.seed, 104)%uint64(len(all))]
}

// retryAfter returns a Retry-After header, and the time at the header's precision: half of the feeds send
// seconds, half a date.
func (p publisher) retryAfter(until, now time.Time) (string, time.Time) {
	seconds := math.Ceil(until.Sub(now).Seconds())
	if draw(p.seed, 105)%2 == 0 {
		return strconv.Itoa(int(seconds)), now.Add(time.Duration(seconds) * time.Second)
	}
	until = until.Truncate(time.Second).Add(time.Second)
	return until.UTC().Format(http.TimeFormat), until
}
