package interest_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/classify/interest"
)

var noon = time.Date(2026, 9, 29, 12, 0, 0, 0, time.UTC)

// item returns the features of an item about a topic, in a feed of its own.
func item(n int, topic string) []interest.Feature {
	return interest.Features(interest.Document{
		Title: fmt.Sprintf("Release %d of %s", n, topic), Language: "en", Topics: []string{topic}, Feed: fmt.Sprint("f", n), FeedTitle: fmt.Sprint("Feed ", n),
	})
}

func candidate(n int, topic string) interest.Candidate {
	c := interest.Candidate{Publisher: fmt.Sprint("f", n), Age: time.Duration(n) * time.Minute}
	for _, f := range item(n, topic) {
		c.Features = append(c.Features, f.Key)
	}
	return c
}

// learned returns the counts of a feature.
func learned(m *interest.Model, kind interest.FeatureKind, name string, now time.Time) (liked, other float64) {
	for _, f := range m.Features(now) {
		if f.Kind == kind && f.Name == name {
			return f.Liked, f.Other
		}
	}
	return 0, 0
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-6 {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestFeatures_NamesAreWordsAsWritten(t *testing.T) {
	var names []string
	for _, f := range interest.Features(interest.Document{
		Title: "Kubernetes releases, kubernetes releasing", Language: "en", Categories: []string{"devops"}, Topics: []string{"kubernetes"}, Feed: "f", FeedTitle: strings.Repeat("ж", 40),
	}) {
		names = append(names, f.Key.Kind().String()+" "+f.Name)
	}
	want := []string{"category devops", "topic kubernetes", "publisher " + strings.Repeat("ж", 15), "word kubernetes", "word releasing"}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
}

func TestModel_SignalsDecay(t *testing.T) {
	var m interest.Model
	m.Learn("1", item(1, "go"), interest.Opened, noon)
	liked, _ := learned(&m, interest.Topic, "go", noon)
	near(t, "at once", liked, 1)
	later := noon.AddDate(0, 0, 14)
	liked, _ = learned(&m, interest.Topic, "go", later)
	near(t, "after 14 days", liked, 0.5)
	m.Learn("2", item(2, "go"), interest.Opened, later)
	liked, _ = learned(&m, interest.Topic, "go", later)
	near(t, "with a second", liked, 1.5)
	m.Learn("3", item(3, "go"), interest.Hidden, noon) // reported late
	_, other := learned(&m, interest.Topic, "go", later)
	near(t, "against it, reported late", other, 1.5)
	m.Learn("4", item(4, "rust"), interest.Opened, later.AddDate(1, 0, 0))
	liked, _ = learned(&m, interest.Topic, "go", later.AddDate(1, 0, 0))
	near(t, "after a year", liked, 0)
}

func TestModel_RepeatedSignalsCountOnce(t *testing.T) {
	var m interest.Model
	for n := range 3 {
		if learns := m.Learn("1", item(1, "go"), interest.Opened, noon.Add(time.Duration(n)*time.Hour)); learns != (n == 0) {
			t.Errorf("signal %d: got %t", n, learns)
		}
	}
	if !m.Learn("1", item(1, "go"), interest.Starred, noon) {
		t.Error("another signal on the item was ignored")
	}
	if days := m.Days(); len(days) != 1 || days[0].Opened != 1 {
		t.Errorf("got days %v, want one opened item", days)
	}
	for _, sentiment := range []float64{0.8, -0.8, 0.01} {
		m.CountSentiment(sentiment, noon.Add(3*time.Hour))
	}
	m.CountSentiment(0.8, noon.AddDate(0, 0, 1)) // a day without opened items
	if days := m.Days(); len(days) != 1 || days[0].Good != 1 || days[0].Bad != 1 {
		t.Errorf("got days %v, want one with an item of each sentiment", days)
	}
	if m.Learn(strings.Repeat("x", 100), nil, interest.Opened, noon) {
		t.Error("a signal on an ID that is too long was learned")
	}
}

func TestModel_IsBounded(t *testing.T) {
	var m interest.Model
	for n := range 6000 {
		var words []string
		for range 12 {
			words = append(words, strings.Repeat("ж", 20)+fmt.Sprint(rand.IntN(100_000)))
		}
		d := interest.Document{Title: strings.Join(words, " "), Topics: []string{fmt.Sprintf("topic-%030d", n)}, Feed: fmt.Sprint("f", n), FeedTitle: fmt.Sprintf("Feed %040d", n)}
		m.Learn(fmt.Sprintf("%064d", n), interest.Features(d), interest.Opened, noon.Add(time.Duration(n)*time.Hour))
	}
	if size := len(m.Encode()); size > interest.MaxSize {
		t.Errorf("got %d bytes, want at most %d", size, interest.MaxSize)
	}
	if n := len(m.Features(noon)); n > 1000 || n < 900 {
		t.Errorf("got %d features, want about 1,000", n)
	}
	if len(m.Signals()) != 200 || len(m.Days()) != 30 {
		t.Errorf("got %d signals of %d days", len(m.Signals()), len(m.Days()))
	}
	if _, err := interest.Decode(m.Encode()); err != nil {
		t.Error(err)
	}
}

func someModel() *interest.Model {
	m := &interest.Model{}
	for n := range 40 {
		topic, signal := "kubernetes", interest.Opened
		if n%2 == 1 {
			topic, signal = "football", interest.Skipped
		}
		m.Learn(fmt.Sprint(n), item(n, topic), signal, noon.Add(time.Duration(n)*time.Hour))
		m.CountSentiment(float64(n%3-1), noon.Add(time.Duration(n)*time.Hour))
	}
	return m
}

func TestEncode_RoundTrip(t *testing.T) {
	encoded := someModel().Encode()
	m, err := interest.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.Encode(), encoded) || !bytes.Equal(someModel().Encode(), encoded) {
		t.Error("equal models have different encodings")
	}
	if !slices.Equal(m.Signals(), someModel().Signals()) || !slices.Equal(m.Days(), someModel().Days()) {
		t.Error("the signals or days differ")
	}
	if _, err := interest.Decode(nil); err != nil {
		t.Errorf("empty: %v", err)
	}
}

func TestDecode_Damage(t *testing.T) {
	encoded := someModel().Encode()
	for n := 1; n < len(encoded); n++ {
		if _, err := interest.Decode(encoded[:n]); !errors.Is(err, interest.ErrUnreadable) {
			t.Fatalf("%d bytes: got %v, want ErrUnreadable", n, err)
		}
		damaged := slices.Clone(encoded)
		damaged[n] ^= 0xff
		if m, err := interest.Decode(damaged); err == nil {
			m.Rank([]interest.Candidate{candidate(1, "go")}, 1)
		}
	}
	encoded[0]++
	if _, err := interest.Decode(encoded); !errors.Is(err, interest.ErrNewer) {
		t.Errorf("got %v, want ErrNewer", err)
	}
}

func TestRank_NewestFirstWithoutSignals(t *testing.T) {
	var m interest.Model
	var candidates []interest.Candidate
	for n := range 30 {
		candidates = append(candidates, candidate(n, "go"))
	}
	for n, s := range m.Rank(candidates, 20) {
		if s.Index != n || s.New || s.Because != nil {
			t.Errorf("place %d: got %+v", n, s)
		}
	}
}

func TestRank_LearnedTopicsFirst(t *testing.T) {
	var candidates []interest.Candidate
	for n := range 40 {
		candidates = append(candidates, candidate(100+n, []string{"football", "weather", "music", "kubernetes"}[n%4]))
	}
	ranked := someModel().Rank(candidates, 10)
	if len(ranked) != 10 {
		t.Fatalf("got %d suggestions", len(ranked))
	}
	for n, s := range ranked {
		if isNew := n%5 == 4; s.New != isNew {
			t.Errorf("place %d: got new %t", n, s.New)
		} else if !isNew && (s.Index%4 != 3 || len(s.Because) == 0 || s.Because[0] != "kubernetes") {
			t.Errorf("place %d: got %+v", n, s)
		}
	}
	if ranked[4].Index != 0 {
		t.Errorf("got %d as the newest", ranked[4].Index)
	}
}

func TestRank_OneOfAStoryFewOfAPublisher(t *testing.T) {
	var candidates []interest.Candidate
	for n := range 60 {
		c := candidate(n, "kubernetes")
		switch {
		case n < 30:
			c.Publisher = "large"
		case n < 40:
			c.Story = "story"
		}
		candidates = append(candidates, c)
	}
	large, story := 0, 0
	for _, s := range someModel().Rank(candidates, 20) {
		if candidates[s.Index].Publisher == "large" {
			large++
		}
		if candidates[s.Index].Story != "" {
			story++
		}
	}
	if large > 4 || story > 1 {
		t.Errorf("got %d of a publisher, %d of a story; want at most 4 and 1", large, story)
	}
	if got := len(someModel().Rank(candidates[:30], 20)); got != 20 {
		t.Errorf("got %d of 20 suggestions of the only publisher", got)
	}
}

// fullModel returns a model with as many features as are stored, and items like those it learned from.
func fullModel() (*interest.Model, [][]interest.Feature) {
	random := rand.New(rand.NewPCG(1, 1))
	items := make([][]interest.Feature, 2000)
	for n := range items {
		var words []string
		for range 10 {
			words = append(words, fmt.Sprint("word", int(random.ExpFloat64()*300)))
		}
		items[n] = interest.Features(interest.Document{
			Title: strings.Join(words, " "), Language: "en", Categories: []string{fmt.Sprint("c", random.IntN(26))}, Topics: []string{fmt.Sprint("t", random.IntN(200))},
			Feed: fmt.Sprint("f", random.IntN(300)), FeedTitle: "A feed",
		})
	}
	m := &interest.Model{}
	for n := range 400 {
		m.Learn(fmt.Sprint("item", n), items[n], []interest.Signal{interest.Opened, interest.Skipped}[n%2], noon.Add(time.Duration(n)*time.Minute))
	}
	return m, items
}

func BenchmarkRank_2000(b *testing.B) {
	m, items := fullModel()
	candidates := make([]interest.Candidate, len(items))
	for n, features := range items {
		c := interest.Candidate{Publisher: fmt.Sprint("f", n%300), Age: time.Duration(n) * time.Minute}
		for _, f := range features {
			c.Features = append(c.Features, f.Key)
		}
		candidates[n] = c
	}
	b.ReportMetric(float64(len(m.Encode())), "bytes/person")
	for b.Loop() {
		m.Rank(candidates, 50)
	}
}

// BenchmarkLearn decodes a stored model, learns a signal and encodes it again.
func BenchmarkLearn(b *testing.B) {
	m, items := fullModel()
	encoded := m.Encode()
	for n := 0; b.Loop(); n++ {
		m, err := interest.Decode(encoded)
		if err != nil {
			b.Fatal(err)
		}
		m.Learn(fmt.Sprint("new", n), items[n%len(items)], interest.Opened, noon.Add(time.Duration(500+n)*time.Minute))
		m.Encode()
	}
}
