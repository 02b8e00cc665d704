package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"feedmesh/subjects"
)

// A pollSpark is a sparkline of a feed's last polls, oldest first. The height of a bar is the poll's
// duration.
type pollSpark struct {
	Width, Height int
	Good, Bad     string // SVG paths of successful and failed polls
	Words         string // text alternative
}

// pollSparkOf returns nil for fewer than two polls. polls are sorted newest first.
func pollSparkOf(polls []subjects.Poll) *pollSpark {
	if len(polls) < 2 {
		return nil
	}
	longest := max(slices.MaxFunc(polls, func(a, b subjects.Poll) int { return int(a.Duration - b.Duration) }).Duration, time.Millisecond)
	var good, bad strings.Builder
	all, failed, took := len(polls), 0, []time.Duration(nil)
	for i, p := range slices.Backward(polls) {
		height := max(2, int(int64(sparkHeight)*int64(p.Duration)/int64(longest)))
		to := &good
		if p.Class != "" {
			to = &bad
			failed++
		}
		all += p.UnchangedBefore
		took = append(took, p.Duration)
		addBar(to, len(polls)-1-i, height)
	}
	slices.Sort(took)
	s := &pollSpark{Width: widthOf(len(polls)), Height: sparkHeight, Good: good.String(), Bad: bad.String()}
	of := ""
	if all > len(polls) {
		of = fmt.Sprintf("of the %d shown, ", len(polls))
	}
	s.Words = fmt.Sprintf("The last %d polls: %s failed; %shalf took at most %s ms, the longest %s ms.",
		all, strconv.Itoa(failed), of, count(took[(len(took)-1)/2].Milliseconds()), count(longest.Milliseconds()))
	return s
}
