package policy

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// habitual returns the model of a feed that publishes at random during the day only.
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

func TestModel_MarshalRoundTrip(t *testing.T) {
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

func TestModel_EncodedSizeIsBounded(t *testing.T) {
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
			t.Errorf("%v items a day: got %d bytes, want at most %d", c.perDay, len(b), c.most)
		} else {
			t.Logf("%v items a day take %d bytes", c.perDay, len(b))
		}
	}
}

func TestModel_UnmarshalRejectsInvalidData(t *testing.T) {
	t.Parallel()
	encoded, _ := habitual(2, 40).MarshalBinary()
	newer := slices.Clone(encoded)
	newer[0]++
	for name, b := range map[string][]byte{
		"nothing": nil, "a newer version": newer, "too few": encoded[:len(encoded)-1], "too many": append(slices.Clone(encoded), 0),
	} {
		m := habitual(1, 30)
		before := m
		if err := m.UnmarshalBinary(b); !errors.Is(err, errModel) || m != before {
			t.Errorf("%s: got %v, want an error and no change", name, err)
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
			t.Fatalf("%x decodes to %+v, encodes to %x, decodes to %+v", b, m, again, second)
		}
		m.Learn(ago(1, 2, 3), monday)
		feed := &Feed{Model: m, Polled: monday}
		wait := p.Next(feed, monday, 1).Next.Sub(monday)
		if wait <= 0 || wait > 8*day {
			t.Fatalf("%x: got interval %v", b, wait)
		}
	})
}
