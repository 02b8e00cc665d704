package console

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"feedmesh/storage"
)

func pagesOfSpam() map[string]shown {
	unknown, other := hostile(), hostile()
	unknown.deskErr = errAway
	other.deskErr = storage.ErrBadCursor
	return map[string]shown{
		"spam":            {"/spam", 200, hostile()},
		"spam of a feed":  {"/spam?feed=%3Cscript%3E&cursor=c", 200, hostile()},
		"no spam":         {"/spam", 200, &fake{}},
		"no more spam":    {"/spam?cursor=c", 200, &fake{}},
		"spam down":       {"/spam", 503, unknown},
		"other's spam":    {"/spam?cursor=c", 400, other},
		"long ID of spam": {"/spam?feed=" + strings.Repeat("a", 100), 400, hostile()},
		"damaged spam":    {"/spam?feed=%zz", 400, hostile()},
	}
}

func TestSpamPage_ListsScoreAndReasons(t *testing.T) {
	page := parse(t, body(t, serve(hostile(), "GET", "/spam")))
	said := words(page)
	for _, want := range []string{"21 items marked as spam", "Score 0.93", "marked by a person", "from a score of 0.80", "version 3"} {
		if !strings.Contains(said, want) {
			t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	if got, want := link(page, "More spam"), "/spam?"+(url.Values{"cursor": {evil}}).Encode(); got != want {
		t.Errorf("more spam is at %q, want %q", got, want)
	}
}

func TestSpamPage_MarkAndReturn(t *testing.T) {
	source := hostile()
	for _, c := range []struct {
		fields url.Values
		status int
		to     string
	}{
		{url.Values{"item": {"evil"}, "spam": {"no"}, "back": {"/spam?feed=f"}}, 303, "/spam?feed=f"},
		{url.Values{"item": {"evil"}, "spam": {"yes"}, "back": {"https://evil.example/"}}, 303, "/spam"},
		{url.Values{"item": {"evil"}, "spam": {"yes"}, "back": {"//evil.example/spam?"}}, 303, "/spam"},
		{url.Values{"item": {"none"}, "spam": {"yes"}}, 404, ""},
		{url.Values{"item": {"evil"}, "spam": {"perhaps"}}, 400, ""},
		{url.Values{"spam": {"no"}}, 400, ""},
	} {
		r := post(source, "/spam", c.fields)
		if r.StatusCode != c.status || r.Header.Get("Location") != c.to {
			t.Errorf("%v: got %d to %q, want %d to %q", c.fields, r.StatusCode, r.Header.Get("Location"), c.status, c.to)
		}
	}
	if want := []string{"spam evil false", "spam evil true", "spam evil true", "spam none true"}; !slices.Equal(source.done, want) {
		t.Errorf("got %q done, want %q", source.done, want)
	}
}
