package eval

import (
	"math/rand/v2"
	"strings"

	"feedmesh/classify/near"
)

// Titles reports how well a method recognizes edited titles, by the titles alone.
type Titles struct {
	Method    string             `json:"method"`
	Threshold float64            `json:"threshold"`
	Edits     map[string]float64 `json:"edits"`      // by kind of edit: share found
	Recall    float64            `json:"recall"`     // mean of these
	FalseRate float64            `json:"false_rate"` // share of pairs of different headlines of one story classified as duplicates
	Pairs     int                `json:"pairs"`      // of different headlines of one story
	Precision float64            `json:"precision"`
	F1        float64            `json:"f1"`
	Apart     float64            `json:"apart"` // share of titles separated from those with another number
	Numbers   int                `json:"numbers"`
}

const (
	sampled = 3000 // titles per kind of edit, and with another number
	rivals  = 6    // pairs of headlines of one story per edited title
	// screen is the word similarity from which on two headlines of a story may be rewordings of each other,
	// and so no example of different headlines.
	screen = 0.75
)

// edited is a title and its original.
type edited struct {
	title, was string
	name       string // of the edit; "" if the titles are different ones
}

// CompareTitles evaluates each method on edited titles: at the threshold of its source, and at the least
// threshold that keeps its false rate within [MaxFalse] on the train half. Different headlines of one story
// must be separated.
func CompareTitles(items []Item, methods []Method) []Titles {
	train, _ := cases(half(items, false))
	test, numbers := cases(half(items, true))
	var all []Titles
	for _, m := range methods {
		scores := m.titleScores(test)
		apart := m.titleScores(numbers)
		all = append(all, countTitles(test, scores, apart, m.Name, m.Threshold))
		if m.Threshold < 1 {
			tuned := threshold(duosOf(train), m.titleScores(train))
			all = append(all, countTitles(test, scores, apart, m.Name+", tuned", tuned))
		}
	}
	return all
}

// cases generates the pairs to judge. They are the same in each call.
func cases(items []Item) (pairs, numbers []edited) {
	random := rand.New(rand.NewPCG(7, 31))
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	for _, e := range edits {
		n := 0
		for _, item := range items {
			if n == sampled {
				break
			}
			if title := e.make(item.Title, random); title != "" && strings.Count(item.Title, " ") >= 2 {
				pairs = append(pairs, edited{title, item.Title, e.name})
				n++
			}
		}
	}
	for _, item := range items {
		if other := otherNumber(item.Title, random); other != "" && len(numbers) < sampled {
			numbers = append(numbers, edited{other, item.Title, ""})
		}
	}
	return append(pairs, differing(items)...), numbers
}

// differing returns pairs of different headlines of one story.
func differing(items []Item) (pairs []edited) {
	last := make(map[string]string)
	for _, item := range items {
		if len(pairs) == sampled*rivals {
			break
		}
		other := last[item.Story]
		last[item.Story] = item.Title
		if other != "" && near.MatrixSimilarity(list(item.Title), list(other), 0.2) < screen {
			pairs = append(pairs, edited{item.Title, other, ""})
		}
	}
	return pairs
}

func duosOf(pairs []edited) []duo {
	list := make([]duo, len(pairs))
	for i, p := range pairs {
		list[i].relation = p.name
	}
	return list
}

func (m Method) titleScores(pairs []edited) []float64 {
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		scores[i] = m.Score(m.Prepare(Item{Title: p.title}), m.Prepare(Item{Title: p.was}), false)
	}
	return scores
}

func countTitles(pairs []edited, scores, apart []float64, name string, threshold float64) Titles {
	c := count(duosOf(pairs), scores, name, threshold)
	t := Titles{
		Method: name, Threshold: threshold, Edits: c.Relations, FalseRate: c.FalseRate, Pairs: c.Pairs,
		Precision: c.Precision, Recall: c.Recall, F1: c.F1, Numbers: len(apart),
	}
	kept := 0
	for _, s := range apart {
		kept += number(s < threshold)
	}
	t.Apart = share(kept, len(apart))
	return t
}
