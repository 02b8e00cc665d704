package feed

import (
	"strconv"
	"strings"
)

// mostCommonZone returns the offset of most dates, in minutes east of UTC, and whether it indicates the
// publisher's zone. Many programs write all dates in UTC, so that UTC counts only if other offsets occur too.
// The newest date breaks a tie, because it reflects current summer or winter time. dates are newest first.
func mostCommonZone(dates []string) (minutes int, known bool) {
	votes := make(map[int]int)
	most := 0
	for i := len(dates) - 1; i >= 0; i-- { // the newest last
		offset, ok := writtenOffset(dates[i])
		if !ok {
			continue
		}
		known = known || offset != 0
		votes[offset]++
		if votes[offset] >= most {
			minutes, most = offset, votes[offset]
		}
	}
	return minutes, known
}

// writtenOffset returns the offset of a date's zone, in minutes. Zones that mean UTC without a place (Z, GMT,
// -0000 by RFC
// 5322) have none. A name in parentheses may follow an offset.
func writtenOffset(date string) (minutes int, ok bool) {
	date = strings.TrimSpace(date[max(0, len(date)-maxDated):])
	if i := strings.LastIndexByte(date, '('); i >= 0 && strings.HasSuffix(date, ")") {
		date = strings.TrimSpace(date[:i])
	}
	sign := strings.LastIndexAny(date, "+-")
	digits := strings.Replace(date[sign+1:], ":", "", 1)
	n, err := strconv.ParseUint(digits, 10, 16)
	if sign < 0 || len(digits) != len("hhmm") || err != nil {
		minutes, ok = namedZones[date[strings.LastIndexByte(date, ' ')+1:]]
		return minutes, ok
	}
	minutes = int(n/100*60 + n%100)
	if date[sign] == '-' {
		return -minutes, 0 < minutes && minutes <= 12*60
	}
	return minutes, minutes <= 14*60
}

// namedZones are the offsets, in minutes, of names of exactly one zone.
var namedZones = map[string]int{
	"EST": -5 * 60, "EDT": -4 * 60, "CST": -6 * 60, "CDT": -5 * 60,
	"MST": -7 * 60, "MDT": -6 * 60, "PST": -8 * 60, "PDT": -7 * 60,
	"WET": 0, "WEST": 60, "BST": 60, "CET": 60, "CEST": 2 * 60, "EET": 2 * 60, "EEST": 3 * 60,
}
