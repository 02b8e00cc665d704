package eval

import (
	"fmt"
	"io"
	"strings"

	"feedmesh/classify/near"
)

// Reposts reports how well an index finds posts of one address, by the titles alone.
type Reposts struct {
	Half      string  `json:"half"`
	Items     int     `json:"items"`  // whose story occurred before
	Found     int     `json:"found"`  // of these, placed with an item of their story
	Recall    float64 `json:"recall"` // share found
	False     int     `json:"false"`  // items that are placed with an item of another story
	Precision float64 `json:"precision"`

	Retitled      int     `json:"retitled"`       // items whose story occurred before, under other titles only
	RetitledFound int     `json:"retitled_found"` // of these, placed with an item of their story
	RetitledShare float64 `json:"retitled_recall"`

	Missed []Pair `json:"missed"`
	Wrong  []Pair `json:"wrong"`
}

// A Pair is the title of an item, and that of the first item of its story or of its original.
type Pair struct {
	Title string `json:"title"`
	Other string `json:"other"`
}

// PlaceReposts places posts in turn, by title and source without the address: those of the train half, of the test half, and
// all of them.
func PlaceReposts(items []Item, s near.Settings) []Reposts {
	return []Reposts{placeReposts("train", half(items, false), s), placeReposts("test", half(items, true), s), placeReposts("all", items, s)}
}

func placeReposts(name string, items []Item, s near.Settings) Reposts {
	r := Reposts{Half: name}
	x := near.NewIndex(s)
	byID, byStory := make(map[string]Item), make(map[string][]string)
	for _, item := range items {
		byID[item.ID] = item
		original, placed := byID[x.Place(item.mark(&s)).DuplicateOf]
		titles := byStory[item.Story]
		again := len(titles) > 0
		retitled := again && !containsFold(titles, item.Title)
		found := placed && original.Story == item.Story
		r.Items += number(again)
		r.Found += number(found)
		r.Retitled += number(retitled)
		r.RetitledFound += number(found && retitled)
		switch {
		case placed && !found:
			r.False++
			r.Wrong = append(r.Wrong, Pair{item.Title, original.Title})
		case again && !placed:
			r.Missed = append(r.Missed, Pair{item.Title, titles[0]})
		}
		byStory[item.Story] = append(titles, item.Title)
	}
	r.Recall, r.Precision, r.RetitledShare = share(r.Found, r.Items), share(r.Found, r.Found+r.False), share(r.RetitledFound, r.Retitled)
	return r
}

func containsFold(titles []string, title string) bool {
	for _, t := range titles {
		if strings.EqualFold(t, title) {
			return true
		}
	}
	return false
}

// PrintReposts prints a line for each half.
func PrintReposts(w io.Writer, halves []Reposts) error {
	for _, r := range halves {
		_, err := fmt.Fprintf(w, "posts of one address, placed in turn by title, %s: recall %.3f of %d, %d false, precision %.3f; under another title: recall %.3f of %d\n",
			r.Half, r.Recall, r.Items, r.False, r.Precision, r.RetitledShare, r.Retitled)
		if err != nil {
			return err
		}
	}
	return nil
}
