package front

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/cluster/placement"
	"feedmesh/agent/service"
	"feedmesh/agent/service/servicetest"
	"feedmesh/storage"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// A site has the pages of a service whose clock shows now.
type site struct {
	*servicetest.Testbed
	now     atomic.Pointer[time.Time] // background work of the service reads it
	handler http.Handler
}

func newSite(t testing.TB, change ...func(*service.Deps)) *site {
	s := &site{}
	s.set(noon)
	s.Testbed = servicetest.New(t, func() time.Time { return *s.now.Load() }, change...)
	s.handler = Handler(s.Service)
	s.AddFeeds(t, storage.Feed{ID: "f", URL: "https://f.example/feed", Title: "The feed"})
	return s
}

// set sets the clock.
func (s *site) set(now time.Time) { s.now.Store(&now) }

// A report is a story to store: a title, its categories and the publishers that have it, each an hour after the other.
type report struct {
	title, categories, publishers string
	at                            time.Time
	rank                          float64
}

// report stores stories and returns their IDs.
func (s *site) report(t testing.TB, reports ...report) (ids []string) {
	t.Helper()
	for _, r := range reports {
		id := "s-" + strings.ReplaceAll(r.title, " ", "-")
		var items []storage.Item
		for n, host := range strings.Fields(r.publishers) {
			key := fmt.Sprint(id, n)
			items = append(items, storage.Item{
				Key: key, Title: r.title, URL: "https://" + host + "/" + url.PathEscape(r.title), Excerpt: "Excerpt of " + host, Partition: "en", Language: "en", EventID: "e-" + id, StoryID: id,
				Categories: strings.Fields(r.categories), Published: r.at.Add(time.Duration(n) * time.Hour), FirstSeen: r.at.Add(time.Duration(n) * time.Hour), Images: []string{"https://" + host + "/p.png"},
			})
		}
		s.PutItems(t, "f", items...)
		s.summarize(t, id, r.rank)
		ids = append(ids, id)
	}
	return ids
}

func (s *site) summarize(t testing.TB, id string, rank float64) {
	t.Helper()
	of, err := storage.ItemsOfStory(t.Context(), s.Store, id, placement.MaxItems)
	if err != nil {
		t.Fatal(err)
	}
	story, ok := placement.Summarize(id, of, func(string) float64 { return 1 }, false, *s.now.Load())
	if !ok {
		t.Fatalf("story %s has too few items", id)
	}
	story.Rank = rank
	if err := s.Store.PutStories(t.Context(), storage.Fence{}, nil, []storage.Story{story}, nil); err != nil {
		t.Fatal(err)
	}
}

// serve returns the response to a request of a client on this machine.
func (s *site) serve(method, target string, form url.Values) *http.Response {
	r := httptest.NewRequest(method, target, strings.NewReader(form.Encode()))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r.WithContext(access.With(r.Context(), access.Local())))
	return w.Result()
}

// page returns the HTML of a page.
func (s *site) page(t testing.TB, target string) string {
	t.Helper()
	a := s.serve("GET", target, nil)
	content, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v: %s", target, a.StatusCode, err, content)
	}
	return string(content)
}

// change sends a form.
func (s *site) change(t testing.TB, what string) {
	t.Helper()
	if a := s.serve("POST", "/news/follows", url.Values{"change": {what}, "back": {"/news"}}); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/news" {
		t.Fatalf("%s: status %d to %q", what, a.StatusCode, a.Header.Get("Location"))
	}
}

var tags = regexp.MustCompile(`(?s)<script.*?</script>|<[^>]*>`)

// text returns the text of a page.
func text(page string) string {
	return strings.Join(strings.Fields(tags.ReplaceAllString(page, " ")), " ")
}

// wants checks which texts a page has.
func wants(t testing.TB, page string, has []string, lacks ...string) {
	t.Helper()
	words := text(page)
	for _, w := range has {
		if !strings.Contains(words, w) {
			t.Errorf("the page lacks %q: %s", w, words)
		}
	}
	for _, w := range lacks {
		if strings.Contains(words, w) {
			t.Errorf("the page has %q", w)
		}
	}
}

func someReports() []report {
	var all []report
	for n := range 12 {
		all = append(all, report{fmt.Sprintf("Talks round %d end", n), "politics", "a.example b.example c.example", noon.Add(-5 * time.Hour), float64(100 - n)})
	}
	return append(all,
		report{"Go compiler is faster", "software", "www.a.example golang.example lwn.example x.example y.example z.example", noon.Add(-9 * time.Hour), 20},
		report{"Telescope sees planet", "science", "b.example c.example", noon.Add(-4 * time.Hour), 10})
}

func TestNews_HasEachStoryOnceBySection(t *testing.T) {
	s := newSite(t)
	s.report(t, someReports()...)
	page := s.page(t, "/news")
	wants(t, page, []string{"Talks round 0 end", "politics", "software", "science", "Telescope sees planet", "6 items", "a.example , z.example", "+2 more"}, "Last visit", "1 new")
	for n := range 12 {
		if got := strings.Count(page, fmt.Sprintf(`href="/stories/s-Talks-round-%d-end"`, n)); got != 1 {
			t.Errorf("story %d is %d times on the page", n, got)
		}
	}
	if !strings.Contains(page, `<a href="/news" aria-current="page">News</a>`) || !strings.Contains(page, `<img src="/items/`) {
		t.Error("the page lacks the current entry of the menu, or pictures")
	}
	r := httptest.NewRequest("GET", "/news", nil)
	r.AddCookie(&http.Cookie{Name: "pictures", Value: "none"})
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	if strings.Contains(w.Body.String(), "<img") {
		t.Error("the page has pictures that the reader chose not to see")
	}
}

func TestNews_MarksWhatIsNewSinceTheLastVisit(t *testing.T) {
	s := newSite(t)
	id := s.report(t, report{"Go compiler is faster", "software", "a.example b.example", noon.Add(-5 * time.Hour), 1})[0]
	s.page(t, "/news")
	s.set(noon.Add(time.Hour))
	s.PutItems(t, "f", storage.Item{Key: "late", Title: "Go compiler measured", URL: "https://c.example/late", Partition: "en", EventID: "e-late", StoryID: id, Categories: []string{"software"}, Published: noon.Add(30 * time.Minute)})
	s.summarize(t, id, 1)
	for range 2 { // the visit lasts
		wants(t, s.page(t, "/news"), []string{"1 new", "Last visit 1 hour ago"})
		s.set(s.now.Load().Add(time.Second))
	}
	s.set(s.now.Load().Add(40 * time.Minute))
	wants(t, s.page(t, "/news"), nil, "1 new")
}

func TestNews_LeavesOutWhatIsMuted(t *testing.T) {
	s := newSite(t)
	s.report(t, someReports()...)
	for _, what := range []string{"mute story s-Talks-round-0-end", "mute word planets", "mute category software"} {
		s.change(t, what)
	}
	wants(t, s.page(t, "/news"), []string{"Talks round 1 end", "3 stories hidden by your mutes"}, "Talks round 0 end", "Telescope", "Go compiler")
	s.change(t, "remove category software")
	wants(t, s.page(t, "/news"), []string{"Go compiler", "2 stories hidden"})

	// Other publishers of a story remain; a story of muted publishers only does not.
	s.change(t, "mute publisher www.a.example")
	wants(t, s.page(t, "/news"), []string{"Talks round 1 end", "c.example , b.example · 3 items"}, "a.example , c.example")
	s.change(t, "mute feed f")
	wants(t, s.page(t, "/news"), []string{"No stories of the last two days"}, "Talks round 1 end")

	follows := s.page(t, "/news/follows")
	wants(t, follows, []string{"Feed The feed", "Word planets", "Story Talks round 0 end", "Publisher a.example"})
}

func TestNews_HasSectionsOfWhatIsFollowed(t *testing.T) {
	s := newSite(t)
	s.report(t, someReports()...)
	alone := s.PutItems(t, "f", storage.Item{Key: "alone", Title: "A quiet lighthouse", URL: "https://quiet.example/1", Partition: "en", Language: "en", Published: noon.Add(-time.Hour)})
	s.IndexItems(t, alone...)
	for _, what := range []string{"follow story s-Talks-round-3-end", "follow category science", "follow word lighthouses", "follow publisher quiet.example"} {
		s.change(t, what)
	}
	page := s.page(t, "/news")
	wants(t, page, []string{"You follow", "A quiet lighthouse", "science", "lighthouses", "Nothing else of late"}, "software")
	if first := strings.Index(page, "s-Talks-round-3-end"); first < 0 || first > strings.Index(page, "s-Talks-round-0-end") {
		t.Error("the followed story is not the first")
	}
	s.set(noon.AddDate(0, 0, 8))
	wants(t, s.page(t, "/news"), nil, "You follow") // the story has ended
}

func TestNews_OfAnEarlierDay(t *testing.T) {
	s := newSite(t)
	s.report(t, someReports()...)
	s.report(t, report{"Old ship found", "science", "a.example b.example", noon.AddDate(0, 0, -2), 1})
	wants(t, s.page(t, "/news?day=2026-09-27"), []string{"News of Sunday, 27 September", "Old ship found"}, "Talks round")
	for _, day := range []string{"2026-09-30", "2026-09-01", "x"} {
		if a := s.serve("GET", "/news?day="+day, nil); a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/news" {
			t.Errorf("day %s: status %d to %s", day, a.StatusCode, a.Header.Get("Location"))
		}
	}
}

func TestNews_LinksTheOtherLanguage(t *testing.T) {
	s := newSite(t)
	var items []storage.Item
	for n, i := range []storage.Item{{Language: "ru", Title: "Вышла СУБД PostgreSQL 18"}, {Language: "en", Title: "PostgreSQL 18 released"}} {
		for k := range 2 {
			i.Key, i.URL, i.Partition, i.EventID, i.StoryID = fmt.Sprint(n, k), fmt.Sprintf("https://h%d.example/%d", k, n), i.Language, "e-"+i.Language, "s-"+i.Language
			i.Published = noon.Add(-time.Hour)
			items = append(items, i)
		}
	}
	s.IndexItems(t, s.PutItems(t, "f", items...)...)
	s.summarize(t, "s-ru", 2)
	s.summarize(t, "s-en", 1)
	deadline := time.Now().Add(20 * time.Second)
	for {
		words := text(s.page(t, "/news"))
		if strings.Contains(words, "Also in English") && strings.Contains(words, "Also in Russian") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the page has no links after 20 s: %s", words)
		}
		time.Sleep(10 * time.Millisecond) // until the worker has compared the stories
	}
}

func TestFollows_RejectsWhatCannotBeFollowed(t *testing.T) {
	s := newSite(t)
	for _, form := range []url.Values{
		{"change": {"follow author x"}}, {"change": {"praise word x"}}, {"change": {"follow"}, "kind": {"word"}}, {"change": {"mute"}, "kind": {"publisher"}, "value": {"/"}},
		{"change": {"mute"}, "kind": {"word"}, "value": {strings.Repeat("x", 201)}},
	} {
		if a := s.serve("POST", "/news/follows", form); a.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%v: status %d", form, a.StatusCode)
		}
	}
	s.change(t, "remove word none") // as a second click does
	a := s.serve("POST", "/news/follows", url.Values{"change": {"mute"}, "kind": {"publisher"}, "value": {"https://www.B.example/x"}, "back": {"https://evil.example/"}})
	if a.StatusCode != http.StatusSeeOther || a.Header.Get("Location") != "/news" {
		t.Errorf("status %d to %s", a.StatusCode, a.Header.Get("Location"))
	}
	wants(t, s.page(t, "/news/follows"), []string{"Publisher b.example"})
}

func TestNews_StoreDown(t *testing.T) {
	s := newSite(t)
	if err := s.Store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, target := range []string{"/news", "/news?day=2026-09-28", "/news/follows"} {
		if a := s.serve("GET", target, nil); a.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d", target, a.StatusCode)
		}
	}
}

// BenchmarkNews makes the page of a store of 200,000 items in 20,000 stories, and reports its compressed size.
func BenchmarkNews(b *testing.B) {
	s := newSite(b)
	line := "The kernel has a new scheduler for machines with many cores. "
	for n := range 20000 {
		id, batch := fmt.Sprint("s", n), storage.Batch{FeedID: "f"}
		for k := range 10 {
			key := fmt.Sprint(n, "-", k)
			at := noon.Add(-time.Duration(n) * 4 * time.Minute).Add(-time.Duration(k) * time.Minute)
			batch.Items = append(batch.Items, storage.Item{
				ID: storage.ItemID("f", key), FeedID: "f", Key: key, Hash: key, Title: fmt.Sprintf("Kernel %d has a scheduler for many cores", n), HTML: "<p>" + strings.Repeat(line, 40), Excerpt: strings.Repeat(line, 4),
				Language: "en", Partition: "en", URL: fmt.Sprintf("https://h%d.example/%d", k, n), Published: at, FirstSeen: at, Images: []string{fmt.Sprintf("https://h%d.example/%d.png", k, n)},
				Categories: []string{fmt.Sprint("category-", n%15)}, EventID: fmt.Sprint("e", n, "-", k/4), StoryID: id,
			})
		}
		if _, err := s.Store.PutItems(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
		s.summarize(b, id, float64(20000-n))
	}
	s.set(noon.Add(time.Minute))
	for _, what := range []string{"mute word football", "mute publisher h3.example", "mute category category-7"} {
		s.change(b, what)
	}
	size := func(page string) (bytes int) {
		var packed strings.Builder
		w := gzip.NewWriter(&packed)
		io.WriteString(w, page)
		w.Close()
		return packed.Len()
	}
	b.Run("warm", func(b *testing.B) {
		page := s.page(b, "/news")
		for b.Loop() {
			s.page(b, "/news")
		}
		b.ReportMetric(float64(size(page)), "gzip-bytes")
	})
	b.Run("cold", func(b *testing.B) { // as after a start
		for b.Loop() {
			b.StopTimer()
			fresh := service.New(s.Deps)
			s.handler = Handler(fresh)
			b.StartTimer()
			s.page(b, "/news")
			b.StopTimer()
			fresh.Close()
			b.StartTimer()
		}
	})
	b.Run("earlier day", func(b *testing.B) {
		for b.Loop() {
			s.page(b, "/news?day=2026-09-25")
		}
	})
	for _, what := range []string{"category category-1", "category category-2", "topic none", "story s4", "story s5"} {
		s.change(b, "follow "+what)
	}
	b.Run("followed", func(b *testing.B) {
		for b.Loop() {
			s.page(b, "/news")
		}
	})
}
