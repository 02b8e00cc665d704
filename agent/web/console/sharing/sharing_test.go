package sharing

import (
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"feedmesh/agent/web/locale"
)

func TestParse_Presets(t *testing.T) {
	list, err := Parse(Format(Presets) + "\n  \n")
	if err != nil || !reflect.DeepEqual(list, Presets) {
		t.Errorf("got %v, %v; want the presets", list, err)
	}
}

func TestParse_Refuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"Name", "must begin with https://"},
		{"|https://a.example/?u={url}", "line 1: give a name"},
		{"\nName|javascript:alert('{url}')", "line 2: the address must begin"},
		{"Name|data:text/html,{url}", "must begin"},
		{"Name|//a.example/{url}", "must begin"},
		{"Name|https:///{url}", "must begin"},
		{"Name|https://ann:pw@a.example/{url}", "without a password"},
		{"Name|https://a.example/", "must contain {url}"},
		{"Name|https://{url}/", "must begin"},
		{"Name|https://a{url}.example/", "must follow the host"},
		{"Name|https://a.example{url}", "must follow the host"},
		{strings.Repeat("n", maxName+1) + "|https://a.example/{url}", "give a name"},
		{strings.Repeat("N|https://a.example/{url}\n", maxTargets+1), "more than 20"},
		{strings.Repeat("x", maxList+1), "longer than"},
	} {
		if list, err := Parse(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: got %v, %v; want the error %q", c.text, list, err, c.want)
		}
	}
}

func TestLinks_AreEscaped(t *testing.T) {
	links := Links([]Target{{"A", "https://a.example/?u={url}&t={title}"}}, "Law & order {url} +1", "https://b.example/?x=1&y=2#z")
	want := []Link{
		{locale.T("Mail"), "mailto:?subject=Law%20%26%20order%20%7Burl%7D%20%2B1&body=https%3A%2F%2Fb.example%2F%3Fx%3D1%26y%3D2%23z"},
		{locale.Data("A"), "https://a.example/?u=https%3A%2F%2Fb.example%2F%3Fx%3D1%26y%3D2%23z&t=Law%20%26%20order%20%7Burl%7D%20%2B1"},
	}
	if !reflect.DeepEqual(links, want) {
		t.Errorf("got %v, want %v", links, want)
	}
}

func TestOf_ReadsTheCookie(t *testing.T) {
	w := httptest.NewRecorder()
	Set(w, Presets)
	r := httptest.NewRequest("GET", "/", nil)
	for _, c := range w.Result().Cookies() {
		if len(c.String()) > 4096 {
			t.Errorf("the cookie has %d bytes", len(c.String()))
		}
		r.AddCookie(c)
	}
	if got := Of(r); !reflect.DeepEqual(got, Presets) {
		t.Errorf("got %v, want the presets", got)
	}
	r = httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Cookie", cookie+"=bm9uc2Vuc2U")
	if got := Of(r); got != nil {
		t.Errorf("an invalid cookie: got %v", got)
	}
}
