package alert

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Condition{
		"":                               {},
		"more than 20 in 1h":             {Kind: More, N: 20, Within: time.Hour},
		"more than 1 in 90m":             {Kind: More, N: 1, Within: 90 * time.Minute},
		"story reaches 5 publishers":     {Kind: Story, N: 5},
		"new event":                      {Kind: Event},
		"burst":                          {Kind: Burst},
		"silence of 2d":                  {Kind: Silence, Within: 48 * time.Hour},
		"silence of 30d":                 {Kind: Silence, Within: 30 * 24 * time.Hour},
		"feed fails":                     {Kind: Feed},
		"sentiment falls by 0.3 in 1d":   {Kind: Falls, N: 30, Within: 24 * time.Hour},
		"sentiment falls by 0.29 in 90m": {Kind: Falls, N: 29, Within: 90 * time.Minute},
		"sentiment falls by 2 in 7d":     {Kind: Falls, N: 200, Within: 7 * 24 * time.Hour},
	} {
		got, err := Parse(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: got %+v, %q, %v", text, got, got.String(), err)
		}
	}
	if got, err := Parse("  More  than 48 in 24H "); err != nil || got.String() != "more than 48 in 1d" {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"always":                         "silence of 6h",
		"more than many in 1h":           "number of items",
		"more than 401 in 1h":            "number of items",
		"more than 20 in 1w":             "no time",
		"more than 20 in h":              "no time",
		"more than 20 in 0m":             "no time",
		"silence of 31d":                 "no time",
		"silence of 9223372036854775h":   "no time",
		"story reaches 1 publishers":     "number of publishers",
		"story reaches 5 publishers or":  "no condition",
		"burst of 5":                     "no condition",
		"feed fails twice":               "feed fails",
		"sentiment falls by much in 1d":  "difference of sentiments",
		"sentiment falls by NaN in 1d":   "difference of sentiments",
		"sentiment falls by inf in 1d":   "difference of sentiments",
		"sentiment falls by 0 in 1d":     "difference of sentiments",
		"sentiment falls by -0.3 in 1d":  "difference of sentiments",
		"sentiment falls by 0.305 in 1d": "two decimals",
		"sentiment falls by 2.01 in 1d":  "difference of sentiments",
		"sentiment falls by 0.3 in 31d":  "no time",
		"sentiment rises by 0.3 in 1d":   "no condition",
	} {
		if got, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v; want an error with %q", text, got, err, want)
		}
	}
}
