package schedule

import (
	"strings"
	"testing"
)

func TestReadLog(t *testing.T) {
	t.Parallel()
	w, err := ReadLog(strings.NewReader("feed,published\na,2026-01-31T12:00:00Z\nb,1769860800\na,2026-01-30T12:00:00+03:00\n"))
	if err != nil || len(w.Feeds) != 2 {
		t.Fatalf("got %+v, %v, want two feeds", w, err)
	}
	a, b := w.Feeds[0].Published, w.Feeds[1].Published
	if len(a) != 2 || a[0] != 1769763600 || a[1] != 1769860800 || len(b) != 1 || b[0] != 1769860800 {
		t.Errorf("got %v and %v", a, b)
	}
}

func TestReadLog_Errors(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]string{
		"":                       "no items",
		"feed,published\n":       "no items",
		"a,1769860800\nb,noon\n": `line 2: "noon" is no time`,
		"a,1769860800,x\n":       "wrong number of fields",
		"a,-5\n":                 `"-5" is no time`,
		"a,\"1769860800\nb,1\n":  "feed,published",
	} {
		if _, err := ReadLog(strings.NewReader(log)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", log, err, want)
		}
	}
}

func TestLast_EndsWithTheLog(t *testing.T) {
	t.Parallel()
	w := World{Feeds: []Feed{{Published: []int64{begin + 5}}, {Published: []int64{begin + 10*daySeconds + 3}}}}
	s, err := w.Last(8, 3)
	if err != nil || s.Begin != begin || s.end() != begin+11*daySeconds {
		t.Errorf("got %+v, %v, want from %d on", s, err, begin)
	}
	if _, err := w.Last(9, 3); err == nil || !strings.Contains(err.Error(), "the log is of 11 days and not of 12") {
		t.Errorf("got %v, want that it is too short", err)
	}
}
