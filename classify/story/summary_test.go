package story

import (
	"slices"
	"testing"
	"time"
)

// versions are items of a story with four sources.
var versions = []Document{
	{ItemID: "1", Source: "a", Title: "Quake strikes off Aceh", Language: "en", Weight: 1, Seen: noon,
		Text: "A strong earthquake struck off the coast of Aceh on Tuesday, officials said. Dr. Smith of the U.S. Geological Survey put it at 7.3. Weather was fine."},
	{ItemID: "2", Source: "b", Title: "Strong quake off Aceh, tsunami warning issued", Language: "en", Weight: 1, Seen: noon.Add(time.Hour),
		Text: "A strong earthquake struck off the coast of Aceh on Tuesday. Authorities issued a tsunami warning for the whole coast of Sumatra. People fled to higher ground in cars."},
	{ItemID: "3", Source: "c", Title: "Aceh: tsunami warning lifted", Language: "en", Weight: 1, Seen: noon.Add(2 * time.Hour),
		Text: "Authorities lifted the tsunami warning for the coast of Sumatra after two hours. Schools will stay closed until engineers have looked at them."},
	{ItemID: "4", Source: "d", Title: "Shares of a bank fall", Language: "en", Weight: 1, Seen: noon.Add(2 * time.Hour), Text: "Short."},
}

func TestHeadline_IsMostSimilarToOthers(t *testing.T) {
	if got := Headline(versions); got != 1 {
		t.Errorf("got item %d, want 1: it is most like the others", got)
	}
	weightedWord := slices.Clone(versions)
	weightedWord[2].Weight = 3
	if got := Headline(weightedWord); got != 2 {
		t.Errorf("got item %d, want 2 of the better source", got)
	}
	if got := Headline(nil); got != -1 {
		t.Errorf("got %d of no items, want -1", got)
	}
	if got := Headline(versions[3:]); got != 0 {
		t.Errorf("got %d of one item, want 0", got)
	}
}

func TestSummary_LeadAndSentencesOfOtherSources(t *testing.T) {
	got := Summary(versions, 0)
	want := []SummaryLine{
		{"A strong earthquake struck off the coast of Aceh on Tuesday, officials said.", "1"},
		{"Authorities issued a tsunami warning for the whole coast of Sumatra.", "2"},
	} // "Authorities lifted ..." repeats the warning, and no other item mentions schools

	if !slices.Equal(got, want) {
		t.Errorf("got %+q, want %+q", got, want)
	}
}

func TestSummary_WithoutTextOfTheHeadline(t *testing.T) {
	if got := Summary(versions, 3); len(got) != 2 || got[0].ItemID == "4" {
		t.Errorf("got %+q, want two lines of others", got)
	}
	if got := Summary(versions[3:], 0); got != nil {
		t.Errorf("got %+q of an item without sentences, want none", got)
	}
	if got := Summary(versions, -1); got != nil {
		t.Errorf("got %+q without a headline, want none", got)
	}
}

func TestSentences(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"One. Two! Three?", []string{"One.", "Two!", "Three?"}},
		{"Dr. Smith of the U.S. Survey said 7.3. It shook.", []string{"Dr. Smith of the U.S. Survey said 7.3.", "It shook."}},
		{"He said: \"Go.\" They went.", []string{"He said: \"Go.\"", "They went."}},
		{"Сказал А. Б. Иванов. Он ушёл.", []string{"Сказал А. Б. Иванов.", "Он ушёл."}},
		{"Shares of Bergau Mills Co. Ltd. rose. Others fell.", []string{"Shares of Bergau Mills Co. Ltd. rose.", "Others fell."}},
		{"no end", []string{"no end"}},
		{"", nil},
	} {
		if got := Sentences(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}

func TestCommonNames(t *testing.T) {
	votes := [][]string{{"science", "asia"}, {"science"}, nil, {"science", "weather", "weather"}, {"asia"}, {"law"}, {"law"}}
	if got, want := CommonNames(votes, 2), []string{"science", "asia"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a sentence without names has no vote, and an item has one vote", got, want)
	}
	if got := CommonNames(votes, 9); len(got) != 3 || slices.Contains(got, "weather") {
		t.Errorf("got %q, want those that a third agree on", got)
	}
	if got := CommonNames(nil, 3); len(got) != 0 {
		t.Errorf("got %q of nothing", got)
	}
}
