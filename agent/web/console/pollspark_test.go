package console

import (
	"testing"
	"time"

	"feedmesh/agent/web/locale"
	"feedmesh/subjects"
)

func TestPollSpark_StatesNumberOfPolls(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	for want, polls := range map[string][]subjects.Poll{
		"": {{Duration: ms(5), UnchangedBefore: 9}},
		"The last 3 polls: 1 failed; half took at most 20 ms, the longest 1,500 ms.":                  {{Duration: ms(20)}, {Duration: ms(1500), Class: "timeout"}, {Duration: ms(5)}},
		"The last 14 polls: 1 failed; of the 3 shown, half took at most 20 ms, the longest 1,500 ms.": {{Duration: ms(20), UnchangedBefore: 9}, {Duration: ms(1500), Class: "timeout", UnchangedBefore: 2}, {Duration: ms(5)}},
	} {
		got := ""
		if s := pollSparkOf(polls); s != nil {
			got = s.Words.In(locale.English)
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
