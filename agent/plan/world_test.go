package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// due makes a feed due, takes it, and returns it as it is out.
func due(t *testing.T, p *Plan, f *Feed, now time.Time) *Feed {
	t.Helper()
	if f.State.Crawl != "" {
		p.Observe(notModified(f, now.Add(-spacing)), now.Add(-spacing))
	}
	p.change(f, func() { f.State.Next = now.Add(-gather) })
	if taken := takeAll(p, now); !slices.Contains(taken, f) {
		t.Fatalf("got %v at %v, want %s", ids(taken), now, f.FeedID)
	}
	return f
}

func TestAnOutageOfOurOwnCountsAgainstNobody(t *testing.T) {
	p := planOf(100, 100)
	taken := takeAll(p, noon)
	for i, f := range taken[:60] {
		p.Observe(failure(f, "connect", noon), noon.Add(time.Duration(i)*time.Millisecond))
	}
	checked(t, p)
	if p.Outage().IsZero() {
		t.Fatal("60 hosts of 60 did not answer: want an outage")
	}
	counted := 0
	for _, f := range taken[:60] {
		counted += f.State.Failures
	}
	if counted != 0 {
		t.Errorf("%d failures are counted, want none: those before it was noticed are forgiven", counted)
	}
	now := noon.Add(2 * time.Minute)
	if probes := takeAll(p, now); len(probes) == 0 || len(probes) > probeFeeds {
		t.Errorf("got %d feeds in an outage, want %d probes", len(probes), probeFeeds)
	}
	if more := takeAll(p, now.Add(probeEvery-1)); more != nil {
		t.Errorf("got %v, want nothing until the next probe", ids(more))
	}
	// One answer ends it.
	answered := taken[70]
	p.Observe(notModified(answered, now), now)
	if !p.Outage().IsZero() {
		t.Error("a host answered: want the outage over")
	}
	p.Observe(failure(taken[71], "connect", now), now)
	if taken[71].State.Failures != 1 {
		t.Error("a host does not answer while others do: want that counted")
	}
	checked(t, p)
}

func TestDeadHostsAmongOthersAreNoOutage(t *testing.T) {
	for _, test := range []struct {
		name string
		dead func(i int) bool
		host func(i int) int
	}{
		{"every second one", func(i int) bool { return i%2 == 0 }, func(i int) int { return i }},
		{"all of five hosts", func(int) bool { return true }, func(i int) int { return i % 5 }},
	} {
		var o outage
		for i := range 1000 {
			class := ""
			if test.dead(i) {
				class = "timeout"
			}
			o.note(fmt.Sprint("host", test.host(i)), class, nil, noon.Add(time.Duration(i)*10*time.Millisecond))
		}
		if o.on() {
			t.Errorf("%s: got an outage, want none", test.name)
		}
		if len(o.answers) > outageMost {
			t.Errorf("%s: remembers %d answers, want at most %d", test.name, len(o.answers), outageMost)
		}
	}
}

func TestValidatorsAreTestedOnceADayAndLeftUnusedAfterALie(t *testing.T) {
	p := planOf(1, 1)
	f, h := p.feeds[feedID(0)], p.hosts["host0.example"]
	f.State.ETag, f.State.Status, h.Checked = `"x"`, 304, noon.Add(-testEvery)
	due(t, p, f, noon)
	if task := p.Task(f.tier, []*Feed{f}, noon); !f.State.Whole || task.Feeds[0].ETag != "" || task.Feeds[0].BodyHash != f.State.BodyHash {
		t.Fatalf("got %+v, want it asked for whole: its host was not tested for a day", task.Feeds[0])
	}
	same := said(f, subjects.Unchanged, noon)
	same.ETag = `"x"`
	p.Observe(same, noon)
	now := noon.Add(time.Hour)
	f.State.Status = 304
	due(t, p, f, now)
	if f.State.Whole {
		t.Error("asked for whole twice a day, want once")
	}
	p.Observe(notModified(f, now), now)

	// The next day it turns out that an entry was there before "not modified".
	last := f.State.Polled
	now = now.Add(25 * time.Hour)
	due(t, p, f, now)
	o := said(f, subjects.Stored, now)
	o.Items, o.Dates = 1, []int64{last.Add(-2 * lie).Unix()}
	p.Observe(o, now)
	if !h.Lied.Equal(now) {
		t.Fatalf("got a lie at %v, want it seen at %v", h.Lied, now)
	}
	for _, c := range []struct {
		after time.Duration
		whole bool
	}{{time.Hour, true}, {6 * 24 * time.Hour, true}, {8 * 24 * time.Hour, false}} {
		at := now.Add(c.after)
		h.Checked = at
		due(t, p, f, at)
		if f.State.Whole != c.whole {
			t.Errorf("%v after the lie: asked for whole is %t, want %t", c.after, f.State.Whole, c.whole)
		}
		p.Observe(said(f, subjects.Unchanged, at), at)
	}
}

func TestNewsSinceTheLastPollAreNoLie(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	f.State.ETag, f.State.Status, f.State.Polled = `"x"`, 304, noon.Add(-time.Hour)
	due(t, p, f, noon)
	o := said(f, subjects.Stored, noon)
	o.Items, o.Dates = 1, []int64{noon.Add(-time.Minute).Unix()}
	p.Observe(o, noon)
	if !f.host.Lied.IsZero() {
		t.Error("an entry that is newer than the last poll is taken for a lie")
	}
}

func TestAFeedMovesAfterTwoConfirmations(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	const there = "https://new.example/feed"
	now := noon
	for i, moved := range []string{there, "", there, there} {
		due(t, p, f, now)
		o := notModified(f, now)
		o.Moved = moved
		p.Observe(o, now)
		moves := p.Moves()
		if want := i == 3; (len(moves) == 1) != want {
			t.Fatalf("poll %d: got moves %v, want any: %t", i, moves, want)
		}
		if len(moves) == 1 && moves[0] != (Move{f.FeedID, there}) {
			t.Errorf("got %+v, want it there", moves[0])
		}
		now = now.Add(time.Hour)
	}
	// An error page at the end of a redirect is no feed's new home.
	due(t, p, f, now)
	o := failure(f, "not a feed", now)
	o.Moved = "https://new.example/"
	p.Observe(o, now)
	if f.State.Moves == "https://new.example/" {
		t.Error("a failed poll counts as a move")
	}
}

func TestTwoAddressesOfOneDocumentBecomeOneFeed(t *testing.T) {
	p := newPlan()
	const url, second = "https://a.example/feed", "https://b.example/rss"
	one := p.Add(storage.Feed{ID: storage.FeedID(url), URL: url}, noon)
	two := p.Add(storage.Feed{ID: storage.FeedID(second), URL: second}, noon)
	read := func(f *Feed, self, hash string, at time.Time) []Move {
		due(t, p, f, at)
		o := said(f, subjects.Nothing, at)
		o.BodyHash, o.Hints = hash, &subjects.Hints{Self: self}
		p.Observe(o, at)
		return p.Moves()
	}
	now := noon.Add(time.Minute)
	step := func() time.Time { now = now.Add(time.Hour); return now }
	if got := read(one, url, "same", step()); got != nil {
		t.Errorf("got %v, want no move to itself", got)
	}
	if got := read(two, url, "other", step()); got != nil || two.State.MoveSeen != 0 {
		t.Errorf("got %v, want none: another document, whatever it says of itself", got)
	}
	if got := read(two, url, "same", step()); got != nil {
		t.Errorf("got %v after the first time, want a second", got)
	}
	if got := read(two, url, "same", step()); !slices.Equal(got, []Move{{two.FeedID, url}}) {
		t.Errorf("got %v, want the second address to become the first", got)
	}
}

func TestWaysFollowFeedHostAndRule(t *testing.T) {
	all := []storage.Proxy{
		{ID: "any", URL: "http://any:1"},
		{ID: "org", URL: "http://org:1", Hosts: []string{"example.org"}},
		{ID: "tor", URL: "socks5://tor:1", Hosts: []string{"blocked.example"}, Always: true},
	}
	for _, test := range []struct {
		name, url string
		request   *storage.Request
		way       string // that worked last
		want      []string
	}{
		{name: "rules", url: "http://www.example.org/", want: []string{"", "any", "org"}},
		{name: "other host", url: "http://notexample.org/", want: []string{"", "any"}},
		{name: "always", url: "http://blocked.example/", want: []string{"tor", "", "any"}},
		{name: "remembered", url: "http://example.org/", way: "org", want: []string{"org", "", "any"}},
		{name: "direct", url: "http://blocked.example/", request: &storage.Request{Proxy: "direct"}, want: nil},
		{name: "named", url: "http://example.org/", request: &storage.Request{Proxy: "tor"}, want: []string{"tor"}},
		{name: "named one is gone", url: "http://example.org/", request: &storage.Request{Proxy: "gone"}, want: nil},
	} {
		p := newPlan()
		p.SetProxies(all)
		f := p.Add(storage.Feed{ID: "f", URL: test.url, Request: test.request}, noon)
		f.host.remember(test.way, noon)
		var got []string
		for _, way := range p.proxies.ways(f, noon) {
			got = append(got, way.ID)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := newPlan().proxies.ways(&Feed{FeedState: subjects.FeedState{State: &subjects.State{}}, host: &host{}}, noon); got != nil {
		t.Errorf("got %v without proxies, want the direct way only", got)
	}
}

func TestAProxyThatWorksIsRememberedForItsHostADay(t *testing.T) {
	p := planOf(1, 1)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://b:1"}})
	f := p.feeds[feedID(0)]
	first := func(at time.Time) string { return p.proxies.ways(f, at)[0].ID }
	poll := func(way string, at time.Time) {
		due(t, p, f, at)
		o := notModified(f, at)
		o.Way = way
		p.Observe(o, at)
	}
	poll("b", noon)
	if got := first(noon.Add(wayFor - 1)); got != "b" {
		t.Errorf("got %q first, want the one that worked", got)
	}
	if got := first(noon.Add(wayFor)); got != "" {
		t.Errorf("got %q first a day later, want the direct way tried", got)
	}
	poll("b", noon.Add(wayFor)) // it is still closed
	if got := first(noon.Add(wayFor + time.Hour)); got != "b" {
		t.Errorf("got %q first, want the one that worked again", got)
	}
	poll("", noon.Add(2*wayFor))
	if got := first(noon.Add(2*wayFor + time.Hour)); got != "" {
		t.Errorf("got %q first, want the direct way: it is open", got)
	}
}

func TestSettingsOfAFeedAreTakenOver(t *testing.T) {
	p := planOf(1, 1)
	f := takeAll(p, noon)[0]
	p.Observe(notModified(f, noon), noon)
	request := &storage.Request{UserAgent: "mine"}
	now := noon.Add(time.Minute)
	if p.Set(storage.Feed{ID: f.FeedID, URL: f.State.URL, Pinned: true, FullText: true, Request: request}, now) != f || p.Set(storage.Feed{ID: "unknown"}, now) != nil {
		t.Error("want the feed, and nothing for an unknown one")
	}
	checked(t, p)
	taken := takeAll(p, now.Add(spacing))
	if len(taken) != 1 || !f.State.Pinned {
		t.Fatalf("got %v, want it polled at once", ids(taken))
	}
	if target := p.Task(f.tier, taken, now).Feeds[0]; target.Request != request || !target.FullText {
		t.Errorf("got %+v, want it with its settings", target)
	}
}

func TestWhatWasLearnedIsToldOnce(t *testing.T) {
	p := planOf(2, 2)
	taken := takeAll(p, noon)
	p.Observe(notModified(taken[0], noon), noon)
	o := failure(taken[1], "http 5xx", noon)
	o.Status = 503
	p.Observe(o, noon)
	polls, hosts := p.Learned(true)
	if len(polls) != 2 || len(hosts) != 2 {
		t.Fatalf("got %d polls and %d hosts, want 2 and 2", len(polls), len(hosts))
	}
	i := slices.IndexFunc(polls, func(q Poll) bool { return q.FeedID == taken[1].FeedID })
	if q := polls[i]; q.Status != 503 || q.Class != "http 5xx" || q.Took != time.Second || !q.At.Equal(noon) {
		t.Errorf("got %+v, want the poll as it was", q)
	}
	if h := taken[1].host; h.Polls != 1 || h.Failures != 1 || h.Took != 1 || h.Status != 503 {
		t.Errorf("got %+v, want the host's figures", h.Host)
	}
	if polls, hosts := p.Learned(true); polls != nil || hosts != nil {
		t.Errorf("got %v and %v again, want nothing", polls, hosts)
	}
}

func TestOfAHostMoreThanHowItsLastRequestWentIsToldSoon(t *testing.T) {
	p := planOf(2, 2)
	taken := takeAll(p, noon)
	p.Observe(notModified(taken[0], noon), noon)
	o := failure(taken[1], "http 4xx", noon)
	o.Status = 429
	p.Observe(o, noon)
	told := func(all bool) (names []string) {
		_, hosts := p.Learned(all)
		for _, h := range hosts {
			names = append(names, h.Name)
		}
		return names
	}
	if got := told(false); !slices.Equal(got, []string{taken[1].host.Name}) {
		t.Errorf("got %v, want the one that is to be asked less often", got)
	}
	if got := told(true); !slices.Equal(got, []string{taken[0].host.Name}) {
		t.Errorf("got %v, want the other one", got)
	}
}

func TestAHostOfWhichLittleWasWrittenIsGivenItsRest(t *testing.T) {
	for _, written := range []bool{true, false} {
		p := planOf(3, 1)
		f := takeAll(p, noon)[0]
		before := f.host.Host // as it was written last
		asked := noon.Add(time.Second)
		p.Observe(notModified(f, asked), asked)
		heir := New(p.options)
		for _, f := range p.feeds {
			heir.Load(f.FeedState)
		}
		if written {
			heir.LoadHost(before)
		}
		checked(t, heir)
		if got := takeAll(heir, asked.Add(spacing-1)); got != nil {
			t.Errorf("written %t: got %v handed out, want its host left alone", written, ids(got))
		}
		if got := takeAll(heir, asked.Add(spacing)); len(got) != 1 {
			t.Errorf("written %t: got %v handed out, want one", written, ids(got))
		}
	}
}

func TestPollsThatBringNothingAgainAreOneEntry(t *testing.T) {
	p := planOf(1, 1)
	now := noon
	var got []string
	for i := range 27 {
		f := takeAll(p, now)[0]
		o := notModified(f, now)
		switch i {
		case 0, 25:
			o = said(f, subjects.Nothing, now)
		case 14:
			o = failure(f, "timeout", now)
		}
		p.Observe(o, now)
		polls, _ := p.Learned(false)
		for _, q := range polls {
			got = append(got, fmt.Sprintf("%d: %d %d", i, q.Status, q.Before))
		}
		now = f.State.Next.Add(time.Hour)
	}
	// The first of a kind is told at once.
	want := []string{"0: 200 0", "1: 304 0", "11: 304 9", "14: 0 2", "15: 304 0", "25: 200 9", "26: 304 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestHostOf(t *testing.T) {
	for url, want := range map[string]string{
		"http://Example.ORG/feed":       "example.org",
		"https://example.org:8443/feed": "example.org",
		"http://[::1]:80/feed":          "::1",
		"no address at all":             "no address at all",
		"http://%zz/":                   "http://%zz/",
		"":                              "",
	} {
		if got := HostOf(url); got != want {
			t.Errorf("%q: got host %q, want %q", url, got, want)
		}
	}
}
