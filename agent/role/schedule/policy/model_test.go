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

func TestRate_OfOneDocument(t *testing.T) {
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
		{"all an hour ago", ago(1, 1, 1, 1, 1), 20, 100},
		{"silent for ten days", ago(240, 300), 0.03, 0.2},
		{"one entry, an hour old", ago(1), 0.01, 0.5},
	} {
		if got := Rate(c.dates, monday); got < c.least || got > c.max {
			t.Errorf("%s: got %v items a day, want %v to %v", c.name, got, c.least, c.max)
		}
	}
}

func TestModel_LearningTwiceIsHarmless(t *testing.T) {
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

func TestModel_OverlappingDocumentsEqualOne(t *testing.T) {
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

func TestModel_ItemWeightHalvesInTwoWeeks(t *testing.T) {
	t.Parallel()
	var m Model
	m.Learn(published(4, 365, monday), monday)
	later := monday.Add(recentHalfLife)
	if got, want := m.Rate(later), m.Rate(monday)/2; math.Abs(got/want-1) > 0.02 {
		t.Errorf("after 14 silent days: got %v items a day, want half, %v", got, want)
	}
}

func TestModel_DatesOfTheRequestAreIgnored(t *testing.T) {
	t.Parallel()
	var m Model
	if m.Learn(slices.Repeat([]time.Time{monday}, 10), monday) || m != (Model{}) {
		t.Errorf("ten entries dated now: got %+v, want an unchanged model", m)
	}
	if !m.Learn(ago(0, 3, 5), monday) {
		t.Error("got an unchanged model from one entry dated now, want it learned")
	}
}

func TestModel_LearnFirstSeenEstimatesTheRate(t *testing.T) {
	t.Parallel()
	var m Model
	now := monday
	m.LearnFirstSeen(30, time.Time{}, now)
	if m.recent.items != 0 {
		t.Errorf("got %v items from the first document, want none", m.recent.items)
	}
	for range 40 { // two every four hours
		polled := now
		now = now.Add(4 * time.Hour)
		m.LearnFirstSeen(2, polled, now)
	}
	if got := m.Rate(now); math.Abs(got-12) > 0.5 {
		t.Errorf("got %v items a day, want 12", got)
	}
	for range 200 { // unchanged documents may be omitted
		now = now.Add(4 * time.Hour)
	}
	if got := m.Rate(now); got > 2 {
		t.Errorf("after a silent month: got %v items a day, want few", got)
	}
}

func TestModel_ZoneIsThatOfTheNewestDate(t *testing.T) {
	t.Parallel()
	east, west := time.FixedZone("", 3*3600), time.FixedZone("", -5*3600)
	var m Model
	if m.hasZone {
		t.Error("got a zone from the zero model")
	}
	m.Learn(ago(5), monday)
	if m.hasZone {
		t.Error("got a zone from a UTC date")
	}
	m.Learn([]time.Time{monday.Add(-3 * time.Hour).In(west), monday.Add(-2 * time.Hour).In(east), monday.Add(-time.Hour)}, monday)
	if got := m.zone; got != 180 || !m.hasZone {
		t.Errorf("got %v, %v, want 180 minutes", got, m.hasZone)
	}
	m.SetZone(100 * 60)
	if got := m.zone; got != 180 {
		t.Errorf("after an invalid zone: got %v, want 180", got)
	}
}

func TestModel_ProfileFollowsTheZone(t *testing.T) {
	t.Parallel()
	var m Model
	m.Learn([]time.Time{monday, monday.Add(-day)}, monday.Add(time.Hour))
	m.SetZone(60)
	if m.profile.quarters[13*4] == 0 || m.profile.quarters[12*4] != 0 {
		t.Error("got 12:00 UTC not equal to 13:00 in UTC+1")
	}
	m.SetZone(120)
	if m.profile.quarters[13*4] == 0 {
		t.Error("got a shifted profile after the change to summer time")
	}
}

func TestProfile_FullBinKeepsTheShape(t *testing.T) {
	t.Parallel()
	var p profile
	for range 30_000 {
		p.add(monday, monday)
		p.add(monday.Add(time.Hour), monday)
	}
	a, b := p.quarters[12*4], p.quarters[13*4]
	if a < 1000 || math.Abs(float64(a)/float64(b)-1) > 0.1 {
		t.Errorf("got %d and %d in two equal bins", a, b)
	}
}

func TestModel_ItemsTogetherAreABurst(t *testing.T) {
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
		if got := m.burstSize(); math.Abs(got-c.want) > 0.02 {
			t.Errorf("%s: got a burst size of %.2f, want %v", name, got, c.want)
		}
	}
}
