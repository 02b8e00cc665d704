package fetch

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const form = `<form action=/go><input name="user"><input class=x TYPE = 'password' name=p></form>`

func TestUnauthorizedIsALogin(t *testing.T) {
	t.Parallel()
	url := serve(t, says(401, blank(form)))
	for _, x := range []struct{ user, want string }{
		{"", "127.0.0.1 asks for a user and a password; set the feed's"},
		{"me", "127.0.0.1 does not take the feed's user and password"},
	} {
		e := fails(t, client(t), Request{URL: url, User: x.user, Password: "s3cret"}, ClassLogin)
		if x.user != "" && e.Error() != x.want || e.Status != 401 {
			t.Errorf("got %d %q, want 401 %q", e.Status, e, x.want)
		}
	}
	if e := fails(t, client(t), Request{URL: url}, ClassLogin); e.Error() != "127.0.0.1 asks for a user and a password; set the feed's" {
		t.Errorf("got %q, want it to say what to set", e)
	}
}

func TestRedirectToALoginPageIsALogin(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/login": true, "/Login/": true, "/signin": true, "/users/sign_in": true, "/sign-in.php": true, "/wp-login.php": true, "/auth/login": true, "/accounts/logon": true, "/sso": true,
		"/": false, "/blog": false, "/login-trouble-explained": false, "/blogin": false, "/designing": false, "/cursso": false,
	} {
		url := serve(t, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/feed":
				http.Redirect(w, r, path, http.StatusFound)
			case "/as-feed":
				http.Redirect(w, r, path+"?feed", http.StatusFound)
			case path:
				if r.URL.RawQuery == "feed" {
					io.WriteString(w, "<rss></rss>")
					return
				}
				says(200, blank("please"))(w, r)
			}
		})
		get(t, client(t), Request{URL: url + path})
		get(t, client(t), Request{URL: url + "/as-feed"})
		if !want {
			get(t, client(t), Request{URL: url + "/feed"})
			continue
		}
		e := fails(t, client(t), Request{URL: url + "/feed"}, ClassLogin)
		if got, want := e.Error(), "the feed's address leads to the login page of 127.0.0.1"; got != want || e.Status != 200 {
			t.Errorf("got %d %q, want 200 %q", e.Status, got, want)
		}
	}
}

func TestLoginPageWhereAFeedWasIsALogin(t *testing.T) {
	t.Parallel()
	url := serve(t, says(200, blank(strings.Repeat("<p>", 1000)+form)))
	e := fails(t, client(t), Request{URL: url, BodyHash: "before"}, ClassLogin)
	if got, want := e.Error(), "127.0.0.1 shows a login page instead of the feed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	get(t, client(t), Request{URL: url}) // where there was none, parse says what it is
	get(t, client(t), Request{URL: serve(t, says(200, blank("no form"))), BodyHash: "before"})
	get(t, client(t), Request{URL: serve(t, says(200, blank(`<input type="text" name="password">`))), BodyHash: "before"})
}
