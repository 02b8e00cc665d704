package console

import (
	"slices"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/agent/wire"
)

func TestSpark_ShowsActivityUpToNow(t *testing.T) {
	for _, c := range []struct {
		hours []int
		ago   time.Duration // age of the first item
		want  *spark
		words string
	}{
		{nil, time.Hour, nil, ""},
		{[]int{7}, 0, &spark{Width: 3, Height: 24, Path: "M0 24h3v-24h-3z"}, "7 items in the last 1 hour"},
		{[]int{1, 0, 4}, 3 * time.Hour, &spark{Width: 15, Height: 24, Path: "M0 24h3v-6h-3zM8 24h3v-24h-3z"}, "5 items in the last 4 hours, at most 4 within 1 hour"},
		{[]int{1, 1000}, time.Hour, &spark{Width: 7, Height: 24, Path: "M0 24h3v-2h-3zM4 24h3v-24h-3z"}, "1,001 items in the last 2 hours, at most 1,000 within 1 hour"},
		{[]int{1, 1}, 400 * time.Hour, &spark{Width: 167, Height: 24, Path: "M0 24h3v-24h-3z"}, "2 items within 168 hours"},
	} {
		got := sparkOf(wire.HourlyItems{Since: noon.Add(-c.ago), Hours: c.hours}, noon)
		if got != nil {
			if words := got.Words.In(locale.English); words != c.words {
				t.Errorf("%v: got %q, want %q", c.hours, words, c.words)
			}
			got.Words = nil
		}
		if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
			t.Errorf("%v: got %+v, want %+v", c.hours, got, c.want)
		}
	}
	s := sparkOf(wire.HourlyItems{Since: noon.Add(-167 * time.Hour), Hours: slices.Repeat([]int{1}, 168)}, noon)
	if strings.Count(s.Path, "M") != 42 || s.Width > 4*sparkBars {
		t.Errorf("got %d bars, want a week in bars of four hours", strings.Count(s.Path, "M"))
	}
}
