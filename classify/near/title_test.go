package near

import "testing"

func TestStrip_RemovesPrefixesAndSuffixes(t *testing.T) {
	s := Default()
	for in, want := range map[string]string{
		"UPDATE 1-Oil falls as stocks rise":                  "oil falls as stocks rise",
		"BREAKING: UPDATE 2 - Oil falls as stocks rise":      "oil falls as stocks rise",
		"Oil falls as stocks rise - Los Angeles Times":       "oil falls as stocks rise",
		"Oil falls as stocks rise | Reuters":                 "oil falls as stocks rise",
		"Oil falls as stocks rise [updated]":                 "oil falls as stocks rise",
		"Oil falls as stocks rise (video) - Reuters":         "oil falls as stocks rise",
		"Guest post: Oil falls":                              "oil falls",
		"example.org: Oil falls":                             "oil falls",
		"Срочно: Нефть дешевеет":                             "нефть дешевеет",
		"Day 2 of the trial - Part 3":                        "day 2 of the trial part 3",
		"Go 1.2 - released":                                  "go 1.2 released",
		"Note: oil falls":                                    "note oil falls",
		"Update":                                             "update",
		"UPDATE 1-":                                          "update 1",
		"":                                                   "",
		"Well-known names":                                   "well known names",
		"Oil falls (again)":                                  "oil falls again",
		"Two words - and a tail of more words than the head": "two words and a tail of more words than the head",
	} {
		if got := s.strip(in); got != want {
			t.Errorf("strip(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestNumbersDiffer(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"go 7.1 is out", "go 7.3 is out", true},
		{"day 2", "day 21", true},
		{"q3 results", "q4 results", true},
		{"7.1 quake kills 20", "7.3 quake kills 20", true},
		{"day 2", "day two", false},
		{"day 2", "day 2 of 21", false}, // cut short
		{"5 and 6", "6 and 5", false},
		{"one", "two", false},
		{"part ii of the story", "part iii of the story", true},
		{"part ii of the story", "part 2 of the story", false},
		{"part ii of the story", "the story", false},
		{"погода на 8 ноября", "погода на 18 ноября", true},
	} {
		if got, back := numbersDiffer(test.a, test.b), numbersDiffer(test.b, test.a); got != test.want || back != test.want {
			t.Errorf("%q, %q: got %v and %v, want %v", test.a, test.b, got, back, test.want)
		}
	}
}
