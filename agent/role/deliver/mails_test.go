package deliver

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"feedmesh/config"
	"feedmesh/storage"
	"feedmesh/tests/engines"
)

// A burst of items is one mail with the number of items that it leaves out; with a schedule it is sent when that is due.
func TestDeliver_GathersMails(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped by -short: it starts a mail server")
	}
	server, err := engines.StartMailServer(t.TempDir())
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("SKIPPED, NOT TESTED: smtp-server or mailparser is not installed; run just engines")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer server.Kill()
	f := newFixture(t, 60)
	hour := time.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	f.base = hour.Add(-5 * time.Minute)
	f.env.Config.Mail = config.Mail{Server: server.Plain, From: "feeds@example.org", TLS: "none"}
	f.env.Config.PublicURL = "https://feeds.example.net/"
	f.subscribe("once", Mail, "once@example.org", 1)
	f.subscribe("hourly", Mail, "hourly@example.org", 1)
	err = storage.Subscriptions(f.store).Change(t.Context(), "hourly", func(s *storage.Subscription) (*storage.Subscription, error) {
		next := *s
		next.Schedule = "hourly"
		return &next, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := range 130 {
		keys = append(keys, fmt.Sprint("x", i))
	}
	f.enter(1, keys...)
	defer f.run()()
	for _, id := range []string{"once", "hourly"} {
		state := f.state(id, "sent", func(d storage.DeliveryState) bool { return !d.Sent.IsZero() })
		if id == "hourly" && state.Sent.Before(hour) {
			t.Errorf("sent at %v, want it at %v", state.Sent, hour)
		}
		if all := f.attempts(id); len(all) != 1 || all[0].Items != 130 || all[0].Status != 250 {
			t.Errorf("%s: got attempts %+v", id, all)
		}
	}
	mails, err := server.Inbox()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, mail := range mails {
		got[mail.To[0]]++
		id, _, _ := strings.Cut(mail.To[0], "@")
		if !strings.Contains(mail.Raw, "List-Unsubscribe-Post: List-Unsubscribe=One-Click") || !strings.Contains(mail.Text, "https://feeds.example.net/unsubscribe?id="+id+"&key=") {
			t.Errorf("the mail has no link to unsubscribe: %s", mail.Raw)
		}
		if !strings.Contains(mail.Subject, "130 items") || !strings.Contains(mail.Text, "30 more") {
			t.Errorf("got %q without the number of items: %s", mail.Subject, mail.Text[max(0, len(mail.Text)-300):])
		}
	}
	if got["once@example.org"] != 1 || got["hourly@example.org"] != 1 {
		t.Errorf("got mails %v, want one each", got)
	}
}
