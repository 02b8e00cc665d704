package account

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/service/servicetest"
	"feedmesh/agent/web/locale"
)

// TestLanguage chooses a language below the login page, without a login.
func TestLanguage(t *testing.T) {
	pages := Handler(servicetest.New(t, time.Now).Service)
	answer := func(r *http.Request) *http.Response {
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		return w.Result()
	}
	for _, test := range []struct{ language, back, wantCookie, wantPath string }{
		{"ru", "/login?next=%2Ffeeds", "ru", "/login?next=%2Ffeeds"},
		{"en", "//other.example/", "en", "/"},
		{"xx", "/login", "", "/login"},
	} {
		form := url.Values{"language": {test.language}, "back": {test.back}}
		r := httptest.NewRequest(http.MethodPost, languagePath, strings.NewReader(form.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		got, cookie := answer(r), ""
		for _, c := range got.Cookies() {
			if c.Name == locale.Cookie {
				cookie = c.Value
			}
		}
		if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != test.wantPath || cookie != test.wantCookie {
			t.Errorf("%v: status %d, %q, cookie %q", test, got.StatusCode, got.Header.Get("Location"), cookie)
		}
	}
	for code, heading := range map[string]string{"en": "<h1>Log in</h1>", "ru": "<h1>Войти</h1>"} {
		r := httptest.NewRequest(http.MethodGet, LoginPath, nil)
		r.AddCookie(&http.Cookie{Name: locale.Cookie, Value: code})
		w := httptest.NewRecorder()
		pages.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), heading) {
			t.Errorf("%s: status %d, without %s: %s", code, w.Code, heading, w.Body)
		}
	}
}
