// Package date parses dates as publishers of feeds write them. An ambiguous date is rejected: no date is
// better than a wrong date.
//
// [Parse] accepts RFC 822 and ISO 8601 with their common variations, Unix time, numeric dates, and dates with
// names in some 40 languages. The two most frequent forms have a fast path without allocation. Any other text
// is split into [tokens], a bounded buffer; a [parser] assigns each token a meaning by its value and its
// neighbors, or rejects the text; and the result must be exactly one moment.
package date

import (
	"math"
	"strings"
	"time"
)

// maxLength bounds the text, in bytes. The longest valid date in the corpora, written by a browser that
// spells out its time zone, has 70.
const maxLength = 100

// Parse returns the moment of a date in UTC, or false if s is not a date or is ambiguous. Without a zone the
// date is in UTC, a day means its first moment, a month its first day. With true, the time is never zero.
// Concurrent workers may call Parse.
//
// lang is the ISO 639-1 language of s, such as "hr". It may have a region ("pt-BR") or be empty. It only
// selects between the meanings of names of months and zones that differ by language or country, and makes CST
// ambiguous in Chinese.
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
	s = normalize(s)
	if isDecimal(s) {
		return parseDecimal(s)
	}
	r := parser{lang: language(lang), country: countryOf(lang)}
	if !r.tokens.split(s) || !r.read() {
		return time.Time{}, false
	}
	return r.resolve()
}

// ParseSeconds returns the moment n seconds after 1970 began, in UTC, rounded to microseconds. If n seconds
// would exceed 2100 by far, n is in milliseconds. It returns false for moments before 1990 or after 2100, and
// for numbers that could be a day or an hour in decimal digits, such as 20260304.
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

// isHour reports whether a number of seconds could be an hour written as YYYYMMDDHH. For the years 1990 to
// 2100 such numbers are seconds in 2033 to 2036.
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
