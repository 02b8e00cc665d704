package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/parse/feed"
	"feedmesh/agent/wire"
)

// TestMain runs the worker where a test starts this program as a child process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == WorkerCommand {
		if err := Worker(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const sound = `<rss version="2.0"><channel><title>News</title>
<item><title>One &amp;amp; two</title><link>https://example.org/1</link><pubDate>Mon, 02 Nov 2026 10:00:00 GMT</pubDate></item>
<item><title>Three</title><link>https://example.org/3</link></item>
</channel></rss>`

func TestParser_ReadsASoundFeedLikeOurs(t *testing.T) {
	theirs, err := Parser{}.Parse(t.Context(), []byte(sound))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := feed.Parse([]byte(sound), "text/xml", "https://example.org/feed")
	if err != nil {
		t.Fatal(err)
	}
	if theirs.Title != "News" || theirs.Format != "rss 2.0" || len(theirs.Entries) != 2 {
		t.Errorf("got %+v, want News, rss 2.0, 2 entries", theirs)
	}
	pairs := Pair(OurEntries(ours.Entries), theirs.Entries)
	if len(pairs) != 2 || len(Differing(pairs)) != 0 {
		t.Errorf("got %d pairs, different %+v, want 2 and none", len(pairs), Differing(pairs))
	}
}

func TestParser_StopsGofeedAtItsMemoryLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: allocates for seconds")
	}
	var bomb strings.Builder
	bomb.WriteString("<rss><channel>")
	for i := range 20_000 {
		fmt.Fprintf(&bomb, "<m:x%d xmlns:n%[1]d='urn:%[1]d'>", i)
	}
	began := time.Now()
	_, err := Parser{}.Parse(t.Context(), []byte(bomb.String()))
	if !errors.Is(err, ErrMemory) && !errors.Is(err, ErrTime) {
		t.Errorf("got %v, want the memory or the time limit", err)
	}
	if took := time.Since(began); took > MaxTime+20*time.Second {
		t.Errorf("took %s, want at most %s and the time to end a process", took, MaxTime)
	}
	t.Logf("%d bytes: %v after %s", bomb.Len(), err, time.Since(began).Round(time.Millisecond))
}

func TestParser_ReturnsGofeedsOwnError(t *testing.T) {
	_, err := Parser{}.Parse(t.Context(), []byte("no feed"))
	if err == nil || !strings.Contains(err.Error(), "gofeed failed: failed to detect feed type") {
		t.Errorf("got %v, want gofeed's error", err)
	}
}

func TestParser_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (Parser{}).Parse(ctx, []byte(sound)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

func entry(title, link string, published time.Time) wire.ParsedEntry {
	return wire.ParsedEntry{Title: title, Link: link, Published: published}
}

func TestPair_PairByLinkThenTitleThenPosition(t *testing.T) {
	at := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		ours, theirs []wire.ParsedEntry
		want         []string
	}{
		{"the same", []wire.ParsedEntry{entry("a", "1", at)}, []wire.ParsedEntry{entry("a", "1", at)}, []string{"a=a []"}},
		{"another order", []wire.ParsedEntry{entry("a", "1", at), entry("b", "2", at)}, []wire.ParsedEntry{entry("b", "2", at), entry("a", "1", at)}, []string{"a=a []", "b=b []"}},
		{"title and date differ", []wire.ParsedEntry{entry("a", "1", at)}, []wire.ParsedEntry{entry("A", "1", time.Time{})}, []string{"a=A [title published]"}},
		{"paired by title", []wire.ParsedEntry{entry("a", "1", at), entry("b", "2", at)}, []wire.ParsedEntry{entry("b", "", at), entry("x", "9", at)}, []string{"a=- []", "b=b [link]", "-=x []"}},
		{"paired by position", []wire.ParsedEntry{entry("a", "1", at)}, []wire.ParsedEntry{entry("x", "9", at)}, []string{"a=x [title link]"}},
		{"only ours", []wire.ParsedEntry{entry("a", "1", at)}, nil, []string{"a=- []"}},
		{"only theirs", nil, []wire.ParsedEntry{entry("a", "1", at)}, []string{"-=a []"}},
	} {
		var got []string
		for _, r := range Pair(test.ours, test.theirs) {
			name := func(e *wire.ParsedEntry) string {
				if e == nil {
					return "-"
				}
				return e.Title
			}
			got = append(got, fmt.Sprintf("%s=%s %v", name(r.Ours), name(r.Theirs), r.Differs))
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}
