// Package schedule computes when the items of a subscription are sent: at once, every hour, or at a time of the day or the
// week, and never in quiet hours.
package schedule

import (
	"fmt"
	"strings"
	"time"
)

// A Schedule is a set of times at which waiting items may be sent. The zero value has all times: items are sent at once.
type Schedule struct {
	every interval
	day   time.Weekday // of a weekly schedule
	at    clock        // of a daily and a weekly schedule
	zone  *time.Location
	quiet quiet
}

// An interval is how often a schedule sends.
type interval int

const (
	atOnce interval = iota
	hourly          // at minute 0 of UTC
	daily
	weekly
)

// A clock is a time of the day, in minutes since midnight.
type clock int

func (c clock) String() string { return fmt.Sprintf("%02d:%02d", int(c)/60, int(c)%60) }

// quiet are hours of each day in which nothing is sent; there are none if zone is nil. They end on the next day unless from is
// before to.
type quiet struct {
	from, to clock
	zone     *time.Location
}

// minLoud is the part of the day, in minutes, that quiet hours leave. With it a weekly schedule sends at least every 8 days,
// the furthest that a process plans (storage.LatestDue).
const minLoud = 4 * 60

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} // in the order of [time.Weekday]

// maxText is the maximum length of a schedule, in bytes.
const maxText = 200

// Parse reads a schedule:
//
//	                              at once
//	hourly
//	daily HH:MM ZONE
//	weekly DAY HH:MM ZONE         DAY is mon, tue, wed, thu, fri, sat or sun
//
// each optionally followed by "quiet HH:MM-HH:MM ZONE". ZONE is a name of the IANA time zone database, such as Europe/Berlin.
// The error gives a valid example.
func Parse(text string) (Schedule, error) {
	if len(text) > maxText {
		return Schedule{}, fmt.Errorf("the schedule is longer than %d bytes; write it as daily 07:30 Europe/Berlin", maxText)
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return Schedule{}, nil
	}
	var s Schedule
	var err error
	rest := words[1:]
	switch strings.ToLower(words[0]) {
	case "hourly":
		s.every = hourly
	case "daily":
		rest, err = s.parseDaily(rest)
	case "weekly":
		rest, err = s.parseWeekly(rest)
	case "quiet":
		rest = words
	default:
		err = fmt.Errorf("%q is not a schedule; write hourly, daily 07:30 Europe/Berlin or weekly mon 07:30 Europe/Berlin, or leave it empty to send at once", words[0])
	}
	if err == nil && len(rest) > 0 {
		err = s.parseQuiet(rest)
	}
	if err != nil {
		return Schedule{}, err
	}
	return s, nil
}

func (s *Schedule) parseDaily(words []string) (rest []string, err error) {
	s.every = daily
	if len(words) < 2 {
		return nil, fmt.Errorf("a daily schedule has a time and a zone; write daily 07:30 Europe/Berlin")
	}
	if s.at, err = parseClock(words[0]); err != nil {
		return nil, err
	}
	s.zone, err = parseZone(words[1])
	return words[2:], err
}

func (s *Schedule) parseWeekly(words []string) (rest []string, err error) {
	if len(words) < 3 {
		return nil, fmt.Errorf("a weekly schedule has a day, a time and a zone; write weekly mon 07:30 Europe/Berlin")
	}
	if s.day, err = parseWeekday(words[0]); err != nil {
		return nil, err
	}
	rest, err = s.parseDaily(words[1:])
	s.every = weekly
	return rest, err
}

// parseQuiet reads the quiet hours at the end of a schedule.
func (s *Schedule) parseQuiet(words []string) (err error) {
	const example = "quiet 22:00-07:00 Europe/Berlin"
	if !strings.EqualFold(words[0], "quiet") || len(words) != 3 {
		return fmt.Errorf("%q does not end a schedule; only quiet hours may follow, such as %s", strings.Join(words, " "), example)
	}
	from, to, isRange := strings.Cut(words[1], "-")
	if !isRange {
		return fmt.Errorf("%q is not a range of times; write %s", words[1], example)
	}
	if s.quiet.from, err = parseClock(from); err != nil {
		return err
	}
	if s.quiet.to, err = parseClock(to); err != nil {
		return err
	}
	if loud := (s.quiet.from - s.quiet.to + 24*60) % (24 * 60); loud < minLoud {
		return fmt.Errorf("quiet hours %s leave less than %d hours of the day; write %s", words[1], minLoud/60, example)
	}
	s.quiet.zone, err = parseZone(words[2])
	return err
}

func parseWeekday(word string) (time.Weekday, error) {
	for day, name := range weekdays {
		if strings.EqualFold(word, name) {
			return time.Weekday(day), nil
		}
	}
	return 0, fmt.Errorf("%q is not a day; write mon, tue, wed, thu, fri, sat or sun, such as weekly mon 07:30 Europe/Berlin", word)
}

func parseClock(word string) (clock, error) {
	t, err := time.Parse("15:04", word)
	if err != nil {
		return 0, fmt.Errorf("%q is not a time of the day; write it as 07:30, between 00:00 and 23:59", word)
	}
	return clock(60*t.Hour() + t.Minute()), nil
}

// parseZone returns a time zone. "Local" is none: agents of a mesh may have different ones.
func parseZone(word string) (*time.Location, error) {
	zone, err := time.LoadLocation(word)
	if err != nil || zone == time.Local {
		return nil, fmt.Errorf("%q is not a time zone; write a name of the IANA database, such as Europe/Berlin, or UTC", word)
	}
	return zone, nil
}

// String returns the schedule in the form that [Parse] reads, empty for at once without quiet hours.
func (s Schedule) String() string {
	var words []string
	switch s.every {
	case hourly:
		words = []string{"hourly"}
	case daily:
		words = []string{"daily", s.at.String(), s.zone.String()}
	case weekly:
		words = []string{"weekly", weekdays[s.day], s.at.String(), s.zone.String()}
	}
	if q := s.quiet; q.zone != nil {
		words = append(words, "quiet", q.from.String()+"-"+q.to.String(), q.zone.String())
	}
	return strings.Join(words, " ")
}
