package policy

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// hinted returns a feed with hints.
func hinted(r *rand.Rand, f Feed) *Feed {
	f.MaxAge = time.Duration(r.Int64N(int64(48 * time.Hour)))
	f.Hints = Hints{
		TTL: time.Duration(r.Int64N(int64(96 * time.Hour))), Period: time.Duration(r.Int64N(int64(96 * time.Hour))),
		SkipHours: r.Uint32() & (1<<24 - 1), SkipDays: uint8(r.Uint32()) & 127,
	}
	return &f
}

func TestHints_OnlyLengthenTheWait(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	r := rand.New(rand.NewPCG(1, 1))
	for _, rate := range []float64{0.05, 0.3, 1, 5, 50} {
		plain := learned(rate, monday)
		without := p.Next(plain, monday, 0).Next
		for range 200 {
			f := hinted(r, *plain)
			got := p.Next(f, monday, 0).Next
			if got.Before(without) || got.Sub(monday) > 24*time.Hour {
				t.Fatalf("%v items a day, %+v: got %v, want from %v to a day", rate, f.Hints, got.Sub(monday), without.Sub(monday))
			}
		}
	}
}

func TestHints_AreObeyed(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	for _, c := range []struct {
		name string
		hint func(f *Feed)
		want time.Duration
	}{
		{"ttl", func(f *Feed) { f.Hints.TTL = 5 * time.Hour }, 5 * time.Hour},
		{"update period", func(f *Feed) { f.Hints.Period = 7 * time.Hour }, 7 * time.Hour},
		{"max-age", func(f *Feed) { f.MaxAge = 4 * time.Hour }, 4 * time.Hour},
		{"max-age", func(f *Feed) { f.MaxAge = 100 * time.Hour }, 6 * time.Hour},
		{"ceiling", func(f *Feed) { f.Hints.TTL = 100 * time.Hour }, 24 * time.Hour},
	} {
		f := learned(0.3, monday)
		c.hint(f)
		if d := p.Next(f, monday, 0); d.Next.Sub(monday) != c.want || !strings.HasPrefix(d.Reason, c.name+": ") {
			t.Errorf("%s: got %v (%s), want %v", c.name, d.Next.Sub(monday), d.Reason, c.want)
		}
	}
}

func TestHints_ContradictedByHistoryAreIgnored(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	f := learned(12, monday)
	want := p.Next(f, monday, 0)
	f.Hints = Hints{TTL: 12 * time.Hour, Period: 24 * time.Hour}
	if got := p.Next(f, monday, 0); got != want {
		t.Errorf("item every two hours, ttl of twelve hours: got %v, want %v", got, want)
	}
}

// workdays returns a feed that publishes at 9 o'clock from Monday to Friday.
func workdays() *Feed {
	var dates []time.Time
	for d := range 28 {
		at := monday.Add(-time.Duration(d)*day - 3*time.Hour)
		if at.Weekday() != time.Saturday && at.Weekday() != time.Sunday {
			dates = append(dates, at)
		}
	}
	f := &Feed{Window: 20}
	f.Model.Learn(dates, monday)
	return f
}

func TestHints_HoursAndDaysAreSkipped(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	for _, c := range []struct {
		name  string
		hints Hints
		from  time.Time
		want  string
	}{
		{"an afternoon", Hints{SkipHours: 1<<12 | 1<<13 | 1<<14 | 1<<15}, monday, "Mon 16:00"},
		{"a weekend", Hints{SkipDays: 1<<time.Saturday | 1<<time.Sunday}, monday.Add(6*day - time.Hour), "Mon 00:00"},
		{"both", Hints{SkipDays: 1 << time.Sunday, SkipHours: 1}, monday.Add(6*day - time.Hour), "Mon 01:00"},
	} {
		f := workdays()
		f.Polled, f.Hints = c.from, c.hints
		d := p.Next(f, c.from, 0)
		if got := d.Next.Format("Mon 15:04"); got != c.want || !strings.HasPrefix(d.Reason, "skip: ") {
			t.Errorf("%s: got %s (%s), want %s", c.name, got, d.Reason, c.want)
		}
	}
}

func TestHints_PublishingHoursAndDaysAreNotSkipped(t *testing.T) {
	t.Parallel()
	p, _ := budgeted(Settings{}, 100, monday)
	f := workdays()
	f.Polled = monday.Add(-4 * time.Hour)
	want := p.Next(f, f.Polled, 0)
	if want.Next.Hour() != 9 {
		t.Fatalf("feed publishing at 9: got a poll at %v, which does not exercise the hint", want.Next)
	}
	f.Hints = Hints{SkipHours: 1 << 9, SkipDays: 1 << time.Monday}
	if got := p.Next(f, f.Polled, 0); got != want {
		t.Errorf("got %v (%s), want %v as without", got.Next, got.Reason, want.Next)
	}
}
