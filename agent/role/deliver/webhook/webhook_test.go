package webhook

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"feedmesh/agent/role/deliver/channel"
)

var message = channel.Message{
	ID: "msg_1", At: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC), Title: "All",
	Items: []channel.Item{{ID: "a", View: "all", URL: "https://site.example/", Title: "Привет <b>", FeedID: "f"}},
}

func newChannel() *Channel { return New(http.DefaultTransport, "test", time.Now) }

func TestSend_IsVerifiedByTheLibrary(t *testing.T) {
	secret := NewSecret()
	if err := CheckSecret(secret); err != nil {
		t.Fatal(err)
	}
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := wh.Verify(body, r.Header); err != nil {
			t.Error(err)
		}
		if err := wh.Verify(append(body, ' '), r.Header); err == nil {
			t.Error("a changed body was verified")
		}
		item := channel.Item{}
		got := Event{Data: &item}
		if err := json.Unmarshal(body, &got); err != nil || !reflect.DeepEqual(got, Event{"item.entered", message.At, &message.Items[0]}) {
			t.Errorf("got %+v, %v", got, err)
		}
		if got := r.Header.Get("Webhook-Id") + " " + r.Header.Get("Content-Type") + " " + r.UserAgent(); got != "msg_1 application/json test" {
			t.Errorf("got headers %s", got)
		}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	response, err := newChannel().Send(t.Context(), channel.Receiver{Address: receiver.URL, Secret: secret}, message)
	if err != nil || response.Status != http.StatusNoContent {
		t.Errorf("got %+v, %v", response, err)
	}
}

// A response that does not accept has its status; a redirect is not followed.
func TestSend_ResponsesThatDoNotAccept(t *testing.T) {
	for status, want := range map[int]channel.ResponseError{
		302: {Status: 302, Text: "the receiver responded 302 Found"},
		410: {Status: 410, Text: "the receiver responded 410 Gone", IsGone: true},
		429: {Status: 429, Text: "the receiver responded 429 Too Many Requests", RetryAfter: 7 * time.Second},
		500: {Status: 500, Text: "the receiver responded 500 Internal Server Error"},
	} {
		requests := 0
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests++
			w.Header().Set("Location", "/elsewhere")
			if status == 429 {
				w.Header().Set("Retry-After", "7")
			}
			w.WriteHeader(status)
			io.WriteString(w, strings.Repeat("no ", 1<<20))
		}))
		_, err := newChannel().Send(t.Context(), channel.Receiver{Address: receiver.URL, Secret: NewSecret()}, message)
		receiver.Close()
		var got *channel.ResponseError
		if !errors.As(err, &got) || *got != want || requests != 1 {
			t.Errorf("status %d: got %+v (%v) after %d requests, want %+v after one", status, got, err, requests, want)
		}
	}
}

// Errors contain no part of the address, which may have a password.
func TestSend_ErrorsHaveNoAddress(t *testing.T) {
	receiver := httptest.NewServer(nil)
	receiver.Close()
	address := strings.Replace(receiver.URL, "http://", "http://u:hidden@", 1) + "/hidden?key=hidden"
	_, err := newChannel().Send(t.Context(), channel.Receiver{Address: address, Secret: NewSecret()}, message)
	if err == nil || strings.Contains(err.Error(), "hidden") || channel.StatusOf(err) != 0 {
		t.Errorf("got %v", err)
	}
	if _, err := newChannel().Send(t.Context(), channel.Receiver{Address: address, Secret: "whsec_no base64"}, message); err == nil || strings.Contains(err.Error(), "no base64") {
		t.Errorf("an unreadable secret: got %v", err)
	}
}

func TestCheck(t *testing.T) {
	for address, valid := range map[string]bool{
		"https://receiver.example/hook?a=b": true, "http://192.0.2.1:8080": true,
		"": false, "receiver.example": false, "ftp://receiver.example/": false, "https:///hook": false, "https://receiver.example/#a": false, "http://[": false,
	} {
		if err := newChannel().Check(address); (err == nil) != valid {
			t.Errorf("%q: got %v, want it valid %v", address, err, valid)
		}
	}
	for secret, valid := range map[string]bool{
		NewSecret(): true, "": false, "whsec_": false, "whsec_c2hvcnQ=": false, strings.TrimPrefix(NewSecret(), "whsec_"): false, "whsec_%": false,
	} {
		if err := CheckSecret(secret); (err == nil) != valid {
			t.Errorf("%q: got %v, want it valid %v", secret, err, valid)
		}
	}
}

func TestRedacted(t *testing.T) {
	for address, want := range map[string]string{
		"https://receiver.example/hook":                  "https://receiver.example/hook",
		"https://u:secret@receiver.example/a?key=secret": "https://u:xxxxx@receiver.example/a?…",
		"http://[": "",
	} {
		if got := newChannel().Redacted(address); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Alerts and messages that a subscription is off have types of their own; lists are never null.
func TestSend_OtherTypes(t *testing.T) {
	at := message.At
	for want, m := range map[string]channel.Message{
		`{"type":"alert","timestamp":"2026-11-27T12:00:00Z","data":{"title":"All","text":"2 feeds fail","lines":["A: timeout"],"items":[],"more":1}}`: {
			ID: "msg_2", At: at, Title: "All", Alert: "2 feeds fail", Lines: []string{"A: timeout"}, More: 1},
		`{"type":"subscription.off","timestamp":"2026-11-27T12:00:00Z","data":{"id":"s","title":"All","channel":"mail","reason":"it failed","url":"https://feeds.example.net/views/subscriptions/s"}}`: {
			ID: "msg_3", At: at, Title: "All", Alert: "this subscription is off", Lines: []string{"it failed"},
			Off: &channel.Off{ID: "s", Title: "All", Channel: "mail", Reason: "it failed", URL: "https://feeds.example.net/views/subscriptions/s"}},
	} {
		receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); string(body) != want {
				t.Errorf("got %s, want %s", body, want)
			}
		}))
		if _, err := newChannel().Send(t.Context(), channel.Receiver{Address: receiver.URL, Secret: NewSecret()}, m); err != nil {
			t.Error(err)
		}
		receiver.Close()
	}
}
