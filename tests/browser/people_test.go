package browser

import (
	"net/http"
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// Two people log in one after the other, and each sees only the own marks.
func TestPeople_LogInReadAndLogOut(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	w, err := newTestbed(servePublishers(publishers), "Newsroom")
	if err != nil {
		t.Fatal(err)
	}
	const password = "correct horse battery"
	link := ""
	for _, p := range []wire.NewPerson{{Name: "ann", Role: access.Owner}, {Name: "bob", Role: access.Reader}} {
		secret := password
		if p.Role == access.Reader {
			p.Password = &secret
		}
		token, err := client.Call(t.Context(), w.Client, wire.AddToken, wire.AddTokenRequest{Body: wire.TokenSetting{Name: "test", Scopes: access.Scopes}})
		if err != nil {
			t.Fatal(err)
		}
		made, err := client.Call(t.Context(), w.Client, wire.AddPerson, wire.AddPersonRequest{Body: p})
		if err != nil {
			t.Fatal(err)
		}
		if made.Link != "" {
			link = made.Link
		}
		if w.Client, err = client.NewClient(w.address, token.Secret); err != nil { // from the first person on
			t.Fatal(err)
		}
	}
	axe, err := os.ReadFile("../engines/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("SKIPPED, NOT TESTED: axe-core is not installed; run just engines")
	}
	b := openAt(t, w.address)
	judge := func(name string) {
		for _, scheme := range []string{"light", "dark"} {
			b.prefers(scheme)
			b.picture(name + "-" + scheme)
			for _, fault := range b.judged(string(axe)) {
				t.Errorf("%s in %s: %s", name, scheme, fault)
			}
		}
	}
	b.visit(link)
	judge("first-password")
	b.do(chromedp.SendKeys("input[name=password]", password))
	b.click(".credentials button")
	b.until("the first password logs in", contains(".person", "ann"))
	b.visit("/account")
	judge("account")
	b.visit("/people")
	judge("people")
	b.do(chromedp.SendKeys(".credentials input[name=name]", "cleo"))
	b.click(".credentials button")
	b.until("the link of a new person is shown", `document.querySelector("#secret")?.value.includes("/login/first?link=fm_") && `+contains("tbody", "cleo"))
	judge("people-link")
	b.visit("/tokens")
	b.do(chromedp.SendKeys(".credentials input[name=name]", "site"))
	b.click(".credentials button")
	b.until("the token is shown", `document.querySelector("#secret")?.value.startsWith("fm_") && `+contains("tbody", "site"))
	judge("tokens")
	b.visit("/read")
	b.until("items are listed", `document.querySelectorAll("#rows li.unread").length > 3`)
	b.types("js")
	b.until("an item is starred", `document.querySelectorAll("#rows .starred").length == 1`)
	b.expects("401 (Unauthorized)") // requests that the page still has in flight, as for the folders after the mark
	b.click(".person button")
	b.until("the logout shows the login", `location.pathname == "/login"`)

	b.visit("/read?show=starred")
	b.until("a login is required", `location.pathname == "/login"`)
	judge("login")
	b.do(chromedp.SendKeys("input[name=name]", "bob"), chromedp.SendKeys("input[name=password]", password))
	b.click(".credentials button")
	b.until("the login returns to the page", `location.pathname + location.search == "/read?show=starred"`)
	b.until("bob is logged in", contains(".person", "bob"))
	if starred := evaluate[int](b, `document.querySelectorAll("#rows li").length`); starred != 0 {
		t.Errorf("bob sees %d starred items, want none", starred)
	}
	b.visit("/account/tokens")
	judge("own-tokens")
	b.visitRefused("/people", http.StatusForbidden)
	judge("denied")

	b.withoutScripts()
	b.visit("/account/tokens")
	b.do(chromedp.SendKeys(".credentials input[name=name]", "phone"))
	b.click(".credentials button")
	b.until("the token of bob is shown", `document.querySelector("#secret")?.value.startsWith("fm_") && `+contains(".sessions", "phone"))
	b.click(".sessions button")
	b.until("the token is removed", contains("main", "No tokens yet."))
	b.visit("/feeds")
	if has := evaluate[bool](b, `document.querySelector("main form[method=post]") !== null`); has {
		t.Error("a reader sees forms that change feeds")
	}
	b.visitRefused("/people", http.StatusForbidden)
	b.until("the page without scripts states why bob may not see it", contains("main", "Your role reader can't manage people, tokens and the mesh; an owner can."))
}
