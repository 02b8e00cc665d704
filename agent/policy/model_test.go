package policy

import (
	"math"
	"slices"
	"testing"
	"time"
)

func ago(hours ...float64) (dates []time.Time) {
	for _, h := range hours {
		dates = append(dates, monday.Add(-time.Duration(h*float64(time.Hour))))
	}
	return dates
}

func TestRateOfOneDocument(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		dates      []time.Time
		least, max float64
	}{
		{"no dates", nil, 0, 0},
		{"zero and future dates only", []time.Time{{}, monday.Add(time.Hour)}, 0, 0},
		{"a document of one day", ago(0.1, 8, 16, 24), 2.5, 3.1},
		{"four a day for a year", published(4, 365, monday), 3.9, 4.1},
		{"made at one stroke, an hour ago", ago(1, 1, 1, 1, 1), 20, 100},
		{"silent for ten days", ago(240, 300), 0.03, 0.2},
		{"one entry, an hour old", ago(1), 0.01, 0.5},
	} {
		if got := Rate(c.dates, monday); got < c.least || got > c.max {
			t.Errorf("%s: got %v items a day, want %v to %v", c.name, got, c.least, c.max)
		}
	}
}

func TestLearningTwiceIsHarmless(t *testing.T) {
	t.Parallel()
	var m Model
	dates := published(3, 10, monday)
	m.Learn(dates, monday)
	once := m
	m.Learn(dates, monday)
	m.Learn(dates[5:], monday)
	if m != once {
		t.Errorf("got %+v, want %+v", m, once)
	}
}

func TestOverlappingDocumentsTellWhatOneWould(t *testing.T) {
	t.Parallel()
	dates := published(10, 30, monday)
	var m Model
	for n := 20; n <= len(dates); n += 7 {
		m.Learn(dates[n-20:n], dates[n-1])
	}
	m.Learn(dates[len(dates)-20:], monday)
	if got, want := m.Rate(monday), Rate(dates, monday); math.Abs(got/want-1) > 0.05 {
		t.Errorf("from documents of 20: got %v items a day, want %v", got, want)
	}
}

func TestAnItemCountsHalfAfterTwoWeeks(t *testing.T) {
	t.Parallel()
	var m Model
	m.Learn(published(4, 365, monday), monday)
	later := monday.Add(recently)
	if got, want := m.Rate(later), m.Rate(monday)/2; math.Abs(got/want-1) > 0.02 {
		t.Errorf("after 14 days of silence: got %v items a day, want half of before, %v", got, want)
	}
}

func TestDatesOfTheRequestTellNothing(t *testing.T) {
	t.Parallel()
	var m Model
	if m.Learn(slices.Repeat([]time.Time{monday}, 10), monday) || m != (Model{}) {
		t.Errorf("ten entries dated now: got %+v, want nothing learned", m)
	}
	if !m.Learn(ago(0, 3, 5), monday) {
		t.Error("a document with one entry of just now tells nothing, want that it does")
	}
}

func TestFirstSeenCountsTellTheRateToo(t *testing.T) {
	t.Parallel()
	var m Model
	now := monday
	m.LearnFirstSeen(30, time.Time{}, now)
	if m.recent.items != 0 {
		t.Errorf("what the first document shows counts as %v items, want none", m.recent.items)
	}
	for range 40 { // two every four hours
		polled := now
		now = now.Add(4 * time.Hour)
		m.LearnFirstSeen(2, polled, now)
	}
	if got := m.Rate(now); math.Abs(got-12) > 0.5 {
		t.Errorf("got %v items a day, want 12", got)
	}
	for range 200 { // unchanged ones need not be told
		now = now.Add(4 * time.Hour)
	}
	if got := m.Rate(now); got > 2 {
		t.Errorf("after a month of silence: got %v items a day, want few", got)
	}
}

func TestTheZoneIsThatOfTheNewestDateWithOne(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("", 3*3600), time.FixedZone("", -5*3600)
	var m Model
	if _, known := m.Zone(); known {
		t.Error("the zero model knows a zone")
	}
	m.Learn(ago(5), monday)
	if _, known := m.Zone(); known {
		t.Error("a date in UTC tells a zone")
	}
	m.Learn([]time.Time{monday.Add(-3 * time.Hour).In(west), monday.Add(-2 * time.Hour).In(east), monday.Add(-time.Hour)}, monday)
	if got, known := m.Zone(); got != 180 || !known {
		t.Errorf("got %v, %v, want 180 minutes", got, known)
	}
	m.SetZone(100 * 60)
	if got, _ := m.Zone(); got != 180 {
		t.Errorf("after an impossible zone: got %v, want 180 still", got)
	}
}

func TestHabitsMoveToTheZoneAndStayThroughSummerTime(t *testing.T) {
	t.Parallel()
	var m Model
	m.Learn([]time.Time{monday, monday.Add(-day)}, monday.Add(time.Hour))
	m.SetZone(60)
	if m.profile.quarters[13*4] == 0 || m.profile.quarters[12*4] != 0 {
		t.Error("12 o'clock UTC is not 13 o'clock in a zone an hour east")
	}
	m.SetZone(120)
	if m.profile.quarters[13*4] == 0 {
		t.Error("habits moved with summer time")
	}
}

func TestAFullBinKeepsTheProfilesShape(t *testing.T) {
	t.Parallel()
	var p profile
	for range 30_000 {
		p.add(monday, monday)
		p.add(monday.Add(time.Hour), monday)
	}
	a, b := p.quarters[12*4], p.quarters[13*4]
	if a < 1000 || math.Abs(float64(a)/float64(b)-1) > 0.1 {
		t.Errorf("two equal bins hold %d and %d", a, b)
	}
}

func TestItemsThatComeAtOnceAreABurst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		dates []time.Time
		want  float64
	}{
		"one by one":        {ago(1, 5, 9, 13), 1},
		"four after a lone": {ago(50, 1, 1, 1, 1), 4},
		"two and two":       {ago(50, 5, 5, 1, 1), 2},
	} {
		var m Model
		m.Learn(c.dates, monday)
		if got := m.burst(); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%s: an item comes among %.2f, want %v", name, got, c.want)
		}
	}
}
