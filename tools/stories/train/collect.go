package train

import (
	"time"

	"feedmesh/classify/story"
	"feedmesh/tools/stories/measure"
)

// examples are what a set teaches: of an item and each event that it may join, and of two stories that may merge. Both
// are by titles, and by texts.
type examples struct {
	joinTitles, joinTexts []example
	mergeTitles           []example
}

// collect places records with the weights, and returns the examples that occur. An item belongs to an event, and two
// events belong together, if most of their items are of one labelled story.
//
// Only events of the last day give examples of titles: labelled stories of headlines end at midnight, which teaches
// nothing about words.
func collect(w story.Weights, records []measure.Record) (found examples) {
	c := story.New(w, story.DefaultLimits(), story.IDs{})
	events := make(map[string]*votes)
	c.ObserveMerges(func(a, b string, e story.MergeEvidence) {
		if events[a].near(events[b]) {
			found.mergeTitles = append(found.mergeTitles, example{mergeValues(e), events[a].majority == events[b].majority, 1})
		}
	})
	for _, r := range records {
		for _, near := range c.Candidates(r.Item) {
			event := events[near.EventID]
			x := example{near.Evidence[:], event.majority == r.Story, 1}
			switch {
			case near.Texts:
				found.joinTexts = append(found.joinTexts, x)
			case r.Seen.Sub(event.first) < 24*time.Hour:
				found.joinTitles = append(found.joinTitles, x)
			}
		}
		id := c.Place(r.Item).EventID
		if events[id] == nil {
			events[id] = &votes{first: r.Seen, of: make(map[string]int)}
		}
		events[id].add(r.Story)
		c.Tick(r.Seen)
	}
	return found
}

// votes are the labelled stories of an event's items.
type votes struct {
	first    time.Time
	of       map[string]int
	majority string
}

func (v *votes) add(story string) {
	v.of[story]++
	if v.of[story] > v.of[v.majority] {
		v.majority = story
	}
}

// near reports whether two events began within a day.
func (v *votes) near(w *votes) bool { return v.first.Sub(w.first).Abs() < 24*time.Hour }

// mergeValues returns the clues of merge evidence; the bias is that of the events.
func mergeValues(e story.MergeEvidence) []float64 {
	values := append(append([]float64{}, e.Events[:]...), e.Stories[1:]...)
	return append(values, e.SmallerEvent, e.LargerEvent, e.SmallerStory, e.LargerStory, e.AllEvents)
}

// mergeModel is the inverse of mergeValues.
func mergeModel(values []float64) (m story.MergeEvidence) {
	n := copy(m.Events[:], values)
	n += copy(m.Stories[1:], values[n:])
	m.SmallerEvent, m.LargerEvent, m.SmallerStory, m.LargerStory, m.AllEvents = values[n], values[n+1], values[n+2], values[n+3], values[n+4]
	return m
}
