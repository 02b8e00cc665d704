package fetch

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const form = `<form action=/go><input name="user"><input class=x TYPE = 'password' name=p></form>`

func TestAccessError_UnauthorizedIsALogin(t *testing.T) {
	t.Parallel()
	url := serve(t, respond(401, webPage(form)))
	for _, x := range []struct{ user, want string }{
		{"", "127.0.0.1 requires a user name and a password; set them for the feed"},
		{"me", "127.0.0.1 rejected the feed's user name and password"},
	} {
		e := fails(t, client(t), Request{URL: url, User: x.user, Password: "s3cret"}, ClassLogin)
		if x.user != "" && e.Error() != x.want || e.Status != 401 {
			t.Errorf("got %d %q, want 401 %q", e.Status, e, x.want)
		}
	}
	if e := fails(t, client(t), Request{URL: url}, ClassLogin); e.Error() != "127.0.0.1 requires a user name and a password; set them for the feed" {
		t.Errorf("got %q, want it to name the setting", e)
	}
}

func TestCheckPage_RedirectToALoginPage(t *testing.T) {
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
				respond(200, webPage("please"))(w, r)
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

func TestCheckPage_LoginPageInPlaceOfAFeed(t *testing.T) {
	t.Parallel()
	url := serve(t, respond(200, webPage(strings.Repeat("<p>", 1000)+form)))
	e := fails(t, client(t), Request{URL: url, BodyHash: "before"}, ClassLogin)
	if got, want := e.Error(), "127.0.0.1 shows a login page instead of the feed"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	get(t, client(t), Request{URL: url}) // without a previous document parse reports the login page
	get(t, client(t), Request{URL: serve(t, respond(200, webPage("no form"))), BodyHash: "before"})
	get(t, client(t), Request{URL: serve(t, respond(200, webPage(`<input type="text" name="password">`))), BodyHash: "before"})
}
