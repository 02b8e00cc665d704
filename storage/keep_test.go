package storage_test

import (
	"testing"
	"time"

	"feedmesh/storage"
)

func TestParseKeep_ReadsAgesAndNumbers(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		text string
		want storage.Keep
		ok   bool
	}{
		{"all", storage.Keep{}, true},
		{"90d", storage.Keep{Age: 90 * day}, true},
		{"1000", storage.Keep{Items: 1000}, true},
		{"90d,1000", storage.Keep{Age: 90 * day, Items: 1000}, true},
		{" 1000, 90d ", storage.Keep{Age: 90 * day, Items: 1000}, true},
		{"7d", storage.Keep{Age: 7 * day}, true},
		{"6d", storage.Keep{}, false},
		{"", storage.Keep{}, false},
		{"0", storage.Keep{}, false},
		{"-5d", storage.Keep{}, false},
		{"90", storage.Keep{Items: 90}, true},
		{"90h", storage.Keep{}, false},
		{"90d,30d", storage.Keep{}, false},
		{"90d,", storage.Keep{}, false},
		{"99999999999999999999", storage.Keep{}, false},
		{"106752d", storage.Keep{}, false}, // would overflow a duration
	} {
		got, err := storage.ParseKeep(c.text)
		if got != c.want || (err == nil) != c.ok {
			t.Errorf("%q: got %+v, %v; want %+v", c.text, got, err, c.want)
			continue
		}
		if again, err := storage.ParseKeep(got.String()); c.ok && (again != got || err != nil) {
			t.Errorf("%q is written as %q, which reads as %+v, %v", c.text, got, again, err)
		}
	}
}
