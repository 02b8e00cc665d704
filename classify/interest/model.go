package interest

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"time"
)

// A Signal is what a person did with an item.
type Signal uint8

// The signals. Stored models contain these numbers.
const (
	Opened  Signal = iota + 1
	Starred        // given a star
	More           // "more of this"
	Skipped        // listed above an opened item and not opened
	Hidden         // "less of this"
	Read           // visible for as long as reading a part of it takes
	Left           // closed at once after it was opened

	signalsEnd
)

// signalNames are the names of signals in requests and exports.
var signalNames = [signalsEnd]string{Opened: "opened", Starred: "starred", More: "more", Skipped: "skipped", Hidden: "hidden", Read: "read", Left: "left"}

// String returns the name of the signal.
func (s Signal) String() string { return signalNames[s] }

// ParseSignal returns the signal of a name, false if there is none.
func ParseSignal(name string) (Signal, bool) {
	n := slices.Index(signalNames[:], name)
	return Signal(n), n >= int(Opened)
}

// signalWeights are what signals add to the counts of an item's features: positive to those for it, negative to those
// against it. An opened item that is left counts little.
var signalWeights = [signalsEnd]float64{Opened: 1, Starred: 2, More: 3, Skipped: -0.3, Hidden: -3, Read: 1, Left: -0.7}

const (
	halfLife = 14 * 24 * time.Hour // after which a signal counts half
	forgiven = 0.02                // a count below this is dropped

	maxFeatures = 1000
	maxSignals  = 200 // that are remembered, so that a repeated one is ignored
	maxDays     = 30  // with numbers of opened items
	maxItemID   = 64  // bytes
)

// A Model contains what was learned of a person. The zero Model has learned nothing.
type Model struct {
	at           time.Time // of the counts, which decay from then on
	liked, other float64   // sums of the weights for and against items
	counts       map[Key]count
	signals      []Entry // oldest first
	days         []Day   // oldest first
}

// A count is the number of items with a feature, by weights, that a person liked, and that were passed over.
type count struct {
	liked, other float64
	name         string
}

// An Entry is a signal that was learned from.
type Entry struct {
	Item   string // ID
	Signal Signal
	At     time.Time // in seconds
}

// A Day has the numbers of items that were opened on a day.
type Day struct {
	Day       time.Time // midnight UTC
	Opened    int
	Good, Bad int // those of Opened with a positive and a negative sentiment
}

// A Learned is a feature with its decayed counts of items.
type Learned struct {
	Key          Key
	Kind         FeatureKind
	Name         string
	Liked, Other float64
}

// Learn adds a signal on an item. It reports false, and changes nothing, if the same signal on the item is among the
// last 200. A signal may be older than others: it counts less then.
func (m *Model) Learn(item string, features []Feature, s Signal, at time.Time) bool {
	at = at.UTC().Truncate(time.Second)
	if len(item) > maxItemID || slices.ContainsFunc(m.signals, func(e Entry) bool { return e.Item == item && e.Signal == s }) {
		return false
	}
	m.signals = append(m.signals, Entry{item, s, at})
	if len(m.signals) > maxSignals {
		m.signals = slices.Delete(m.signals, 0, len(m.signals)-maxSignals)
	}
	if s == Opened {
		m.addDay(at)
	}
	m.add(features, signalWeights[s]*m.advance(at))
	return true
}

// add adds a weight to the counts of features.
func (m *Model) add(features []Feature, weight float64) {
	if m.counts == nil {
		m.counts = map[Key]count{}
	}
	m.liked += max(weight, 0)
	m.other += max(-weight, 0)
	for _, f := range features {
		c := m.counts[f.Key]
		c.liked += max(weight, 0)
		c.other += max(-weight, 0)
		c.name = f.Name
		m.counts[f.Key] = c
	}
	m.bound()
}

// advance lets the counts decay until a time, and returns the weight of a signal of that time: less than 1 if counts are
// newer.
func (m *Model) advance(at time.Time) float64 {
	if m.at.IsZero() {
		m.at = at
	}
	left := math.Exp2(-float64(at.Sub(m.at)) / float64(halfLife))
	if left >= 1 {
		return 1 / left
	}
	m.at = at
	m.liked *= left
	m.other *= left
	for key, c := range m.counts {
		c.liked *= left
		c.other *= left
		if m.counts[key] = c; c.liked+c.other < forgiven {
			delete(m.counts, key)
		}
	}
	return 1
}

// bound drops the features with the lowest counts, a tenth of them at once.
func (m *Model) bound() {
	if len(m.counts) <= maxFeatures {
		return
	}
	keys := slices.SortedFunc(maps.Keys(m.counts), func(a, b Key) int {
		x, y := m.counts[a], m.counts[b]
		return cmp.Or(cmp.Compare(x.liked+x.other, y.liked+y.other), cmp.Compare(a, b))
	})
	for _, key := range keys[:len(keys)-maxFeatures*9/10] {
		delete(m.counts, key)
	}
}

// addDay counts an opened item.
func (m *Model) addDay(at time.Time) {
	day := at.Truncate(24 * time.Hour)
	n, is := slices.BinarySearchFunc(m.days, day, func(d Day, t time.Time) int { return d.Day.Compare(t) })
	if !is {
		m.days = slices.Insert(m.days, n, Day{Day: day})
	}
	m.days[n].Opened++
	if len(m.days) > maxDays {
		m.days = slices.Delete(m.days, 0, len(m.days)-maxDays)
	}
}

// minSentiment is the amount from which a sentiment counts as positive or negative, as usual for VADER.
const minSentiment = 0.05

// CountSentiment counts the sentiment of an item that was opened, after its signal was learned.
func (m *Model) CountSentiment(sentiment float64, at time.Time) {
	day := at.UTC().Truncate(24 * time.Hour)
	for n := range m.days {
		switch d := &m.days[n]; {
		case !d.Day.Equal(day):
		case sentiment >= minSentiment:
			d.Good++
		case sentiment <= -minSentiment:
			d.Bad++
		}
	}
}

// Signals returns the last signals, oldest first.
func (m *Model) Signals() []Entry { return slices.Clone(m.signals) }

// Days returns the numbers of items opened on the last 30 days with any, oldest first.
func (m *Model) Days() []Day { return slices.Clone(m.days) }

// Features returns what was learned of features, decayed until now: those liked most first.
func (m *Model) Features(now time.Time) []Learned {
	left := 1.0
	if age := now.Sub(m.at); age > 0 {
		left = math.Exp2(-float64(age) / float64(halfLife))
	}
	list := make([]Learned, 0, len(m.counts))
	for key, c := range m.counts {
		list = append(list, Learned{key, key.Kind(), c.name, c.liked * left, c.other * left})
	}
	slices.SortFunc(list, func(a, b Learned) int {
		return cmp.Or(cmp.Compare(b.Liked, a.Liked), cmp.Compare(a.Other, b.Other), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return list
}
