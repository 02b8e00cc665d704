package fetch

import (
	"net/http"
	"testing"
	"time"
)

func TestMaxAge_ReturnsTheFreshnessLifetime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	const date = "Fri, 02 Jan 2026 03:00:00 GMT"
	for _, x := range []struct {
		control, age, expires, date string
		want                        time.Duration
	}{
		{want: 0},
		{control: "max-age=600", want: 10 * time.Minute},
		{control: "public, MAX-AGE = 600 , must-revalidate", want: 10 * time.Minute},
		{control: `max-age="600"`, want: 10 * time.Minute},
		{control: `private="a, max-age=5, b", max-age=600`, want: 10 * time.Minute},
		{control: "max-age=600, s-maxage=60", want: time.Minute},
		{control: "max-age=600, max-age=60", want: 10 * time.Minute},
		{control: "max-age=600", age: "100", want: 500 * time.Second},
		{control: "max-age=600", age: "1000", want: 0},
		{control: "max-age=600", age: "-1", want: 10 * time.Minute},
		{control: "max-age=600", age: "old", want: 10 * time.Minute},
		{control: "max-age=600, no-cache", want: 0},
		{control: "no-store, max-age=600", want: 0},
		{control: "max-age=0", expires: "Fri, 02 Jan 2026 04:00:00 GMT", date: date, want: 0},
		{control: "max-age=soon", expires: "Fri, 02 Jan 2026 04:00:00 GMT", date: date, want: 0},
		{control: "max-age=-5", want: 0},
		{control: "max-age=99999999999999999999999", want: maxHostDelay},
		{control: "public", expires: "Fri, 02 Jan 2026 04:00:00 GMT", date: date, want: time.Hour},
		{expires: "Fri, 02 Jan 2026 04:00:00 GMT", date: date, want: time.Hour},
		{expires: "Fri, 02 Jan 2026 03:14:05 GMT", date: "today", want: 10 * time.Minute},
		{expires: "Thu, 01 Jan 1970 00:00:00 GMT", date: date, want: 0},
		{expires: "Fri, 31 Dec 9999 23:59:59 GMT", date: date, want: maxHostDelay},
		{expires: "0", date: date, want: 0},
		{expires: "-1", want: 0},
	} {
		for _, status := range []int{200, 304} {
			url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				for name, value := range map[string]string{"Cache-Control": x.control, "Age": x.age, "Expires": x.expires, "Date": x.date} {
					w.Header()[name] = []string{value}
				}
				w.WriteHeader(status)
			})
			d, err := client(t).Fetch(t.Context(), Request{URL: url, ETag: `"a"`}, now)
			if err != nil || d.MaxAge != x.want || d.Took <= 0 {
				t.Errorf("%d %+v: got %v after %v (%v), want %v", status, x, d.MaxAge, d.Took, err, x.want)
			}
		}
	}
}

func TestMaxAge_CombinesSeveralCacheControlHeaders(t *testing.T) {
	t.Parallel()
	h := http.Header{"Cache-Control": {"public", "max-age=60"}}
	if got := maxAge(h, time.Time{}); got != time.Minute {
		t.Errorf("got %v, want 1m", got)
	}
}

func FuzzFreshness(f *testing.F) {
	for _, s := range []string{"max-age=600", `private="a, b", max-age="60"`, "s-maxage=9e9,,=,", "Fri, 02 Jan 2026 03:00:00 GMT", "120", `"`, "no-cache"} {
		f.Add(s, "Fri, 02 Jan 2026 03:00:00 GMT", "100")
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	f.Fuzz(func(t *testing.T, control, date, age string) {
		h := http.Header{"Cache-Control": {control}, "Expires": {control}, "Date": {date}, "Age": {age}}
		for name, got := range map[string]time.Duration{"maxAge": maxAge(h, now), "retryAfter": retryAfter(control, now)} {
			if got < 0 || got > maxHostDelay {
				t.Errorf("%s of %q, %q, %q: got %v, want 0 to %v", name, control, date, age, got, maxHostDelay)
			}
		}
	})
}
