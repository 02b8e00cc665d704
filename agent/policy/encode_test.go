package policy

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// habitual returns a model of a feed that publishes at random, but by day only.
func habitual(perDay float64, days int) Model {
	r := rand.New(rand.NewPCG(1, uint64(perDay*100)))
	var dates []time.Time
	for range int(perDay * float64(days)) {
		at := monday.Add(-time.Duration(r.IntN(days))*day - time.Duration(r.Int64N(int64(12*time.Hour))))
		dates = append(dates, at)
	}
	var m Model
	m.Learn(dates, monday)
	m.SetZone(180)
	return m
}

func TestAModelSurvivesItsBytes(t *testing.T) {
	t.Parallel()
	for _, m := range []Model{{}, habitual(0.2, 30), habitual(2, 40), habitual(500, 40)} {
		b, err := m.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var got Model
		if err := got.UnmarshalBinary(b); err != nil || got != m {
			t.Errorf("got %+v (%v), want %+v", got, err, m)
		}
	}
}

func TestAModelIsSmall(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		perDay float64
		most   int
	}{{0, 1}, {0.2, 70}, {2, 120}, {5000, 400}} {
		var m Model
		if c.perDay > 0 {
			m = habitual(c.perDay, 40)
		}
		if b, _ := m.MarshalBinary(); len(b) > c.most {
			t.Errorf("%v items a day take %d bytes, want at most %d", c.perDay, len(b), c.most)
		} else {
			t.Logf("%v items a day take %d bytes", c.perDay, len(b))
		}
	}
}

func TestBytesOfNoModelAreRefused(t *testing.T) {
	t.Parallel()
	whole, _ := habitual(2, 40).MarshalBinary()
	newer := slices.Clone(whole)
	newer[0]++
	for name, b := range map[string][]byte{
		"nothing": nil, "a newer version": newer, "too few": whole[:len(whole)-1], "too many": append(slices.Clone(whole), 0),
	} {
		m := habitual(1, 30)
		before := m
		if err := m.UnmarshalBinary(b); !errors.Is(err, errModel) || m != before {
			t.Errorf("%s: got %v, want that it is no model and nothing changes", name, err)
		}
	}
}

func FuzzUnmarshalModel(f *testing.F) {
	for _, m := range []Model{{}, habitual(0.2, 30), habitual(500, 40)} {
		b, _ := m.MarshalBinary()
		f.Add(b)
	}
	p, _ := budgeted(Settings{}, 8, monday)
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Model
		if m.UnmarshalBinary(b) != nil {
			return
		}
		again, err := m.MarshalBinary()
		var second Model
		if err != nil || second.UnmarshalBinary(again) != nil || second != m {
			t.Fatalf("%x becomes %+v, then %x, then %+v", b, m, again, second)
		}
		m.Learn(ago(1, 2, 3), monday)
		feed := &Feed{Model: m, Polled: monday}
		wait := p.Next(feed, monday, 1).Next.Sub(monday)
		if wait <= 0 || wait > 8*day {
			t.Fatalf("%x: is polled after %v", b, wait)
		}
	})
}
