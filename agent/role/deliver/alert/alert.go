// Package alert has the conditions of alerts: a subscription with one sends a message when it holds, in place of each item.
package alert

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// A Kind is what a condition compares.
type Kind string

// The kinds of conditions.
const (
	More    Kind = "more"    // more than N items enter the views within a time
	Story   Kind = "story"   // an item enters whose story N publishers cover
	Event   Kind = "event"   // an item enters that begins a new event of a story
	Burst   Kind = "burst"   // items enter a view faster than usual
	Silence Kind = "silence" // no item enters the views for a time
	Feed    Kind = "feed"    // a feed that the views read begins to fail
	Falls   Kind = "falls"   // the mean sentiment of the items that enter the views falls
)

// Bounds of conditions.
const (
	MaxItems      = 400 // of More, below the items that are read
	MaxPublishers = 1000
	maxFall       = 200 // of sentiments, which are from -1 to 1, in hundredths
	minTime       = time.Minute
	maxTime       = 30 * 24 * time.Hour
)

// A Condition is when an alert is sent. The zero value is none: each item is sent.
type Condition struct {
	Kind   Kind
	N      int           // of More and Story; of Falls in hundredths
	Within time.Duration // of More, Silence and Falls
}

// Parse reads a condition:
//
//	more than N in TIME
//	story reaches N publishers
//	new event
//	burst
//	silence of TIME
//	feed fails
//	sentiment falls by N in TIME
//
// N is a number, of a sentiment with at most two decimals. TIME is a number and m, h or d, such as 90m. An empty text is the zero Condition. The error gives a valid example.
func Parse(text string) (c Condition, err error) {
	words := strings.Fields(strings.ToLower(text))
	form := strings.Join(words, " ")
	switch {
	case len(words) == 0:
		return Condition{}, nil
	case len(words) == 5 && words[0] == "more" && words[1] == "than" && words[3] == "in":
		c.Kind = More
		if c.N, err = strconv.Atoi(words[2]); err != nil || c.N < 1 || c.N > MaxItems {
			return Condition{}, fmt.Errorf("%q is no number of items from 1 to %d; write more than 20 in 1h", words[2], MaxItems)
		}
		c.Within, err = parseTime(words[4])
	case len(words) == 4 && words[0] == "story" && words[1] == "reaches" && words[3] == "publishers":
		c.Kind = Story
		if c.N, err = strconv.Atoi(words[2]); err != nil || c.N < 2 || c.N > MaxPublishers {
			return Condition{}, fmt.Errorf("%q is no number of publishers from 2 to %d; write story reaches 5 publishers", words[2], MaxPublishers)
		}
	case form == "new event":
		c.Kind = Event
	case form == "burst":
		c.Kind = Burst
	case len(words) == 3 && words[0] == "silence" && words[1] == "of":
		c.Kind = Silence
		c.Within, err = parseTime(words[2])
	case form == "feed fails":
		c.Kind = Feed
	case len(words) == 6 && strings.HasPrefix(form, "sentiment falls by ") && words[4] == "in":
		c.Kind = Falls
		if c.N, err = parseFall(words[3]); err == nil {
			c.Within, err = parseTime(words[5])
		}
	default:
		return Condition{}, fmt.Errorf("%q is no condition of an alert; write more than 20 in 1h, story reaches 5 publishers, new event, burst, silence of 6h, feed fails, or sentiment falls by 0.3 in 24h", text)
	}
	if err != nil {
		return Condition{}, err
	}
	return c, nil
}

// parseFall reads a difference of sentiments and returns it in hundredths.
func parseFall(text string) (int, error) {
	fall, err := strconv.ParseFloat(text, 64)
	n := math.Round(100 * fall)
	if err != nil || !(n >= 1 && n <= maxFall) || math.Abs(100*fall-n) > 1e-6 {
		return 0, fmt.Errorf("%q is no difference of sentiments from 0.01 to 2, with at most two decimals; write sentiment falls by 0.3 in 24h", text)
	}
	return int(n), nil
}

// units are the units of times.
var units = map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}

func parseTime(text string) (time.Duration, error) {
	last := len(text) - 1
	n, err := strconv.Atoi(text[:last])
	unit := units[text[last]]
	if err != nil || unit == 0 || n < 1 || n > int(maxTime/unit) || time.Duration(n)*unit < minTime {
		return 0, fmt.Errorf("%q is no time from 1m to 30d; write 90m, 6h or 2d", text)
	}
	return time.Duration(n) * unit, nil
}

// TimeText returns a time as [Parse] reads it.
func TimeText(d time.Duration) string {
	for _, unit := range []byte{'d', 'h', 'm'} {
		if d%units[unit] == 0 {
			return strconv.Itoa(int(d/units[unit])) + string(unit)
		}
	}
	return d.String()
}

// String returns the text of a condition, which [Parse] reads.
func (c Condition) String() string {
	switch c.Kind {
	case More:
		return fmt.Sprintf("more than %d in %s", c.N, TimeText(c.Within))
	case Story:
		return fmt.Sprintf("story reaches %d publishers", c.N)
	case Silence:
		return "silence of " + TimeText(c.Within)
	case Event:
		return "new event"
	case Feed:
		return "feed fails"
	case Falls:
		return fmt.Sprintf("sentiment falls by %s in %s", strconv.FormatFloat(c.Fall(), 'f', -1, 64), TimeText(c.Within))
	}
	return string(c.Kind)
}

// IsTimed reports whether the condition may begin to hold without a new item.
func (c Condition) IsTimed() bool {
	return c.Kind == Burst || c.Kind == Silence || c.Kind == Feed || c.Kind == Falls
}

// Fall returns the difference of sentiments of a condition of the kind Falls.
func (c Condition) Fall() float64 { return float64(c.N) / 100 }
