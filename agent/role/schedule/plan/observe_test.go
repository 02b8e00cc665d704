package plan

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"feedmesh/storage"
	"feedmesh/subjects"
)

// due makes a feed due, pops it, and returns it in flight.
func due(t *testing.T, p *Plan, f *Feed, now time.Time) *Feed {
	t.Helper()
	if f.State.Crawl != "" {
		p.Observe(notModified(f, now.Add(-spacing)), now.Add(-spacing))
	}
	p.change(f, func() { f.State.Next = now.Add(-gatherTime) })
	if popped := popAll(p, now); !slices.Contains(popped, f) {
		t.Fatalf("got %v at %v, want %s", ids(popped), now, f.FeedID)
	}
	return f
}

// Observations that pass in memory have texts that are parts of documents. The plan keeps none of them.
func TestObserve_KeepsNoDocument(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	document := bytes.Repeat([]byte("https://example.com/feed "), 1<<16)
	kept := weak.Make(&document[0])
	text := unsafe.String(&document[0], len(document))
	part := text[:len("https://example.com/feed")]
	parsed := struct {
		zone    int
		entries string
	}{180, text}
	o := observation(f, subjects.Stored, noon)
	o.ETag, o.LastModified, o.Moved, o.Malformed, o.Class, o.Error, o.ProxyID = part, part, part, part, part, part, part
	o.Hints = &subjects.Hints{Hub: part, Self: part, Zone: &parsed.zone}
	p.Observe(o, noon)
	if s := f.State; s.ETag != part || s.Malformed != part || *s.Hints != (subjects.Hints{Hub: part, Self: part, Zone: s.Hints.Zone}) || *s.Hints.Zone != 180 {
		t.Errorf("got state %+v with hints %+v", s, s.Hints)
	}
	document, text, part, parsed.entries, o = nil, "", "", "", subjects.Observation{}
	runtime.GC()
	if kept.Value() != nil {
		t.Error("the plan keeps a document in memory")
	}
	runtime.KeepAlive(p)
}

func TestOutage_FailuresDoNotCount(t *testing.T) {
	p := planOf(100, 100)
	popped := popAll(p, noon)
	for i, f := range popped[:60] {
		p.Observe(failure(f, "connect", noon), noon.Add(time.Duration(i)*time.Millisecond))
	}
	checkConsistent(t, p)
	if p.Outage().IsZero() {
		t.Fatal("got no outage after 60 of 60 hosts failed")
	}
	counted := 0
	for _, f := range popped[:60] {
		counted += f.State.Failures
	}
	if counted != 0 {
		t.Errorf("got %d counted failures, want none: an outage undoes earlier failures", counted)
	}
	now := noon.Add(2 * time.Minute)
	if probes := popAll(p, now); len(probes) == 0 || len(probes) > probeFeeds {
		t.Errorf("got %d feeds in an outage, want %d probes", len(probes), probeFeeds)
	}
	if more := popAll(p, now.Add(probeEvery-1)); more != nil {
		t.Errorf("got %v, want nothing until the next probe", ids(more))
	}
	// One response ends it.
	answered := popped[70]
	p.Observe(notModified(answered, now), now)
	if !p.Outage().IsZero() {
		t.Error("got an outage after a response, want it ended")
	}
	p.Observe(failure(popped[71], "connect", now), now)
	if popped[71].State.Failures != 1 {
		t.Error("got no counted failure of a single host, want 1")
	}
	checkConsistent(t, p)
}

func TestOutage_NotCausedByDeadHosts(t *testing.T) {
	for _, test := range []struct {
		name string
		dead func(i int) bool
		host func(i int) int
	}{
		{"every second host", func(i int) bool { return i%2 == 0 }, func(i int) int { return i }},
		{"all requests to five hosts", func(int) bool { return true }, func(i int) int { return i % 5 }},
	} {
		var o outage
		for i := range 1000 {
			class := ""
			if test.dead(i) {
				class = "timeout"
			}
			o.record(fmt.Sprint("host", test.host(i)), class, nil, 1000, noon.Add(time.Duration(i)*10*time.Millisecond))
		}
		if o.active() {
			t.Errorf("%s: got an outage, want none", test.name)
		}
		if len(o.results) > maxResults {
			t.Errorf("%s: got %d buffered results, want at most %d", test.name, len(o.results), maxResults)
		}
	}
}

// A new node with few feeds has no network.
func TestOutage_FewHosts(t *testing.T) {
	for hosts, want := range map[int]bool{2: false, 3: true, 9: true} {
		p := planOf(hosts, hosts)
		for _, f := range popAll(p, noon) {
			p.Observe(failure(f, "dns", noon), noon)
		}
		if got := !p.Outage().IsZero(); got != want {
			t.Errorf("all of %d hosts fail: got an outage: %v, want %v", hosts, got, want)
		}
		// The last failure was reported when the outage was known.
		if c := p.Counts(); want && (c.Polled != 0 || c.Failing != 0) {
			t.Errorf("all of %d hosts fail: got %+v, want no feed that counts as polled or failing", hosts, c)
		}
		checkConsistent(t, p)
	}
}

// Without a network, a resolver reports that it does not answer, or that no name exists.
func TestOutage_ClassesOfFailures(t *testing.T) {
	for class, want := range map[string]bool{"timeout": true, "connect": true, "dns": true, "resolver": true, "reset": true, "http 5xx": false, "tls": false} {
		p := planOf(40, 40)
		for _, f := range popAll(p, noon) {
			p.Observe(failure(f, class, noon), noon)
		}
		if got := !p.Outage().IsZero(); got != want {
			t.Errorf("all hosts fail with %q: got an outage: %v, want %v", class, got, want)
		}
	}
}

func TestHost_ValidatorsAreTestedDaily(t *testing.T) {
	p := planOf(1, 1)
	f, h := p.feeds[feedID(0)], p.hosts["host0.example"]
	f.State.ETag, f.State.Status, h.ValidatorsChecked = `"x"`, 304, noon.Add(-checkValidatorsEvery)
	due(t, p, f, noon)
	if task := p.Tasks(f.tier, []*Feed{f}, noon)[0]; !f.State.Unconditional || task.Feeds[0].ETag != "" || task.Feeds[0].BodyHash != f.State.BodyHash {
		t.Fatalf("got %+v, want an unconditional request: the host was not tested for a day", task.Feeds[0])
	}
	same := observation(f, subjects.Unchanged, noon)
	same.ETag = `"x"`
	p.Observe(same, noon)
	now := noon.Add(time.Hour)
	f.State.Status = 304
	due(t, p, f, now)
	if f.State.Unconditional {
		t.Error("got two unconditional requests in a day, want one")
	}
	p.Observe(notModified(f, now), now)

	// The next day an entry appears that is older than the 304.
	last := f.State.Polled
	now = now.Add(25 * time.Hour)
	due(t, p, f, now)
	o := observation(f, subjects.Stored, now)
	o.Items, o.Dates = 1, []int64{last.Add(-2 * validatorTolerance).Unix()}
	p.Observe(o, now)
	if !h.ValidatorsWrong.Equal(now) {
		t.Fatalf("got a wrong 304 at %v, want it detected at %v", h.ValidatorsWrong, now)
	}
	for _, c := range []struct {
		after         time.Duration
		unconditional bool
	}{{time.Hour, true}, {6 * 24 * time.Hour, true}, {8 * 24 * time.Hour, false}} {
		at := now.Add(c.after)
		h.ValidatorsChecked = at
		due(t, p, f, at)
		if f.State.Unconditional != c.unconditional {
			t.Errorf("%v after the wrong 304: got unconditional %t, want %t", c.after, f.State.Unconditional, c.unconditional)
		}
		p.Observe(observation(f, subjects.Unchanged, at), at)
	}
}

func TestHost_NewEntriesAreNotAWrong304(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	f.State.ETag, f.State.Status, f.State.Polled = `"x"`, 304, noon.Add(-time.Hour)
	due(t, p, f, noon)
	o := observation(f, subjects.Stored, noon)
	o.Items, o.Dates = 1, []int64{noon.Add(-time.Minute).Unix()}
	p.Observe(o, noon)
	if !f.host.ValidatorsWrong.IsZero() {
		t.Error("got a wrong 304 detected for an entry newer than the last poll")
	}
}

func TestMoves_AfterTwoConfirmations(t *testing.T) {
	p := planOf(1, 1)
	f := p.feeds[feedID(0)]
	const there = "https://new.example/feed"
	now := noon
	for i, moved := range []string{there, "", there, there} {
		due(t, p, f, now)
		o := notModified(f, now)
		o.Moved = moved
		p.Observe(o, now)
		moves := p.TakeMoves()
		if want := i == 3; (len(moves) == 1) != want {
			t.Fatalf("poll %d: got moves %v, want any: %t", i, moves, want)
		}
		if len(moves) == 1 && moves[0] != (Move{f.FeedID, there}) {
			t.Errorf("got %+v, want the new address", moves[0])
		}
		now = now.Add(time.Hour)
	}
	// An error page at the end of a redirect is not a new address.
	due(t, p, f, now)
	o := failure(f, "not a feed", now)
	o.Moved = "https://new.example/"
	p.Observe(o, now)
	if f.State.MovedTo == "https://new.example/" {
		t.Error("a failed poll counts as a move")
	}
}

func TestMoves_DuplicateAddressesMerge(t *testing.T) {
	p := newPlan()
	const url, second = "https://a.example/feed", "https://b.example/rss"
	one := p.Add(storage.Feed{ID: storage.FeedID(url), URL: url}, noon)
	two := p.Add(storage.Feed{ID: storage.FeedID(second), URL: second}, noon)
	read := func(f *Feed, self, hash string, at time.Time) []Move {
		due(t, p, f, at)
		o := observation(f, subjects.Nothing, at)
		o.BodyHash, o.Hints = hash, &subjects.Hints{Self: self}
		p.Observe(o, at)
		return p.TakeMoves()
	}
	now := noon.Add(time.Minute)
	step := func() time.Time { now = now.Add(time.Hour); return now }
	if got := read(one, url, "same", step()); got != nil {
		t.Errorf("got %v, want no move to itself", got)
	}
	if got := read(two, url, "other", step()); got != nil || two.State.MoveCount != 0 {
		t.Errorf("got %v, want none: the documents differ", got)
	}
	if got := read(two, url, "same", step()); got != nil {
		t.Errorf("got %v after the first poll, want two confirmations", got)
	}
	if got := read(two, url, "same", step()); !slices.Equal(got, []Move{{two.FeedID, url}}) {
		t.Errorf("got %v, want a move to the first address", got)
	}
}

func TestRoutes_FollowFeedHostAndRule(t *testing.T) {
	all := []storage.Proxy{
		{ID: "any", URL: "http://any:1"},
		{ID: "org", URL: "http://org:1", Hosts: []string{"example.org"}},
		{ID: "tor", URL: "socks5://tor:1", Hosts: []string{"blocked.example"}, Always: true},
	}
	for _, test := range []struct {
		name, url string
		request   *storage.Request
		proxyID   string // last successful route
		want      []string
	}{
		{name: "rules", url: "http://www.example.org/", want: []string{"", "any", "org"}},
		{name: "other host", url: "http://notexample.org/", want: []string{"", "any"}},
		{name: "always", url: "http://blocked.example/", want: []string{"tor", "", "any"}},
		{name: "cached", url: "http://example.org/", proxyID: "org", want: []string{"org", "", "any"}},
		{name: "direct", url: "http://blocked.example/", request: &storage.Request{Proxy: "direct"}, want: nil},
		{name: "named", url: "http://example.org/", request: &storage.Request{Proxy: "tor"}, want: []string{"tor"}},
		{name: "named proxy removed", url: "http://example.org/", request: &storage.Request{Proxy: "gone"}, want: nil},
	} {
		p := newPlan()
		p.SetProxies(all)
		f := p.Add(storage.Feed{ID: "f", URL: test.url, Request: test.request}, noon)
		f.host.setRoute(test.proxyID, noon)
		var got []string
		for _, route := range p.proxies.routes(f, noon) {
			got = append(got, route.ID)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := newPlan().proxies.routes(&Feed{FeedState: subjects.FeedState{State: &subjects.State{}}, host: &host{}}, noon); got != nil {
		t.Errorf("got %v without proxies, want the direct route only", got)
	}
}

func TestRoutes_WorkingProxyIsCachedForADay(t *testing.T) {
	p := planOf(1, 1)
	p.SetProxies([]storage.Proxy{{ID: "a", URL: "http://a:1"}, {ID: "b", URL: "http://b:1"}})
	f := p.feeds[feedID(0)]
	first := func(at time.Time) string { return p.proxies.routes(f, at)[0].ID }
	poll := func(proxyID string, at time.Time) {
		due(t, p, f, at)
		o := notModified(f, at)
		o.ProxyID = proxyID
		p.Observe(o, at)
	}
	poll("b", noon)
	if got := first(noon.Add(routeMaxAge - 1)); got != "b" {
		t.Errorf("got %q first, want the proxy that worked", got)
	}
	if got := first(noon.Add(routeMaxAge)); got != "" {
		t.Errorf("got %q first a day later, want the direct route", got)
	}
	poll("b", noon.Add(routeMaxAge)) // the direct route still fails
	if got := first(noon.Add(routeMaxAge + time.Hour)); got != "b" {
		t.Errorf("got %q first, want the one that worked again", got)
	}
	poll("", noon.Add(2*routeMaxAge))
	if got := first(noon.Add(2*routeMaxAge + time.Hour)); got != "" {
		t.Errorf("got %q first, want the direct route, which worked", got)
	}
}

// A feed whose settings change more often than due feeds are gathered for a task is polled all the same.
func TestUpdateSettings_AgainAndAgain(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	p.Observe(notModified(f, noon), noon)
	for now := noon.Add(time.Minute); now.Before(noon.Add(time.Minute + 5*gatherTime)); now = now.Add(gatherTime / 5) {
		p.UpdateSettings(storage.Feed{ID: f.FeedID, URL: f.State.URL}, now)
		if p.Due(f.tier, now) {
			return
		}
	}
	t.Error("the feed is never due")
}

func TestUpdateSettings(t *testing.T) {
	p := planOf(1, 1)
	f := popAll(p, noon)[0]
	p.Observe(notModified(f, noon), noon)
	request := &storage.Request{UserAgent: "mine"}
	now := noon.Add(time.Minute)
	if p.UpdateSettings(storage.Feed{ID: f.FeedID, URL: f.State.URL, Pinned: true, FullText: true, Request: request}, now) != f || p.UpdateSettings(storage.Feed{ID: "unknown"}, now) != nil {
		t.Error("want the feed, and nil for a missing feed")
	}
	checkConsistent(t, p)
	popped := popAll(p, now.Add(spacing))
	if len(popped) != 1 || !f.State.Pinned {
		t.Fatalf("got %v, want the feed due immediately", ids(popped))
	}
	if target := p.Tasks(f.tier, popped, now)[0].Feeds[0]; target.Request != request || !target.FullText {
		t.Errorf("got %+v, want the new settings", target)
	}
}

func TestTakeHistory_ReturnsChangesOnce(t *testing.T) {
	p := planOf(2, 2)
	popped := popAll(p, noon)
	p.Observe(notModified(popped[0], noon), noon)
	o := failure(popped[1], "http 5xx", noon)
	o.Status = 503
	p.Observe(o, noon)
	polls, hosts := p.TakeHistory(true)
	if len(polls) != 2 || len(hosts) != 2 {
		t.Fatalf("got %d polls and %d hosts, want 2 and 2", len(polls), len(hosts))
	}
	i := slices.IndexFunc(polls, func(q Poll) bool { return q.FeedID == popped[1].FeedID })
	if q := polls[i]; q.Status != 503 || q.Class != "http 5xx" || q.Duration != time.Second || !q.At.Equal(noon) {
		t.Errorf("got %+v, want the recorded poll", q)
	}
	if h := popped[1].host; h.Polls != 1 || h.Failures != 1 || h.Latency != 1 || h.Status != 503 {
		t.Errorf("got %+v, want the updated host", h.Host)
	}
	if polls, hosts := p.TakeHistory(true); polls != nil || hosts != nil {
		t.Errorf("got %v and %v again, want nothing", polls, hosts)
	}
}

func TestTakeHistory_HostChangesAreReturnedEarly(t *testing.T) {
	p := planOf(2, 2)
	popped := popAll(p, noon)
	p.Observe(notModified(popped[0], noon), noon)
	o := failure(popped[1], "http 4xx", noon)
	o.Status = 429
	p.Observe(o, noon)
	changedHosts := func(all bool) (names []string) {
		_, hosts := p.TakeHistory(all)
		for _, h := range hosts {
			names = append(names, h.Name)
		}
		return names
	}
	if got := changedHosts(false); !slices.Equal(got, []string{popped[1].host.Name}) {
		t.Errorf("got %v, want the host with the larger spacing", got)
	}
	if got := changedHosts(true); !slices.Equal(got, []string{popped[0].host.Name}) {
		t.Errorf("got %v, want the other host", got)
	}
}

func TestLoadHost_KeepsSpacing(t *testing.T) {
	for _, written := range []bool{true, false} {
		p := planOf(3, 1)
		f := popAll(p, noon)[0]
		before := f.host.Host // as written last
		requested := noon.Add(time.Second)
		p.Observe(notModified(f, requested), requested)
		successor := New(p.options)
		for _, f := range p.feeds {
			successor.Load(f.FeedState)
		}
		if written {
			successor.LoadHost(before)
		}
		checkConsistent(t, successor)
		if got := popAll(successor, requested.Add(spacing-1)); got != nil {
			t.Errorf("written %t: got %v dispatched, want none before the spacing", written, ids(got))
		}
		if got := popAll(successor, requested.Add(spacing)); len(got) != 1 {
			t.Errorf("written %t: got %v dispatched, want one feed", written, ids(got))
		}
	}
}

func TestTakeHistory_SimilarPollsShareAnEntry(t *testing.T) {
	p := planOf(1, 1)
	now := noon
	var got []string
	for i := range 27 {
		f := popAll(p, now)[0]
		o := notModified(f, now)
		switch i {
		case 0, 25:
			o = observation(f, subjects.Nothing, now)
		case 14:
			o = failure(f, "timeout", now)
		}
		p.Observe(o, now)
		polls, _ := p.TakeHistory(false)
		for _, q := range polls {
			got = append(got, fmt.Sprintf("%d: %d %d", i, q.Status, q.UnchangedBefore))
		}
		now = f.State.Next.Add(time.Hour)
	}
	// The first of a kind is added immediately.
	want := []string{"0: 200 0", "1: 304 0", "11: 304 9", "14: 0 2", "15: 304 0", "25: 200 9", "26: 304 0"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTakeHistory_PollsKeepTheirReason(t *testing.T) {
	p := planOf(1, 1)
	for i, c := range []struct {
		want   string
		before func(f *Feed, now time.Time) // after the previous poll
	}{
		{"new: due at once", func(*Feed, time.Time) {}},
		{"due by the model", func(f *Feed, now time.Time) { p.change(f, func() { f.State.Reason = "due by the model" }) }},
		{"refresh requested", func(f *Feed, now time.Time) {
			p.Observe(subjects.Observation{Receipt: subjects.Receipt{FeedID: f.FeedID}, Outcome: subjects.Refresh}, now)
		}},
		{"settings changed", func(f *Feed, now time.Time) { p.UpdateSettings(storage.Feed{ID: f.FeedID}, now) }},
		{"failing: ", func(f *Feed, now time.Time) {
			popAll(p, now.Add(gatherTime))
			p.Observe(failure(f, "timeout", now), now)
			p.TakeHistory(false)
		}},
		{"document lost in the pipeline", func(f *Feed, now time.Time) {
			popAll(p, now.Add(48*time.Hour))
			p.Recall(now, func(*Feed) bool { return true })
		}},
	} {
		now := noon.Add(time.Duration(i) * 96 * time.Hour)
		f := p.feeds[feedID(0)]
		c.before(f, now)
		now = now.Add(48 * time.Hour)
		popAll(p, now)
		p = reload(t, p, rand.New(rand.NewPCG(1, 1))) // the state contains the reason of the poll in flight
		f = p.feeds[f.FeedID]
		p.Observe(observation(f, subjects.Nothing, now), now)
		polls, _ := p.TakeHistory(false)
		if len(polls) != 1 || !strings.HasPrefix(polls[0].Reason, c.want) {
			t.Errorf("%s: got %+v", c.want, polls)
		}
		if f.State.CrawlReason != "" {
			t.Errorf("%s: the reason %q remains after the poll", c.want, f.State.CrawlReason)
		}
	}
}
