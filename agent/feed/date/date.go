// Package date reads dates as the publishers of feeds write them. A date that
// can be read in two ways is not read: no date is better than a wrong one.
//
// It knows RFC 822 and ISO 8601 with what is made of them, seconds since 1970,
// days in numbers, and days with the names of some 40 languages. A text in one of
// the two usual forms is read as it stands. Any other is cut into [tokens]; each
// finds its place in a [reading] by itself and its neighbours, or the text is
// refused; and what has been read must then be one moment.
package date

import (
	"math"
	"strings"
	"time"
)

// maxLength is how long a text may be, in bytes. The longest honest one that
// we have seen, of a browser that spells out its time zone, has 70.
const maxLength = 100

// Years that a date may have in any form. Outside them only forms of RFC 822
// and ISO 8601 with time and zone are believed, see [reading.believable].
const (
	minYear = 1970
	maxYear = 2100
)

// Parse returns the moment that s tells, in UTC, or false if s tells none
// surely. A text without a zone is read as UTC, a day as its first moment, a
// month as its first day. The zero time is never returned with true.
//
// lang is the language of s by ISO 639-1, such as "hr", and may be longer
// ("pt-BR") or empty. It only settles names that mean different months in
// different languages, and makes CST unsure in Chinese.
func Parse(s, lang string) (time.Time, bool) {
	if len(s) > maxLength {
		return time.Time{}, false
	}
	s = strings.TrimSpace(s)
	if t, ok := parseRFC3339(s); ok {
		return t, true
	}
	if t, ok := parseRFC1123(s); ok {
		return t, true
	}
	s = plain(s)
	if isDecimal(s) {
		return parseDecimal(s)
	}
	r := reading{lang: language(lang)}
	if !r.tokens.split(s) || !r.read() {
		return time.Time{}, false
	}
	return r.moment()
}

// ParseSeconds returns the moment n seconds after 1970 began, or n milliseconds
// if so many seconds would lead far beyond 2100, in UTC and to the microsecond.
// It is false for what is before 1990 or after 2100, and for what is a day or an
// hour in decimal digits, such as 20260304.
func ParseSeconds(n float64) (time.Time, bool) {
	const first, last = 631152000, 4133980800 // 1990-01-01, 2101-01-01
	switch {
	case n >= first && n < last && !isHour(n):
		return time.UnixMicro(int64(math.Round(n * 1e6))).UTC(), true
	case n >= first*1e3 && n < last*1e3:
		return time.UnixMicro(int64(math.Round(n * 1e3))).UTC(), true
	}
	return time.Time{}, false
}

// isHour reports whether n, taken for seconds, could be an hour written as
// YYYYMMDDHH. From 1990 to 2100 these are seconds of the years 2033 to 2036.
func isHour(n float64) bool {
	i := int(n)
	return float64(i) == n && i%100 < 24 && civil{i / 1e6, i / 1e4 % 100, i / 100 % 100}.valid()
}

// language returns lang without region and script, in lower case.
func language(lang string) string {
	if i := strings.IndexAny(lang, "-_"); i >= 0 {
		lang = lang[:i]
	}
	return strings.ToLower(lang)
}
