package console

import (
	"testing"
	"time"

	"feedmesh/subjects"
)

func TestAPictureOfPollsSaysHowManyItShows(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for want, polls := range map[string][]subjects.Poll{
		"": {{Took: ms(5), Before: 9}},
		"The last 3 polls: 1 failed; half took at most 20 ms, the longest 1,500 ms.":                  {{Took: ms(20)}, {Took: ms(1500), Class: "timeout"}, {Took: ms(5)}},
		"The last 14 polls: 1 failed; of the 3 shown, half took at most 20 ms, the longest 1,500 ms.": {{Took: ms(20), Before: 9}, {Took: ms(1500), Class: "timeout", Before: 2}, {Took: ms(5)}},
	} {
		got := ""
		if s := pollSparkOf(polls); s != nil {
			got = s.Words
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
