package query

import (
	"slices"
	"strings"
	"sync"
	"testing"
)

func TestMatches_Conditions(t *testing.T) {
	t.Parallel()
	doc := &Document{
		Title: "Kubernetes runs databases", Author: "Ada Lovelace", Text: "To be or not to be", Tags: []string{"machine learning", "go"},
		Feed: "f", Language: "en", Story: "s", URL: "https://www.a.example.org/x", Categories: []string{"ai"}, Topics: []string{"SQL"},
		Flags: []string{"starred", "duplicate"}, Published: noon,
	}
	for text, want := range map[string]bool{
		"": true, "database run": true, "missing": false, "missing OR ada": true, "-missing": true, "-ada": false,
		`"not to be"`: true, `"learning go"`: false, `title:"runs database"`: true, "title:ada": false, "author:ada": true, "author:love*": true,
		"datab*": true, "database*": true, "runnin*": true, "datx*": false, "feed:f lang:en story:s cat:ai topic:sql": true, "cat:AI": false,
		"host:example.org": true, "host:a.example.org": true, "host:b.example.org": false, "is:starred -is:spam is:duplicate": true,
		"after:2026-03-01 before:2026-03-02": true, "before:2026-03-01": false, "after:2026-03-01T12:00:00Z": true, "before:2026-03-01T12:00:00Z": false,
		"kuberntes": false, "...": false, "-...": true,
	} {
		n, err := Parse(text, noon)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := Matches(n, doc); got != want {
			t.Errorf("%q: got %t, want %t", text, got, want)
		}
		if want && !MatchesFuzzy(n, doc) {
			t.Errorf("%q: matches, but not nearly", text)
		}
	}
	for text, want := range map[string]bool{"kuberntes": true, "kuberntes missing": false, `"kuberntes runs"`: false, "-kuberntes": true, "lovelcae": true, "gx": false} {
		if n, err := Parse(text, noon); err != nil || MatchesFuzzy(n, doc) != want {
			t.Errorf("%q: got %t nearly, %v; want %t", text, !want, err, want)
		}
	}
}

func TestMatches_ConcurrentUse(t *testing.T) {
	t.Parallel()
	doc := &Document{Title: "a title", Text: strings.Repeat("many words ", 100)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if !Matches(And{Text{Words: "many title"}, Text{In: Title, Words: "title"}}, doc) {
				t.Error("does not match")
			}
		})
	}
	wg.Wait()
}

func TestSelectsValue_IgnoresNegatedConditions(t *testing.T) {
	t.Parallel()
	n, err := Parse(`a "b c" -d (e OR title:f -(g is:spam)) is:muted`, noon)
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, text := range Texts(n) {
		words = append(words, text.Words)
	}
	if want := []string{"a", "b c", "e", "f"}; !slices.Equal(words, want) {
		t.Errorf("got %q, want %q", words, want)
	}
	if !SelectsValue(n, Flag, "muted") || SelectsValue(n, Flag, "spam") {
		t.Error("want muted items included, spam excluded")
	}
}

func TestWithinEdits_CountsEdits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want int // mistakes, 3 for more than two
	}{
		{"kubernet", "kubernet", 0}, {"kubernt", "kubernet", 1}, {"kuberent", "kubernet", 1}, {"xubernet", "kubernet", 1}, {"kubernets", "kubernet", 1},
		{"kbernt", "kubernet", 2}, {"уязвимст", "уязвимост", 1}, {"abc", "xyz", 3}, {"ca", "abc", 3}, {"", "ab", 2}, {"", "", 0},
	} {
		for mistakes := range 3 {
			if got := WithinEdits(c.a, c.b, mistakes); got != (c.want <= mistakes) {
				t.Errorf("%s, %s with %d mistakes: got %t", c.a, c.b, mistakes, got)
			}
		}
	}
	for word, want := range map[string]int{"four": 0, "fives": 0, "planer": 1, "kubernetes": 2, "nothing": 0, "ipv6addresses": 0, "уязвимость": 1} {
		if got := MaxEdits(word); got != want {
			t.Errorf("%s forgives %d, want %d", word, got, want)
		}
	}
}

func TestHosts_ReturnsHostAndParents(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://www.Example.org:8080/x": "example.org", "http://a.b.example.org": "a.b.example.org b.example.org example.org",
		"http://localhost/": "localhost", "": "", "mailto:a@b.c": "", "http://[::1]/": "::1", "http://%zz/": "",
		"http://" + strings.Repeat("a.", 40) + "org/": "",
	} {
		got := Hosts(address)
		if len(got) > maxHosts || want != "" && strings.Join(got, " ") != want || want == "" && len(got) != 0 && len(got) != maxHosts {
			t.Errorf("%s: got %q, want %s", address, got, want)
		}
	}
}
