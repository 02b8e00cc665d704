package date

import (
	"testing"
	"time"
)

// TestParse_NoLayoutIsParsedWrongly formats moments in every combination of a day, a clock and a zone below.
// The result must equal that of package time with the layout, or be rejected.
func TestParse_NoLayoutIsParsedWrongly(t *testing.T) {
	days := []string{
		"Mon, 02 Jan 2006", "Mon, 2 Jan 2006", "Mon 02 Jan 2006", "02 Jan 2006", "2 Jan 06", "Monday, 02-Jan-06", "02-Jan-2006", "02/Jan/2006",
		"January 2, 2006", "Jan 2 2006", "Jan. 02, 2006", "Mon, Jan 2, 2006", "Monday, January 2, 2006", "2 January 2006", "2. January 2006",
		"2006 January 2", "2006-Jan-02", "2006-01-02", "2006-1-2", "2006/01/02", "2006.01.02", "20060102", "2006-002", "2006. 1. 2.",
		"01/02/2006", "02/01/2006", "1/2/2006", "2/1/2006", "02-01-2006", "01-02-2006", "02.01.2006", "2.1.2006", "2. 1. 2006", "02 01 2006",
		"Mon, 01/02/2006", "Mon, 02/01/2006", "Mon 02.01.2006", "Mon, 02 01 2006",
		"01/02/06", "02/01/06", "06/01/02", "06-01-02", "02.01.06", "06.01.02", "1/2/06", "Mon, 06-01-02", "January 2006", "2006-01",
	}
	clocks := []string{"", " 15:04:05", " 15:04", " 3:04 PM", " 03:04:05pm", "T15:04:05", "T15:04", "T150405", "T15", ", 15:04", " - 15:04", " 15:04:05.000", " 15h04", " 15.04"}
	zones := []string{"", " GMT", " -0700", "-0700", "-07:00", " -07:00", "Z07:00", " GMT-07:00", "Z", " +0000 UTC"}
	written, read, dates := 0, 0, 40
	if testing.Short() {
		dates = 8
	}
	for i, day := range days {
		for _, clock := range clocks {
			for _, z := range zones {
				layout := day + clock + z
				for n := range dates {
					offset := time.FixedZone("", (n%25-12)*3600)
					text := moments(n, i).In(offset).Format(layout)
					want, err := time.Parse(layout, text)
					if err != nil {
						continue
					}
					written++
					got, ok := Parse(text, "en")
					if ok {
						read++
					}
					if ok && !got.Equal(want) {
						t.Errorf("%q by %q is %s, want %s", text, layout, got, want.UTC())
						break
					}
				}
			}
		}
	}
	t.Logf("%d texts, %d read", written, read)
	if read*2 < written {
		t.Errorf("%d of %d texts are read, less than half", read, written)
	}
}

// moments returns a moment derived from its arguments, from 1990 to 2049.
func moments(n, i int) time.Time {
	seconds := uint64(n*1000003+i*7919+17) * 0x9E3779B97F4A7C15 >> 32 % (60 * 365 * 86400)
	return time.Unix(631152000+int64(seconds), 0).UTC()
}
