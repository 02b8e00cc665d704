package schedule

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // for systems without time zone data

	"feedmesh/storage"
)

func parsed(t testing.TB, text string) Schedule {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return s
}

func TestParse_PrintsWhatItReads(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "",
		"  ":                                    "",
		"hourly":                                "hourly",
		"HOURLY":                                "hourly",
		"daily 07:30 Europe/Berlin":             "daily 07:30 Europe/Berlin",
		" daily  7:30  UTC ":                    "daily 07:30 UTC",
		"weekly mon 00:00 Asia/Tokyo":           "weekly mon 00:00 Asia/Tokyo",
		"Weekly Sun 23:59 America/New_York":     "weekly sun 23:59 America/New_York",
		"quiet 22:00-07:00 Europe/Moscow":       "quiet 22:00-07:00 Europe/Moscow",
		"hourly quiet 12:00-13:00 UTC":          "hourly quiet 12:00-13:00 UTC",
		"daily 06:00 UTC quiet 22:00-07:00 UTC": "daily 06:00 UTC quiet 22:00-07:00 UTC",
		"weekly fri 18:00 Europe/Berlin quiet 20:00-16:00 America/New_York": "weekly fri 18:00 Europe/Berlin quiet 20:00-16:00 America/New_York",
	} {
		if got := parsed(t, text).String(); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestParse_ErrorsStateTheProblemAndAnExample(t *testing.T) {
	for text, want := range map[string]string{
		"sometimes":                          `"sometimes" is not a schedule; write hourly, daily 07:30 Europe/Berlin or weekly mon 07:30 Europe/Berlin, or leave it empty to send at once`,
		"daily":                              "a daily schedule has a time and a zone; write daily 07:30 Europe/Berlin",
		"daily 07:30":                        "a daily schedule has a time and a zone; write daily 07:30 Europe/Berlin",
		"daily 24:00 UTC":                    `"24:00" is not a time of the day; write it as 07:30, between 00:00 and 23:59`,
		"daily 7 UTC":                        `"7" is not a time of the day; write it as 07:30, between 00:00 and 23:59`,
		"daily 07:30 Berlin":                 `"Berlin" is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC`,
		"daily 07:30 Local":                  `"Local" is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC`,
		"daily 07:30 ../../etc/passwd":       `"../../etc/passwd" is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC`,
		"daily 07:30 UTC UTC":                `"UTC" does not end a schedule; only quiet hours may follow, such as quiet 22:00-07:00 Europe/Berlin`,
		"weekly 07:30 UTC":                   "a weekly schedule has a day, a time and a zone; write weekly mon 07:30 Europe/Berlin",
		"weekly monday 07:30 UTC":            `"monday" is not a day; write mon, tue, wed, thu, fri, sat or sun, such as weekly mon 07:30 Europe/Berlin`,
		"hourly quiet":                       `"quiet" does not end a schedule; only quiet hours may follow, such as quiet 22:00-07:00 Europe/Berlin`,
		"quiet 22:00 UTC":                    `"22:00" is not a range of times; write quiet 22:00-07:00 Europe/Berlin`,
		"quiet 22:00-25:00 UTC":              `"25:00" is not a time of the day; write it as 07:30, between 00:00 and 23:59`,
		"quiet 22:00-07:00 Mars":             `"Mars" is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC`,
		"quiet 07:00-07:00 UTC":              "quiet hours 07:00-07:00 leave less than 4 hours of the day; write quiet 22:00-07:00 Europe/Berlin",
		"quiet 07:00-03:01 UTC":              "quiet hours 07:00-03:01 leave less than 4 hours of the day; write quiet 22:00-07:00 Europe/Berlin",
		"hourly " + strings.Repeat("x", 200): "the schedule is longer than 200 bytes; write it as daily 07:30 Europe/Berlin",
	} {
		if s, err := Parse(text); err == nil || err.Error() != want || s != (Schedule{}) {
			t.Errorf("%q: got %q, %v, want %s", text, s, err, want)
		}
	}
}

// Clocks of Berlin: 02:00 became 03:00 on 29 March 2026, and 03:00 became 02:00 on 25 October 2026.
func TestNext(t *testing.T) {
	for _, test := range []struct{ schedule, at, want string }{
		{"", "2026-01-05T10:00:01Z", "2026-01-05T10:00:01Z"},
		{"hourly", "2026-01-05T10:00:00Z", "2026-01-05T10:00:00Z"},
		{"hourly", "2026-01-05T10:00:01Z", "2026-01-05T11:00:00Z"},

		{"daily 07:30 Asia/Tokyo", "2026-01-05T22:29:59Z", "2026-01-05T22:30:00Z"}, // no clock changes, +09:00
		{"daily 07:30 Asia/Tokyo", "2026-01-05T22:30:00Z", "2026-01-05T22:30:00Z"},
		{"daily 07:30 Asia/Tokyo", "2026-01-05T22:30:01Z", "2026-01-06T22:30:00Z"},
		{"daily 07:30 Asia/Tokyo", "2026-03-28T23:00:00Z", "2026-03-29T22:30:00Z"},
		{"weekly mon 00:00 Asia/Tokyo", "2026-01-04T14:00:00Z", "2026-01-04T15:00:00Z"},
		{"weekly mon 00:00 Asia/Tokyo", "2026-01-04T15:00:01Z", "2026-01-11T15:00:00Z"},
		{"weekly sun 00:00 Asia/Tokyo", "2026-01-04T15:00:01Z", "2026-01-10T15:00:00Z"},

		{"daily 07:30 Europe/Berlin", "2026-03-28T07:00:00Z", "2026-03-29T05:30:00Z"}, // 23 hours after the last
		{"daily 07:30 Europe/Berlin", "2026-10-24T06:00:00Z", "2026-10-25T06:30:00Z"}, // 25 hours after the last
		{"daily 02:30 Europe/Berlin", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"}, // 03:00, since there is no 02:30
		{"daily 02:00 Europe/Berlin", "2026-03-28T02:00:00Z", "2026-03-29T01:00:00Z"},
		{"daily 02:30 Europe/Berlin", "2026-03-29T01:00:01Z", "2026-03-30T00:30:00Z"},
		{"daily 02:30 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"}, // the first 02:30
		{"daily 02:30 Europe/Berlin", "2026-10-25T00:30:01Z", "2026-10-26T01:30:00Z"}, // not the second
		{"daily 03:00 Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T02:00:00Z"},
		{"weekly sun 02:30 Europe/Berlin", "2026-03-23T00:00:00Z", "2026-03-29T01:00:00Z"},
		{"weekly sun 02:30 Europe/Berlin", "2026-10-25T00:30:01Z", "2026-11-01T01:30:00Z"},
		{"daily 23:30 America/Nuuk", "2026-03-28T12:00:00Z", "2026-03-29T01:00:00Z"}, // 23:00 became 00:00
		{"daily 09:00 Pacific/Apia", "2011-12-29T20:00:00Z", "2011-12-30T10:00:00Z"}, // 30 December was skipped

		{"quiet 22:00-07:00 Europe/Berlin", "2026-01-05T20:59:59Z", "2026-01-05T20:59:59Z"},
		{"quiet 22:00-07:00 Europe/Berlin", "2026-01-05T21:00:00Z", "2026-01-06T06:00:00Z"},
		{"quiet 22:00-07:00 Europe/Berlin", "2026-01-06T05:59:59Z", "2026-01-06T06:00:00Z"},
		{"quiet 22:00-07:00 Europe/Berlin", "2026-01-06T06:00:00Z", "2026-01-06T06:00:00Z"},
		{"quiet 22:00-07:00 Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T05:00:00Z"},
		{"quiet 22:00-07:00 Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T06:00:00Z"},
		{"quiet 22:00-02:30 Europe/Berlin", "2026-03-28T22:00:00Z", "2026-03-29T01:00:00Z"},
		{"quiet 22:00-02:30 Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T00:30:00Z"},
		{"quiet 02:10-02:40 Europe/Berlin", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"}, // skipped
		{"quiet 02:10-02:40 Europe/Berlin", "2026-03-30T00:20:00Z", "2026-03-30T00:40:00Z"},
		{"quiet 00:00-12:00 Asia/Tokyo", "2026-01-05T15:00:00Z", "2026-01-06T03:00:00Z"},
		{"quiet 20:00-12:00 Pacific/Apia", "2011-12-30T07:00:00Z", "2011-12-30T22:00:00Z"}, // two in a row

		{"hourly quiet 22:00-07:30 UTC", "2026-01-05T21:10:00Z", "2026-01-06T07:30:00Z"},
		{"hourly quiet 22:00-07:30 UTC", "2026-01-06T07:30:00Z", "2026-01-06T07:30:00Z"},
		{"hourly quiet 22:00-07:30 UTC", "2026-01-06T07:30:01Z", "2026-01-06T08:00:00Z"},
		{"daily 06:00 UTC quiet 22:00-07:00 UTC", "2026-01-05T12:00:00Z", "2026-01-06T07:00:00Z"},
		{"daily 06:00 UTC quiet 22:00-07:00 UTC", "2026-01-06T06:30:00Z", "2026-01-06T07:00:00Z"}, // with those that wait since 06:00
		{"daily 06:00 UTC quiet 22:00-07:00 UTC", "2026-01-06T07:00:01Z", "2026-01-07T07:00:00Z"},
		{"daily 08:00 UTC quiet 22:00-07:00 UTC", "2026-01-06T06:30:00Z", "2026-01-06T08:00:00Z"},
		{"weekly mon 06:00 UTC quiet 22:00-07:00 UTC", "2026-01-06T06:30:00Z", "2026-01-12T07:00:00Z"},
		{"daily 07:00 UTC quiet 22:00-07:00 UTC", "2026-01-05T12:00:00Z", "2026-01-06T07:00:00Z"},
	} {
		at, _ := time.Parse(time.RFC3339, test.at)
		if got := parsed(t, test.schedule).Next(at).Format(time.RFC3339); got != test.want {
			t.Errorf("%q at %s: got %s, want %s", test.schedule, test.at, got, test.want)
		}
	}
}

// checkNext checks what holds for each schedule at each time.
func checkNext(t *testing.T, s Schedule, at time.Time) {
	t.Helper()
	next := s.Next(at)
	if next.Before(at) || next.After(storage.LatestDue(at)) {
		t.Errorf("%q at %v: got %v, want at most 8 days later", s, at, next)
	}
	if again := s.Next(next); !again.Equal(next) {
		t.Errorf("%q: %v is next, but its next is %v", s, next, again)
	}
	if between := at.Add(next.Sub(at) / 2); !s.Next(between).Equal(next) {
		t.Errorf("%q: next of %v is %v, but that of %v is %v", s, at, next, between, s.Next(between))
	}
}

func TestNext_HoldsEachQuarterOfAnHourOfAYear(t *testing.T) {
	step := 15 * time.Minute
	if testing.Short() {
		step = 7 * time.Hour
	}
	for _, text := range []string{
		"daily 02:30 Europe/Berlin quiet 22:00-02:15 America/New_York",
		"weekly sun 02:00 Australia/Lord_Howe quiet 01:00-21:00 Europe/Berlin",
		"weekly sat 23:30 America/Nuuk quiet 03:00-23:00 America/Nuuk",
		"quiet 23:45-19:45 Africa/Casablanca",
	} {
		s := parsed(t, text)
		for at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC); at.Year() == 2026; at = at.Add(step) {
			checkNext(t, s, at)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "hourly", "daily 07:30 Europe/Berlin", "weekly mon 02:30 Europe/Berlin quiet 22:00-07:00 UTC", "quiet 01:00-21:00 Pacific/Apia", "weekly x",
		"weekly sun 10:00 Pacific/Kwajalein quiet 10:00-06:00 Asia/Manila",
	} {
		f.Add(text, int64(1_774_746_000))
	}
	f.Fuzz(func(t *testing.T, text string, seconds int64) {
		s, err := Parse(text)
		if err != nil {
			if s != (Schedule{}) || err.Error() == "" {
				t.Errorf("%q: got %v with an error", text, s)
			}
			return
		}
		if again, err := Parse(s.String()); err != nil || again.String() != s.String() {
			t.Errorf("%q: prints %q, which reads as %q, %v", text, s, again, err)
		}
		checkNext(t, s, time.Unix(seconds%(4e9), 0).UTC())
	})
}

func TestIsQuiet(t *testing.T) {
	s := parsed(t, "daily 08:00 UTC quiet 22:00-07:00 UTC")
	for clock, want := range map[string]bool{"21:59": false, "22:00": true, "06:59": true, "07:00": false, "12:00": false} {
		at, err := time.Parse("2006-01-02 15:04", "2026-11-27 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.IsQuiet(at); got != want {
			t.Errorf("%s: got %v", clock, got)
		}
	}
	if parsed(t, "hourly").IsQuiet(time.Now()) {
		t.Error("a schedule without quiet hours has some")
	}
}
