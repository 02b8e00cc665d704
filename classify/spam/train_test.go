package spam

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// taught is an item that the shipped lists classify as spam.
var taught = Document{Title: "The casino and poker room simulator, weekly report", Text: "Our online casino simulator has free spins and a casino bonus in its sandbox.", URL: "https://sim.example/1", Language: "en"}

func TestAddExamples_Releases(t *testing.T) {
	if v := Default().Classify(taught, History{}); v.Score < 0.5 {
		t.Fatalf("got %.3f before, want spam", v.Score)
	}
	archive, err := AddExamples(nil, []Example{{Document: taught}, {Document: taught}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(archive)
	if err != nil {
		t.Fatal(err)
	}
	next := taught
	next.Text = "What is new in the casino simulator: poker room, free spins and more."
	for _, d := range []Document{taught, next} {
		if v := f.Classify(d, History{}); v.Score >= 0.5 {
			t.Errorf("%q: got %.3f after two releases, want no spam: %q", d.Text, v.Score, v.Reasons())
		}
	}
	for _, item := range items {
		if v := f.Classify(item.Document, History{}); v.Score >= 0.5 != item.spam {
			t.Errorf("%q: got %.3f after two releases of another: %q", item.Title, v.Score, v.Reasons())
		}
	}
}

func TestAddExamples_Reports(t *testing.T) {
	d := Document{Title: "Garden gnomes of the month", Text: "Look at our gnomes and dwarfs.", URL: "https://gnomes.example/1"}
	archive, err := AddExamples(Shipped(), []Example{{d, true}, {d, true}, {d, true}, {d, true}})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Parse(archive)
	if err != nil {
		t.Fatal(err)
	}
	before, after := Default().Classify(d, History{}), f.Classify(d, History{})
	if before.Score > 0.1 || after.Score < 0.5 {
		t.Errorf("got %.3f before and %.3f after four reports: %q", before.Score, after.Score, after.Reasons())
	}
}

func TestAddExamples_OrderDoesNotMatter(t *testing.T) {
	var examples []Example
	for i, item := range items {
		item.Host = fmt.Sprintf("h%d.example", i)
		examples = append(examples, Example{item.Document, item.spam})
	}
	once, err := AddExamples(nil, examples)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(examples)
	inTwo, err := AddExamples(nil, examples[:7])
	if err != nil {
		t.Fatal(err)
	}
	inTwo, err = AddExamples(inTwo, examples[7:])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(once, inTwo) {
		t.Error("the order of examples changes the result")
	}
}

func TestAddExamples_KeepsOtherLists(t *testing.T) {
	got, err := AddExamples([]byte("-- domains.txt --\n[a 1]\nx.example\n-- learned.txt --\n# of ours\nwords 10 20\n"), []Example{{Document: Document{Title: "Hello # world messages", Host: "a b"}}})
	if err != nil {
		t.Fatal(err)
	}
	want := "-- domains.txt --\n[a 1]\nx.example\n-- learned.txt --\n# of ours\nwords 10 50\nhello 0 10\nmessag 0 10\nworld 0 10\n"
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := AddExamples([]byte("-- domains.txt --\nx\n"), nil); err == nil {
		t.Error("invalid lists were accepted")
	}
}

func TestAddExamples_IsBounded(t *testing.T) {
	var archive []byte
	for round := range 3 {
		var examples []Example
		for i := range 60 {
			var words []string
			for j := range 400 {
				words = append(words, fmt.Sprintf("w%sx%sx%s", letters(round), letters(i), letters(j)))
			}
			examples = append(examples, Example{Document: Document{Title: "x", Text: strings.Join(words, " ")}})
		}
		var err error
		if archive, err = AddExamples(archive, examples); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Parse(archive)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.learned.words); n > maxLearned {
		t.Errorf("got %d words, want at most %d", n, maxLearned)
	}
}

// letters returns a number in letters.
func letters(n int) string {
	return strings.Map(func(r rune) rune { return r - '0' + 'a' }, fmt.Sprint(n))
}

func TestClassify_WordsAloneAreNotSpamInFeeds(t *testing.T) {
	var text strings.Builder
	for word, c := range Default().learned.words {
		if c.spam > 5*c.ham && !strings.ContainsAny(word, "_%") {
			text.WriteString(word + " ")
		}
	}
	s := Default().score(&Document{Title: "Words", Text: text.String(), URL: "https://a.example/"}, History{})
	i := slices.IndexFunc(s.evidence, func(e evidence) bool { return e.kind == "learned" })
	if i < 0 || s.evidence[i].points > max(Default().weights[learnedLeast], s.subtotal) {
		t.Errorf("got %v, want some, and less than the rest", s.evidence)
	}
}
