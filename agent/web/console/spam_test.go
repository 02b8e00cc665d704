package console

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// hostileSpam stores spam enough for a second page, 21 items with the item "evil"; a person marked one of them.
func (s *site) hostileSpam(t *testing.T) {
	t.Helper()
	items := []storage.Item{{ID: `"><script>`, URL: "javascript:alert(1)", Title: evil, Language: `en"><script>`, SpamScore: 0.934, Reasons: []string{evil}, Spam: true}}
	for n := range 18 {
		items = append(items, storage.Item{ID: fmt.Sprint("spam", n), Title: evil, Spam: true, SpamScore: .9})
	}
	s.items(t, "many", append(items, storage.Item{ID: "corrected", URL: "https://www.a.example/", SpamScore: 0.1})...)
	_, err := s.Service.Spam.Report(t.Context(), wire.ByID{ID: "corrected"})
	must(t, err)
}

func pagesOfSpam(t *testing.T, all sites) map[string]shown {
	second := linkOn(t, all.hostile, "/spam", "More spam")
	return map[string]shown{
		"spam":            {"/spam", 200, all.hostile},
		"spam of a feed":  {"/spam?feed=many", 200, all.hostile},
		"spam of no feed": {"/spam?feed=%3Cscript%3E", 200, all.hostile},
		"more spam":       {second, 200, all.hostile},
		"no spam":         {"/spam", 200, all.empty},
		"no more spam":    {second, 200, all.empty},
		"spam down":       {"/spam", 503, all.broken},
		"other's spam":    {"/spam?cursor=c", 400, all.hostile},
		"long ID of spam": {"/spam?feed=" + strings.Repeat("a", 100), 400, all.hostile},
		"damaged spam":    {"/spam?feed=%zz", 400, all.hostile},
	}
}

func TestSpamPage_ListsScoreAndReasons(t *testing.T) {
	source := hostile(t)
	page := parse(t, body(t, serve(source, "GET", "/spam")))
	second := link(page, "More spam")
	said := words(page) + words(parse(t, body(t, serve(source, "GET", second))))
	for _, want := range []string{"21 items marked as spam", "Score 0.93", "marked by a person", "from a score of 0.80", "version 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if !strings.HasPrefix(second, "/spam?cursor=") {
		t.Errorf("more spam is at %q", second)
	}
}

func TestSpamPage_MarkAndReturn(t *testing.T) {
	source := newSite(t)
	source.item(t, "f", storage.Item{ID: "evil", Spam: true})
	for _, c := range []struct {
		fields url.Values
		status int
		to     string
		spam   bool // afterwards
	}{
		{url.Values{"item": {"evil"}, "spam": {"no"}, "back": {"/spam?feed=f"}}, 303, "/spam?feed=f", false},
		{url.Values{"item": {"evil"}, "spam": {"yes"}, "back": {"https://evil.example/"}}, 303, "/spam", true},
		{url.Values{"item": {"evil"}, "spam": {"no"}}, 303, "/spam", false},
		{url.Values{"item": {"evil"}, "spam": {"yes"}, "back": {"//evil.example/spam?"}}, 303, "/spam", true},
		{url.Values{"item": {"none"}, "spam": {"yes"}}, 404, "", true},
		{url.Values{"item": {"evil"}, "spam": {"perhaps"}}, 400, "", true},
		{url.Values{"spam": {"no"}}, 400, "", true},
	} {
		r := post(source, "/spam", c.fields)
		if r.StatusCode != c.status || r.Header.Get("Location") != c.to {
			t.Errorf("%v: got %d to %q, want %d to %q", c.fields, r.StatusCode, r.Header.Get("Location"), c.status, c.to)
		}
		if got := source.stored(t, "evil"); got.Spam != c.spam || !got.Corrected {
			t.Errorf("%v: spam %v, corrected %v; want %v by a person", c.fields, got.Spam, got.Corrected, c.spam)
		}
	}
}
