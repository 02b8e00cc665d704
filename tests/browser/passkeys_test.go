package browser

import (
	"fmt"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"

	"feedmesh/agent/access"
	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A person makes a passkey by a link, logs in with it, adds another by the account page, and removes both.
func TestPasskeys_OfADevice(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a node and a browser")
	}
	w, err := newTestbed(servePublishers(publishers), "Newsroom")
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.Call(t.Context(), w.Client, wire.AddPerson, wire.AddPersonRequest{Body: wire.NewPerson{Name: "ann", Role: access.Owner}})
	if err != nil {
		t.Fatal(err)
	}
	b := openAt(t, "http://localhost"+w.address[len("http://127.0.0.1"):]) // passkeys need a name
	if _, err := chromedp.Call(b.ctx, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	var id webauthn.AuthenticatorID
	device := func() { // another device, instead of the present one
		t.Helper()
		if id != "" {
			if _, err := chromedp.Call(b.ctx, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: id}); err != nil {
				t.Fatal(err)
			}
		}
		added, err := chromedp.Call(b.ctx, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}})
		if err != nil {
			t.Fatal(err)
		}
		id = added.AuthenticatorID
	}
	device()

	b.visit(made.Link)
	b.click("form[data-passkey] button")
	b.until("the passkey of a link logs in", contains(".person", "ann"))
	b.click(".person button")
	b.until("the logout shows the login", `location.pathname == "/login"`)

	b.visit("/login?next=%2Ffeeds%3Ftag%3DNewsroom%26q%3Da")
	b.picture("login-passkey")
	b.click("form[data-passkey] button")
	b.until("the passkey logs in and returns to the page", `location.pathname + location.search == "/feeds?tag=Newsroom&q=a"`)

	b.visit("/account")
	b.do(chromedp.SendKeys("input[name=label]", "Phone"))
	b.click("form[data-passkey] button")
	b.until("the device has one already", `document.querySelector("form[data-passkey] [role=alert]").textContent.includes("already")`)
	device()
	b.visit("/account")
	b.do(chromedp.SendKeys("input[name=label]", "Phone"))
	b.click("form[data-passkey] button")
	b.until("the account lists both", `document.querySelectorAll("input[name=passkey]").length == 2`)
	b.picture("account-passkeys")
	for n := 1; n >= 0; n-- {
		b.click("form[action='/account/passkeys/remove'] button")
		b.until("one fewer", `document.querySelectorAll("input[name=passkey]").length == `+fmt.Sprint(n))
	}
	b.click(".person button")
	b.until("the logout shows the login", `location.pathname == "/login"`)
	b.expects("401 (Unauthorized)")
	b.click("form[data-passkey] button")
	b.until("a removed passkey is refused", `document.querySelector("form[data-passkey] [role=alert]").textContent.includes("unknown here")`)
}
