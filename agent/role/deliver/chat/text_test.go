package chat

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"feedmesh/agent/role/deliver/channel"
)

func TestCompose_OneItem(t *testing.T) {
	m := channel.Message{Title: "S", Items: []channel.Item{{Title: "A\x00 \u202etitle\n", Excerpt: "It\tbegins.", URL: "https://example.com/ä b?c=<d>"}}}
	if got, want := compose(m, style{}), "A title\nIt begins.\nhttps://example.com/%C3%A4%20b?c=%3Cd%3E"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m.Items[0] = channel.Item{Title: "T", URL: "javascript:alert(1)"}
	if got := compose(m, style{}); got != "T" {
		t.Errorf("got %q, want no URL of another scheme", got)
	}
}

func TestCompose_SeveralItems(t *testing.T) {
	m := channel.Message{Title: "S", More: 3}
	for i := range 7 {
		m.Items = append(m.Items, channel.Item{Title: fmt.Sprint("T", i), URL: fmt.Sprint("https://e.com/", i)})
	}
	want := "S\nT0 — https://e.com/0\nT1 — https://e.com/1\nT2 — https://e.com/2\nT3 — https://e.com/3\nT4 — https://e.com/4\n5 more"
	if got := compose(m, style{}); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCompose_IsBoundedAndWholeRunes(t *testing.T) {
	long := strings.Repeat("ж@<", 5000)
	for _, s := range services {
		limit := s.style.limit
		if limit == 0 {
			limit = maxText
		}
		for count := 1; count <= 6; count++ {
			m := channel.Message{Title: long, More: count - 1}
			for range count {
				m.Items = append(m.Items, channel.Item{Title: long, Excerpt: long, URL: "https://example.com/" + long})
			}
			if got := compose(m, s.style); len(got) > limit || !utf8.ValidString(got) || got == "" {
				t.Errorf("%d bytes of %d items, want 1 to %d of whole runes", len(got), count, limit)
			}
		}
	}
}

// The lines of an alert count as more if they do not fit, and the URL of the page is no markup.
func TestCompose_LinesAndPage(t *testing.T) {
	m := channel.Message{Title: "S", Alert: "it_is off", Lines: []string{"a *b*\nc"}, Off: &channel.Off{URL: "https://feeds.example.net/views/subscriptions/a_b_c"}}
	if got, want := compose(m, markdown(0)), "S: it\\_is off\na \\*b\\* c\nhttps://feeds.example.net/views/subscriptions/a_b_c"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	m = channel.Message{Title: "S", Alert: "50 feeds fail", More: 40}
	for range 10 {
		m.Lines = append(m.Lines, strings.Repeat("x", 300))
	}
	got := compose(m, style{limit: 1000})
	if len(got) > 1000 || strings.Count(got, "xxx\n") != 3 || !strings.HasSuffix(got, "\n47 more") {
		t.Errorf("got %d bytes: %s", len(got), got)
	}
}
