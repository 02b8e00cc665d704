package mail

import (
	"strings"
	"testing"

	"feedmesh/agent/role/deliver/channel"
)

var _ channel.Channel = (*Channel)(nil)

func TestCheck_AcceptsOneAddress(t *testing.T) {
	c := newChannel(t, Options{})
	for _, address := range []string{"name@example.org", "first.last+tag@mail.example.org", "root@localhost", "name@пример.рф"} {
		if err := c.Check(address); err != nil {
			t.Errorf("%s: got %v, want nil", address, err)
		}
	}
	for _, address := range []string{
		"", "name", "@example.org", "name@", "a@example.org, b@example.org", "a@example.org b@example.org", "Name <name@example.org>", "<name@example.org>",
		"name@example.org (comment)", "name@example.org\r\nBcc: other@example.org", "name\r\n@example.org", `"name> NOTIFY=NEVER"@example.org`, `"name"@example.org`,
		"name@[127.0.0.1]", "name@exa mple.org", "name@example.org>", "имя@example.org", " name@example.org", "group: a@example.org;",
		strings.Repeat("a", 65) + "@example.org", "a@" + strings.Repeat("a.", 130) + "org",
	} {
		if err := c.Check(address); err == nil || err.Error() != "the receiver of a mail is one address such as name@example.org, without a name" {
			t.Errorf("%q: got %v, want an error", address, err)
		}
	}
}

func TestNew_ErrorsStateTheOption(t *testing.T) {
	for want, o := range map[string]Options{
		`"smtp.example.org" is not a mail server; write HOST:PORT, such as smtp.example.org:587`:            {Server: "smtp.example.org"},
		`":25" is not a mail server; write HOST:PORT, such as smtp.example.org:587`:                         {Server: ":25"},
		`"a:70000" is not a mail server; write HOST:PORT, such as smtp.example.org:587`:                     {Server: "a:70000"},
		`"feeds" is not a sender; write an address, such as feedmesh <feeds@example.org>`:                   {From: "feeds"},
		`"ssl" is no kind of encryption; write starttls, implicit or none`:                                  {TLS: "ssl"},
		"the password would be sent to smtp.example.org without encryption; use starttls or implicit":       {TLS: NoTLS, Password: "secret"},
		`"a@b.org\r\nBcc: c@d.org" is not a sender; write an address, such as feedmesh <feeds@example.org>`: {From: "a@b.org\r\nBcc: c@d.org"},
	} {
		if o.Server == "" {
			o.Server = "smtp.example.org:587"
		}
		if o.From == "" {
			o.From = "feeds@example.org"
		}
		if _, err := New(o); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// newChannel returns a channel with these options and defaults.
func newChannel(t *testing.T, o Options) *Channel {
	t.Helper()
	if o.Server == "" {
		o.Server = "127.0.0.1:1"
	}
	if o.From == "" {
		o.From = "Ленты <feeds@example.net>"
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestWebURL_IsOfHTTP(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.org/a?b=c&d#e": "https://example.org/a?b=c&d#e",
		"http://example.org/путь":       "http://example.org/%D0%BF%D1%83%D1%82%D1%8C",
		"javascript:alert(1)":           "",
		"data:text/html,x":              "",
		"/path":                         "",
		"https:///path":                 "",
		"https://example.org/\r\nX: y":  "",
		"https://example.org/?a b":      "",
		"https://example.org/?a>":       "",
		"https://example.org/" + strings.Repeat("a", maxURL): "",
	} {
		if got := webURL(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestNoMailbox_IsOnlyAMissingMailbox(t *testing.T) {
	for response, want := range map[string]bool{
		"5.1.1 unknown recipient": true, "5.1.10 null MX": true, "No such user here": true, "<a@example.org>: User unknown in table": true,
		"5.1.18 other": false, "5.7.1 no such user": false, "5.2.1 mailbox disabled": false, "mailbox unavailable": false, "": false,
	} {
		if got := noMailbox.MatchString(response); got != want {
			t.Errorf("%q: got %v, want %v", response, got, want)
		}
	}
}
