package simulate

import "time"

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

// publisher returns the properties of a feed, which depend on the seed only.
func (w *Web) publisher(feed int) publisher {
	seed := draw(w.settings.Seed, uint64(feed))
	of := func(what, n uint64) int { return int(draw(seed, 100, what) % n) }
	validators := of(1, 10)
	zone := time.Duration(0)
	if language(feed) == "ru" {
		zone = 3 * time.Hour
	}
	window := w.settings.Window
	if window == 0 {
		window = 10 + of(3, 41)
	}
	return publisher{
		rhythm: newRhythm(seed, w.rates[feed], zone), feed: feed,
		format: formats[of(2, uint64(len(formats)))], window: window, paragraphs: 1 + of(4, 3),
		tags: validators < 8, dates: validators < 6 || validators == 8, gzip: of(5, 10) > 0,
		fault: w.settings.Faults.of(unit(draw(seed, 101))),
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
