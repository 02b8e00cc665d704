package feed

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/tests/corpus"
)

// hinted parses an RSS channel.
func hinted(t *testing.T, channel string) Hints {
	t.Helper()
	doc, err := Parse([]byte("<rss version='2.0' xmlns:sy='http://purl.org/rss/1.0/modules/syndication/' xmlns:atom10='http://www.w3.org/2005/Atom'><channel>"+
		channel+"<item><title>a</title></item></channel></rss>"), "", "https://a.test/blog/feed")
	if err != nil {
		t.Fatalf("%s: %v", channel, err)
	}
	return doc.Hints
}

// TestHints_Intervals covers valid and invalid hints of channels.
func TestHints_Intervals(t *testing.T) {
	for channel, want := range map[string]Hints{
		"":                                   {},
		"<ttl>60</ttl>":                      {TTL: time.Hour},
		"<ttl>\n 5 </ttl>":                   {TTL: 5 * time.Minute},
		"<ttl>0</ttl>":                       {},
		"<ttl>-60</ttl>":                     {},
		"<ttl>an hour</ttl>":                 {},
		"<ttl>100000</ttl>":                  {TTL: maxHint},
		"<ttl>99999999999999999999999</ttl>": {TTL: maxHint},
		"<sy:updatePeriod>Hourly</sy:updatePeriod>":                                           {Period: time.Hour},
		"<sy:updatePeriod>monthly</sy:updatePeriod>":                                          {Period: maxHint},
		"<sy:updatePeriod>now and then</sy:updatePeriod>":                                     {},
		"<sy:updateFrequency>2</sy:updateFrequency>":                                          {Period: 12 * time.Hour},
		"<sy:updatePeriod>weekly</sy:updatePeriod><sy:updateFrequency>7</sy:updateFrequency>": {Period: 24 * time.Hour},
		"<sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>0</sy:updateFrequency>":  {Period: 24 * time.Hour},
		"<skipHours><hour>0</hour><hour> 7 </hour><hour>24</hour><hour>25</hour></skipHours>": {SkipHours: 1<<0 | 1<<7},
		"<skipDays><day>sunday</day><day>Saturday</day><day>Freitag</day></skipDays>":         {SkipDays: 1<<time.Sunday | 1<<time.Saturday},
	} {
		if got := hinted(t, channel); got != want {
			t.Errorf("%s: got %+v, want %+v", channel, got, want)
		}
	}
}

// TestHints_SkippingEveryHourIsIgnored: a channel that skips all hours or all days is polled all the same.
func TestHints_SkippingEveryHourIsIgnored(t *testing.T) {
	var hours, days strings.Builder
	for h := range 24 {
		fmt.Fprintf(&hours, "<hour>%d</hour>", h)
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		fmt.Fprintf(&days, "<day>%s</day>", d)
	}
	got := hinted(t, "<skipHours>"+hours.String()+"</skipHours><skipDays>"+days.String()+"</skipDays>")
	if want := (Hints{}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// TestHints_HubAndSelfAreWebAddresses: hub and topic are absolute web addresses.
func TestHints_HubAndSelfAreWebAddresses(t *testing.T) {
	for links, want := range map[string][2]string{
		"<atom10:link rel='hub' href='http://h.test'/><atom10:link rel='hub' href='http://i.test'/>": {"http://h.test", ""},
		"<atom10:link rel='Self HUB' href='../x'/>":                                                  {"https://a.test/x", "https://a.test/x"},
		"<atom10:link href='http://h.test'/><link rel='hub' href='http://h.test'/>":                  {"", ""},
		"<atom10:link rel='hub' href=''/><atom10:link rel='self' href=' '/>":                         {"", ""},
		"<atom10:link rel='hub' href='file:///etc/passwd'/><atom10:link rel='self' href='urn:a:b'/>": {"", ""},
		"<atom10:link rel='hub' href='http://h.test/" + strings.Repeat("x", maxAddress) + "'/>":      {"", ""},
		"<atom10:link rel='hub' href='//h.test/" + strings.Repeat("ü", maxAddress/3) + "'/>":         {"", ""},
	} {
		if got := hinted(t, links); got.Hub != want[0] || got.Self != want[1] {
			t.Errorf("%.100s: got hub %q and self %q, want %q", links, got.Hub, got.Self, want)
		}
	}
}

// TestZone_OfMostDates covers the publisher's zone derived from dates.
func TestZone_OfMostDates(t *testing.T) {
	for _, c := range []struct {
		name, dates string // dates are separated by |, newest first
		want        string
	}{
		{"no dates", "", "?"},
		{"UTC in all its spellings", "Tue, 03 Mar 2026 09:00:00 GMT|2026-03-02T09:00:00Z|2026-03-01 09:00:00 UTC|Tue, 03 Mar 2026 09:00:00 -0000", "?"},
		{"+0000 alone", "Tue, 03 Mar 2026 09:00:00 +0000|2026-03-02T09:00:00+00:00", "?"},
		{"no zone", "2026-03-02T09:00:00|2026-03-02|03-02-2026", "?"},
		{"offset", "Tue, 03 Mar 2026 09:00:00 +0300", "180"},
		{"offset west, with its name", "Tue, 03 Mar 2026 09:00:00 -0330 (NST)", "-210"},
		{"name", "Tue, 03 Mar 2026 09:00:00 EST", "-300"},
		{"an unregistered name", "Tue, 03 Mar 2026 09:00:00 XYZ", "?"},
		{"summer and winter", "2026-04-03T09:00:00+02:00|2026-03-02T09:00:00+01:00", "120"},
		{"mostly winter", "2026-04-03T09:00:00+02:00|2026-03-02T09:00:00+01:00|2026-03-01T09:00:00+01:00", "60"},
		{"London", "2026-02-03T09:00:00+00:00|2026-02-02T09:00:00+00:00|2025-09-01T09:00:00+01:00", "0"},
		{"nowhere on Earth", "2026-02-03T09:00:00+15:00|2026-02-03T09:00:00-12:30", "?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var items strings.Builder
			for i, date := range strings.Split(c.dates, "|") {
				fmt.Fprintf(&items, "<item><guid>%d</guid><pubDate>%s</pubDate></item>", i, date)
			}
			h := hinted(t, items.String())
			got := "?"
			if h.ZoneKnown {
				got = fmt.Sprint(h.Zone)
			}
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCorpus_Hints counts the hints of real documents. The counts must match those of a search in their
// markup.
func TestCorpus_Hints(t *testing.T) {
	root := corpus.Folder(t, "feeds")
	got := make(map[string]int)
	zones := make(map[int]int)
	for _, s := range corpus.Lines[sample](t, filepath.Join(root, "manifest.jsonl")) {
		doc, err := Parse(body(t, root, s), "", cmp.Or(s.URL, "https://a.test/feed"))
		if err != nil {
			continue
		}
		checkInvariants(t, s.File, doc, err)
		h := doc.Hints
		for name, said := range map[string]bool{
			"ttl": h.TTL != 0, "period": h.Period != 0, "hours": h.SkipHours != 0, "days": h.SkipDays != 0,
			"hub": h.Hub != "", "self": h.Self != "", "zone": h.ZoneKnown,
		} {
			if said {
				got[name]++
			}
		}
		if h.ZoneKnown {
			zones[h.Zone]++
		}
	}
	for _, z := range slices.Sorted(maps.Keys(zones)) {
		t.Logf("%+d minutes: %d documents", z, zones[z])
	}
	t.Log(got)
	for name, want := range map[string]int{"ttl": 45, "period": 54, "hours": 1, "days": 1, "hub": 34, "self": 212, "zone": 124} {
		if got[name] < want {
			t.Errorf("%d documents have %s, want %d", got[name], name, want)
		}
	}
}
