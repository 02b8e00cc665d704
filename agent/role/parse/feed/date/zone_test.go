package date

import (
	"testing"
	"time"
	_ "time/tzdata"
)

// TestAreas_AgreeWithTheZoneDatabase compares our rules with those of the time zone database: at every noon,
// and at every half hour of the nights that begin Sundays.
func TestAreas_AgreeWithTheZoneDatabase(t *testing.T) {
	for name, z := range areas {
		location, err := time.LoadLocation(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		compare(t, name, z, location, areasSince)
	}
}

// TestZones_AgreeWithTheZoneDatabase does so for names with rules.
func TestZones_AgreeWithTheZoneDatabase(t *testing.T) {
	for name, place := range map[string]string{
		"ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "PT": "America/Los_Angeles",
	} {
		location, err := time.LoadLocation(place)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, name, zones[name], location, 1990)
	}
	location, err := time.LoadLocation("Asia/Jerusalem")
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "IST in Israel", localZones["IST"]["IL"], location, 2013)
}

// compare checks z against the local times of a place from a year on, until 2030. z must reject local times
// that the place skips or repeats.
func compare(t *testing.T, name string, z zone, place *time.Location, since int) {
	for day := time.Date(since, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2030; day = day.AddDate(0, 0, 1) {
		for minutes := 0; minutes <= 12*60; minutes += 30 {
			if minutes == 4*60 || day.Weekday() != time.Sunday {
				minutes = 12 * 60
			}
			shown := day.Add(time.Duration(minutes) * time.Minute)
			moment := time.Date(day.Year(), day.Month(), day.Day(), 0, minutes, 0, 0, place)
			got, ok := parsedZone{named: true, name: z}.toUTC(shown)
			if sure := isSure(shown, moment); ok != sure || sure && !got.Equal(moment) {
				t.Errorf("%s shows %s: %s, %v, want %s, %v", name, shown.Format(time.DateTime), got, ok, moment.UTC(), sure)
				return
			}
		}
	}
}

// isSure reports whether a local time occurs exactly once.
func isSure(shown, moment time.Time) bool {
	showing := 0
	for _, m := range []time.Time{moment.Add(-time.Hour), moment, moment.Add(time.Hour)} {
		if m.Hour() == shown.Hour() && m.Minute() == shown.Minute() {
			showing++
		}
	}
	return showing == 1
}

// TestParse_BSTIsAcceptedInSummerOnly covers the boundaries of British summer time.
func TestParse_BSTIsAcceptedInSummerOnly(t *testing.T) {
	for _, f := range []form{
		{"Sun, 29 Mar 2026 00:59:00 BST", "", ""},
		{"Sun, 29 Mar 2026 02:00:00 BST", "", "2026-03-29T01:00:00Z"},
		{"Sun, 25 Oct 2026 00:59:00 BST", "", "2026-10-24T23:59:00Z"},
		{"Sun, 25 Oct 2026 02:00:00 BST", "", ""},
		{"Wed, 04 Jan 2026 05:06:07 +0600 BST", "", "2026-01-03T23:06:07Z"},
	} {
		check(t, f)
	}
}

// TestParse_CSTIsAmbiguousInChinese covers the format of Java, in Chinese and in other languages.
func TestParse_CSTIsAmbiguousInChinese(t *testing.T) {
	const text = "Wed Mar 04 05:06:07 CST 2026"
	check(t, form{text, "en", "2026-03-04T11:06:07Z"})
	check(t, form{text, "zh-CN", ""})
}

// TestParse_LanguageOrCountryDecidesAmbiguousZones covers names of several zones with and without a hint.
func TestParse_LanguageOrCountryDecidesAmbiguousZones(t *testing.T) {
	const winter, summer = "Wed, 04 Mar 2026 12:00:00 ", "Sat, 04 Jul 2026 12:00:00 "
	for _, f := range []form{
		{winter + "IST", "hi", "2026-03-04T06:30:00Z"},
		{winter + "IST", "en-IN", "2026-03-04T06:30:00Z"},
		{winter + "IST", "en_in", "2026-03-04T06:30:00Z"},
		{"Wed Mar 04 12:00:00 IST 2026", "ta", "2026-03-04T06:30:00Z"},
		{winter + "IST", "he", "2026-03-04T10:00:00Z"},
		{summer + "IST", "he-IL", "2026-07-04T09:00:00Z"},
		{"Fri, 27 Mar 2026 01:59:00 IST", "he", "2026-03-26T23:59:00Z"},
		{"Fri, 27 Mar 2026 03:00:00 IST", "he", "2026-03-27T00:00:00Z"},
		{summer + "IST", "en-IE", "2026-07-04T11:00:00Z"},
		{winter + "IST", "en-IE", ""},
		{winter + "IST", "en", ""},
		{winter + "IST", "en-US", ""},
		{winter + "GST", "en-AE", "2026-03-04T08:00:00Z"},
		{winter + "GST", "ar", "2026-03-04T08:00:00Z"},
		{winter + "AST", "ar-SA", "2026-03-04T09:00:00Z"},
		{winter + "AST", "en-CA", "2026-03-04T16:00:00Z"},
		{winter + "AST", "ar-EG", ""},
		{winter + "NST", "fr-CA", "2026-03-04T15:30:00Z"},
		{winter + "NST", "ne", "2026-03-04T06:15:00Z"},
		{winter + "BST", "bn", "2026-03-04T06:00:00Z"},
		{summer + "BST", "en-GB", "2026-07-04T11:00:00Z"},
		{winter + "PST", "en-PH", "2026-03-04T04:00:00Z"},
		{winter + "PST", "en-US", "2026-03-04T20:00:00Z"},
		{winter + "+0530 IST", "he", "2026-03-04T06:30:00Z"},
	} {
		check(t, f)
	}
}
