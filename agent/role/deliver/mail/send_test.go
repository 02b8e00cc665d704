package mail

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/tests/engines"
)

// server is shared by the tests: each has receivers of its own.
var server *engines.MailServer

func TestMain(m *testing.M) {
	code := m.Run()
	if server != nil {
		server.Kill()
	}
	os.Exit(code)
}

// started returns the mail server.
func started(t *testing.T) *engines.MailServer {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped by -short: it starts a mail server")
	}
	if server != nil {
		return server
	}
	dir, err := os.MkdirTemp("", "mail")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // the server has read it
	server, err = engines.StartMailServer(dir)
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED, NOT TESTED: smtp-server or mailparser is not installed; run just engines")
	}
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// withLogin returns a channel that logs in by STARTTLS.
func withLogin(t *testing.T, change func(*Options)) *Channel {
	s := started(t)
	o := Options{Server: s.StartTLS, User: engines.MailUser, Password: engines.MailPassword, Roots: s.Roots, BaseURL: "https://feeds.example.net/"}
	if change != nil {
		change(&o)
	}
	return newChannel(t, o)
}

// sent sends a message to a receiver of the test's own and returns the mail that arrived.
func sent(t *testing.T, c *Channel, name string, m channel.Message) engines.Mail {
	t.Helper()
	return sentWith(t, c, name, "", m)
}

// sentWith is sent with a link to unsubscribe.
func sentWith(t *testing.T, c *Channel, name, unsubscribe string, m channel.Message) engines.Mail {
	t.Helper()
	response, err := c.Send(t.Context(), channel.Receiver{Address: name + "@example.org", Unsubscribe: unsubscribe}, m)
	if err != nil || response.Status != 250 {
		t.Fatalf("got %v, %v, want 250", response, err)
	}
	mails := inbox(t, name)
	if len(mails) == 0 {
		t.Fatal("it did not arrive")
	}
	return mails[len(mails)-1]
}

func inbox(t *testing.T, name string) (mails []engines.Mail) {
	t.Helper()
	all, err := server.Inbox()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if len(m.To) == 1 && m.To[0] == name+"@example.org" {
			mails = append(mails, m)
		}
	}
	return mails
}

// header returns the values of a header.
func header(m engines.Mail, name string) (values []string) {
	for _, h := range m.Headers {
		if h[0] == strings.ToLower(name) {
			_, value, _ := strings.Cut(h[1], ":")
			values = append(values, strings.Join(strings.Fields(value), " "))
		}
	}
	return values
}

func item(title string) channel.Item {
	return channel.Item{
		ID: "1", View: "news", URL: "https://example.com/1", Title: title, Excerpt: "The beginning.", FeedID: "f", FeedTitle: "Example", Language: "en",
		Published: time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC),
	}
}

func message(items ...channel.Item) channel.Message {
	return channel.Message{ID: channel.MessageID("subscription", "1"), At: time.Now(), Title: "News", Items: items}
}

func TestSend_RussianArrivesRight(t *testing.T) {
	c := withLogin(t, nil)
	one := item("Учёные открыли новый способ хранить данные в ДНК — и это только начало большой работы")
	one.Excerpt, one.FeedTitle, one.Language, one.URL = "Исследователи записали 200 МБ; «ёлочки», € и 🧬.", "Хабр", "ru", "https://example.com/новость"
	m := sent(t, c, "russian", message(one))
	if m.Subject != one.Title || m.Sender != `"Ленты" <feeds@example.net>` || m.Receiver != "russian@example.org" || m.From != "feeds@example.net" {
		t.Errorf("got subject %q, from %q, to %q", m.Subject, m.Sender, m.Receiver)
	}
	want := "News\n\n* " + one.Title + "\n  Хабр · 2026-03-01 12:30 UTC\n  https://example.com/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D1%8C\n  " + one.Excerpt + "\n"
	if m.Text != want {
		t.Errorf("got text\n%s\nwant\n%s", m.Text, want)
	}
	for _, part := range []string{one.Title, one.Excerpt, "Хабр", `lang="ru"`, `href="https://example.com/%D0%BD%D0%BE%D0%B2%D0%BE%D1%81%D1%82%D1%8C"`} {
		if !strings.Contains(m.HTML, part) {
			t.Errorf("the HTML lacks %s:\n%s", part, m.HTML)
		}
	}
	if !m.IsSecure || m.User != engines.MailUser {
		t.Errorf("got secure %v, user %q, want a login by STARTTLS", m.IsSecure, m.User)
	}
	for line := range strings.Lines(m.Raw) {
		if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e }) {
			t.Errorf("line is longer than 998 bytes, or not in ASCII: %q", line)
		}
	}
}

func TestSend_Headers(t *testing.T) {
	c := withLogin(t, nil)
	m := sentWith(t, c, "headers", "https://feeds.example.net/unsubscribe?id=s&key=k", message(item("Title")))
	id := channel.MessageID("subscription", "1")
	for name, want := range map[string]string{
		"Message-ID": "<" + id + "@example.net>", "Auto-Submitted": "auto-generated", "Precedence": "list", "X-Auto-Response-Suppress": "All",
		"List-Unsubscribe": "<https://feeds.example.net/unsubscribe?id=s&key=k>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
		"List-Id": "<" + listOf("headers@example.org", "News") + ".example.net>", "MIME-Version": "1.0", "Subject": "Title",
	} {
		if got := header(m, name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if date, err := time.Parse(time.RFC1123Z, header(m, "Date")[0]); err != nil || time.Since(date).Abs() > time.Hour {
		t.Errorf("Date: got %v, %v", date, err)
	}
	if agent := header(m, "User-Agent"); agent != nil {
		t.Errorf("it names the program: %q", agent)
	}

	without := sent(t, withLogin(t, nil), "headers", message(item("Title")))
	if without.MessageID != m.MessageID {
		t.Errorf("repeated: got Message-ID %s, want %s", without.MessageID, m.MessageID)
	}
	if got := header(without, "List-Unsubscribe"); got != nil || header(without, "List-Unsubscribe-Post") != nil {
		t.Errorf("without a URL: got List-Unsubscribe %q", got)
	}
}

func TestSend_UnsubscribeWithoutHTTPSIsNoOneClick(t *testing.T) {
	c := withLogin(t, nil)
	m := sentWith(t, c, "plain-link", "http://feeds.example.net/unsubscribe", message(item("Title")))
	if got := header(m, "List-Unsubscribe"); len(got) != 1 || header(m, "List-Unsubscribe-Post") != nil {
		t.Errorf("got List-Unsubscribe %q, List-Unsubscribe-Post %q", got, header(m, "List-Unsubscribe-Post"))
	}
	to := channel.Receiver{Address: "plain-link@example.org", Unsubscribe: "https://example.org/\r\nBcc: other@example.org"}
	if _, err := c.Send(t.Context(), to, message(item("Title"))); err == nil {
		t.Error("an invalid link was sent")
	}
}

func TestSend_GroupsAHundredItemsByStory(t *testing.T) {
	c := withLogin(t, nil)
	var items []channel.Item
	for i := range c.Limits().Items {
		one := item(fmt.Sprintf("Заголовок %d", i))
		one.URL, one.Excerpt = fmt.Sprintf("https://example.com/%d", i), strings.Repeat("слово ", 200)
		if i%2 == 1 && i < 10 {
			one.StoryID = "story"
		}
		items = append(items, one)
	}
	m := message(items...)
	m.More = 23
	got := sent(t, c, "hundred", m)
	if got.Subject != "News: 123 items" {
		t.Errorf("got subject %q", got.Subject)
	}
	for i := range items {
		if link := fmt.Sprintf(`<a href="https://example.com/%d">Заголовок %d</a>`, i, i); strings.Count(got.HTML, link) != 1 || !strings.Contains(got.Text, fmt.Sprintf("https://example.com/%d\n", i)) {
			t.Errorf("item %d is not there once", i)
		}
	}
	if n := strings.Count(got.HTML, "<h2"); n != 96 || strings.Count(got.HTML, "<li") != 4 {
		t.Errorf("got %d headlines, want 96 with 4 further items", n)
	}
	if !strings.Contains(got.HTML, `<a href="https://feeds.example.net/">23 more</a>`) || !strings.HasSuffix(got.Text, "\n23 more: https://feeds.example.net/\n") {
		t.Errorf("it does not link to more: %q", got.Text[len(got.Text)-100:])
	}
	if !strings.Contains(got.Text, "* Заголовок 1\n  Example · 2026-03-01 12:30 UTC\n  https://example.com/1\n") || !strings.Contains(got.Text, "\n  - Заголовок 3\n    Example") {
		t.Errorf("got text %s", got.Text)
	}
	if len(got.Raw) > 1<<20 {
		t.Errorf("it has %d bytes", len(got.Raw))
	}
}

func TestSend_InjectsNothing(t *testing.T) {
	c := withLogin(t, func(o *Options) { o.Password, o.User = engines.MailPassword, engines.MailUser })
	bad := item("A\r\nBcc: victim@example.org\r\n\r\n<script>alert(1)</script><img src=\"https://tracker.example/x.png\">")
	bad.URL = "javascript:alert(1)"
	bad.Excerpt = "\r\n.\r\nMAIL FROM:<x@y.org>\r\n<b>bold</b>\x00\x1b[31m"
	bad.FeedTitle, bad.Language = "<i>feed</i>\nX: y", `en" onclick="alert(1)`
	m := sent(t, c, "injection", message(bad))
	if want := "A Bcc: victim@example.org <script>alert(1)</script><img src=\"https://tracker.example/x.png\">"; m.Subject != want {
		t.Errorf("got subject %q, want %q", m.Subject, want)
	}
	if header(m, "Bcc") != nil || header(m, "X") != nil || len(m.To) != 1 {
		t.Errorf("a header was injected: %v, to %v", m.Headers, m.To)
	}
	for _, part := range []string{"<script", "<img", "<b>", "<i>", "javascript:", `onclick="`, "\x1b", "\x00"} {
		if strings.Contains(m.HTML, part) {
			t.Errorf("the HTML contains %q:\n%s", part, m.HTML)
		}
	}
	if !strings.Contains(m.Text, "  . MAIL FROM:<x@y.org> <b>bold</b> [31m\n") || strings.Contains(m.Text, "javascript:") {
		t.Errorf("got text %q", m.Text)
	}

	subject := message(item("x"), item("y"))
	subject.Title, subject.ID = "News\r\nBcc: victim@example.org", "a>\r\nX-Injected: 1"
	m = sent(t, c, "injection", subject)
	if m.Subject != "News Bcc: victim@example.org: 2 items" || header(m, "Bcc") != nil || header(m, "X-Injected") != nil {
		t.Errorf("got subject %q, headers %v", m.Subject, m.Headers)
	}
	m = sent(t, c, "injection", message(item("=?utf-8?q?=0D=0ABcc:_victim?=")))
	if m.Subject != "= ?utf-8?q?=0D=0ABcc:_victim?=" {
		t.Errorf("an encoded word was decoded: %q", m.Subject)
	}
	if _, err := c.Send(t.Context(), channel.Receiver{Address: "a@example.org>\r\nRCPT TO:<b@example.org"}, message(item("x"))); err == nil {
		t.Error("an address with a command was used")
	}
}

func TestSend_ItemWithoutTitleOrLink(t *testing.T) {
	c := withLogin(t, nil)
	m := sent(t, c, "empty", message(channel.Item{Excerpt: "Only a text."}))
	if m.Subject != "Only a text." || strings.Contains(m.HTML, "<a ") {
		t.Errorf("got subject %q, HTML\n%s", m.Subject, m.HTML)
	}
	if m = sent(t, c, "empty", message(channel.Item{})); m.Subject != "An item without a title" {
		t.Errorf("got subject %q", m.Subject)
	}
}

func TestSend_Encryption(t *testing.T) {
	s := started(t)
	m := sent(t, withLogin(t, func(o *Options) { o.Server, o.TLS = s.Implicit, ImplicitTLS }), "implicit", message(item("Title")))
	if !m.IsSecure || m.User != engines.MailUser {
		t.Errorf("implicit: got secure %v, user %q", m.IsSecure, m.User)
	}
	m = sent(t, newChannel(t, Options{Server: s.Plain, TLS: NoTLS}), "none", message(item("Title")))
	if m.IsSecure || m.User != "" {
		t.Errorf("none: got secure %v, user %q", m.IsSecure, m.User)
	}
	m = sent(t, withLogin(t, func(o *Options) { o.Server, o.TLS = s.Plain, NoTLS }), "none", message(item("Title")))
	if m.User != engines.MailUser {
		t.Errorf("none, on a loopback address: got user %q", m.User)
	}
	for name, change := range map[string]func(*Options){
		"no STARTTLS":         func(o *Options) { o.Server = s.Plain },
		"unknown certificate": func(o *Options) { o.Roots = nil },
		"other host":          func(o *Options) { o.Server = strings.Replace(o.Server, "127.0.0.1", "localhost", 1) },
	} {
		_, err := withLogin(t, change).Send(t.Context(), channel.Receiver{Address: "insecure@example.org"}, message(item("Title")))
		if err == nil || channel.StatusOf(err) != 0 {
			t.Errorf("%s: got %v, want an error without a status", name, err)
		}
	}
	if got := inbox(t, "insecure"); len(got) > 0 {
		t.Error("a mail was sent without encryption")
	}
}

func TestSend_ErrorsHaveTheStatusOfTheServer(t *testing.T) {
	c := withLogin(t, nil)
	for _, test := range []struct {
		name, title string
		status      int
		isGone      bool
		text        string
	}{
		{"gone", "Title", 550, true, "the mail server responded to RCPT: 550 5.1.1 <(address)>: no mailbox of this name"},
		{"unknown", "Title", 550, true, "the mail server responded to RCPT: 550 No such user here"},
		{"blocked", "Title", 550, false, "the mail server responded to RCPT: 550 5.7.1 The sender is blocked, no such user matters"},
		{"busy", "Title", 450, false, "the mail server responded to RCPT: 450 4.2.1 Try again in a minute"},
		{"data", "Reject this", 554, false, "the mail server responded to DATA: 554 5.6.0 content of (address) is rejected"},
	} {
		_, err := c.Send(t.Context(), channel.Receiver{Address: test.name + "@example.org"}, message(item(test.title)))
		var response *channel.ResponseError
		if !errors.As(err, &response) || *response != (channel.ResponseError{Status: test.status, IsGone: test.isGone, Text: test.text}) {
			t.Errorf("%s: got %#v, %v, want %d, %v, %s", test.name, response, err, test.status, test.isGone, test.text)
		}
		if got := inbox(t, test.name); len(got) > 0 {
			t.Errorf("%s: it arrived", test.name)
		}
	}
}

func TestSend_WrongPasswordIsNoResponse(t *testing.T) {
	c := withLogin(t, func(o *Options) { o.Password = "s3cret" })
	_, err := c.Send(t.Context(), channel.Receiver{Address: "login@example.org"}, message(item("Title")))
	want := "the mail server " + server.StartTLS + " refused the login with 535: check mail.user and mail.password"
	if err == nil || err.Error() != want || channel.StatusOf(err) != 0 {
		t.Errorf("got %v, want %s", err, want)
	}
	c = withLogin(t, func(o *Options) { o.User, o.Password = "", "" })
	if _, err = c.Send(t.Context(), channel.Receiver{Address: "login@example.org"}, message(item("Title"))); channel.StatusOf(err) != 530 {
		t.Errorf("without a login: got %v, want 530", err)
	}
}

func TestSend_ServerDownIsNoResponse(t *testing.T) {
	port, err := engines.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	c := newChannel(t, Options{Server: fmt.Sprintf("127.0.0.1:%d", port), User: "u", Password: "s3cret"})
	_, err = c.Send(t.Context(), channel.Receiver{Address: "name@example.org"}, message(item("Title")))
	if err == nil || channel.StatusOf(err) != 0 || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("got %v, want connection refused", err)
	}
}

func TestSend_EndsWithItsContext(t *testing.T) {
	c := withLogin(t, nil)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := c.Send(ctx, channel.Receiver{Address: "silent@example.org"}, message(item("Title")))
	if !errors.Is(err, context.DeadlineExceeded) || channel.StatusOf(err) != 0 {
		t.Errorf("silent receiver: got %v, want %v", err, context.DeadlineExceeded)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and writes nothing
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel = context.WithCancel(t.Context())
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			defer conn.Close()
			cancel()
			conn.Read(make([]byte, 1)) // until the channel closes it
		}
	}()
	_, err = newChannel(t, Options{Server: listener.Addr().String(), TLS: NoTLS}).Send(ctx, channel.Receiver{Address: "name@example.org"}, message(item("Title")))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("silent server: got %v, want %v", err, context.Canceled)
	}
}
