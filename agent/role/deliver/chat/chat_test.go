package chat

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"feedmesh/agent/role/deliver/channel"
)

var _ channel.Channel = (*Channel)(nil)

// secret is the secret part of every address in addresses.
const secret = "AsecretAsecretX"

// addresses has an address of each service, with %H for a host where it has one.
var addresses = map[string]string{
	"discord":    "discord://" + secret + "@123456",
	"generic":    "generic://%H/" + secret + "?template=json&disabletls=yes&$to=%2B49123&@Authorization=Bearer+" + secret,
	"gotify":     "gotify://%H/" + secret + "?disabletls=yes",
	"matrix":     "matrix://:" + secret + "@%H/?rooms=!room:example.org&disabletls=yes",
	"mattermost": "mattermost://%H/" + secret + "?disabletls=yes",
	"ntfy":       "ntfy://user:" + secret + "@%H/" + secret + "?scheme=http&priority=high",
	"pushover":   "pushover://:" + secret + "@" + secret,
	"rocketchat": "rocketchat://%H/" + secret + "/" + secret,
	"slack":      "slack://hook:AAAAAAAAA-BBBBBBBBB-" + secret + "secretsecret@webhook",
	"telegram":   "telegram://123:" + secret + "@telegram?chats=@news",
}

func address(scheme, host string) string { return strings.ReplaceAll(addresses[scheme], "%H", host) }

// roundTrip is a transport made of a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
}

func message() channel.Message {
	return channel.Message{ID: "msg_1", Title: "Morning", Items: []channel.Item{{ID: "1", Title: "A title", URL: "https://example.com/1", Excerpt: "It begins."}}}
}

func TestCheck_AcceptsEachService(t *testing.T) {
	if len(addresses) != len(services) {
		t.Fatalf("%d addresses, want one of each of %d services", len(addresses), len(services))
	}
	for scheme := range services {
		if err := New(nil).Check(address(scheme, "example.org")); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

func TestCheck_RejectsOthersWithAdviceAndWithoutSecrets(t *testing.T) {
	for _, test := range []struct{ address, want string }{
		{"", "the schemes are discord, generic"},
		{"https://example.com", "ntfy://HOST/TOPIC"},
		{"smtp://user:" + secret + "@host/?to=a@b.c", "the schemes are"},
		{"logger://", "the schemes are"},
		{"script:///bin/sh", "the schemes are"},
		{"exec:" + secret, "the schemes are"},
		{"generic+https://example.com", "the schemes are"},
		{"ntfy://", "use the form ntfy://HOST/TOPIC"},
		{"ntfy://host", "use the form"},
		{"ntfy://host/" + secret + "?scheme=gopher", "http or https"},
		{"ntfy://host/" + secret + "?email=a@b.c", "remove email"},
		{"ntfy://host/" + secret + "?disabletlsverification=yes", "always verified"},
		{"ntfy://host/" + strings.Repeat(secret, 200), "longer than 2000 bytes"},
		{"ntfy://host/%zz" + secret, "use the form"},
		{"gotify://host/short", "15 characters"},
		{"telegram://" + secret + "@telegram?chats=1", "use the form"},
		{"telegram://1:" + secret + "@telegram?chats=1,2", "several chats"},
		{"slack://" + secret, "use the form"},
		{"matrix://user:" + secret + "@host/?rooms=!a:b", "access token"},
		{"matrix://:" + secret + "@host/?rooms=,", "one room"},
		{"discord://" + secret + "@1/raw", "raw JSON"},
		{"generic://host/" + secret + "?template=/etc/passwd", "template json"},
		{"generic://host/" + secret + "?method=DELETE", "POST or PUT"},
	} {
		err := New(nil).Check(test.address)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("Check(%q) = %v, want %q", test.address, err, test.want)
		}
	}
}

// guarded is a transport that refuses private addresses when they are dialed, as that of fetch.Client does.
func guarded(refused error) *http.Transport {
	dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		if strings.HasPrefix(address, "127.") {
			return refused
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext}
}

func TestSend_RefusesWhatTheTransportRefuses(t *testing.T) {
	refused := errors.New("blocked: not a public web address")
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests++ }))
	defer server.Close()
	for scheme, form := range addresses {
		if !strings.Contains(form, "%H") {
			continue
		}
		_, err := New(guarded(refused)).Send(t.Context(), channel.Receiver{Address: address(scheme, server.Listener.Addr().String())}, message())
		if !errors.Is(err, refused) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want the transport's error without secrets", scheme, err)
		}
	}
	if requests > 0 {
		t.Errorf("%d requests arrived, want none", requests)
	}
}

func TestSend_SendsOneRequestOfEachServiceByTheTransport(t *testing.T) {
	for scheme := range services {
		var requests []string
		var bodies string
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			body, _ := io.ReadAll(r.Body)
			requests, bodies = append(requests, r.Method+" "+r.URL.Host), bodies+string(body)
			return answer(200, `{"ok":true}`), nil
		})
		response, err := New(transport).Send(t.Context(), channel.Receiver{Address: address(scheme, "example.org")}, message())
		if err != nil || response.Status != 200 || len(requests) != 1 {
			t.Errorf("%s: %v, %v, requests %q", scheme, response, err, requests)
		}
		if !strings.Contains(bodies, "A title") && !strings.Contains(bodies, "A+title") {
			t.Errorf("%s: body %q", scheme, bodies)
		}
	}
}

func TestSend_MapsStatusesAndHidesSecrets(t *testing.T) {
	for scheme := range services {
		for _, status := range []int{302, 401, 404, 410, 429, 503} {
			requests := 0
			transport := roundTrip(func(r *http.Request) (*http.Response, error) {
				requests++
				response := answer(status, `{"error":"`+secret+`","errorDescription":"`+r.URL.String()+`"}`)
				response.Header.Set("Retry-After", "7")
				response.Header.Set("Location", "http://127.0.0.1/"+secret)
				return response, nil
			})
			_, err := New(transport).Send(t.Context(), channel.Receiver{Address: address(scheme, "example.org")}, message())
			var rejected *channel.ResponseError
			if !errors.As(err, &rejected) || rejected.Status != status || rejected.IsGone != (status == 410) || rejected.RetryAfter != 7*time.Second || requests != 1 {
				t.Errorf("%s: status %d in %d requests: %#v", scheme, status, requests, err)
				continue
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the error contains a secret: %v", scheme, err)
			}
		}
	}
}

func TestSend_ReturnsRejectionsOfSlackWithStatus200(t *testing.T) {
	transport := roundTrip(func(*http.Request) (*http.Response, error) {
		return answer(200, `{"ok":false,"error":"channel_not_found"}`), nil
	})
	_, err := New(transport).Send(t.Context(), channel.Receiver{Address: "slack://xoxb:AAAAAAAAA-BBBBBBBBB-" + secret + "secretsecret@C123"}, message())
	if channel.StatusOf(err) != 200 || !strings.Contains(err.Error(), "channel_not_found") {
		t.Errorf("got %v, want the code of Slack", err)
	}
}

func TestSend_EndsWithTheContext(t *testing.T) {
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "slow") {
			w.WriteHeader(200)
			w.(http.Flusher).Flush()
		}
		<-hang
	}))
	defer server.Close()
	defer close(hang)
	hosts := roundTrip(func(r *http.Request) (*http.Response, error) { // of services with a fixed host too
		r = r.Clone(r.Context())
		r.URL.Scheme, r.URL.Host = "http", server.Listener.Addr().String()
		return http.DefaultTransport.RoundTrip(r)
	})
	for scheme := range services {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		begin := time.Now()
		_, err := New(hosts).Send(ctx, channel.Receiver{Address: address(scheme, "example.org")}, message())
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 9*time.Second {
			t.Errorf("%s: %v after %v, want the end of the context", scheme, err, time.Since(begin))
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	if _, err := New(hosts).Send(ctx, channel.Receiver{Address: "ntfy://example.org/slow?scheme=http"}, message()); err == nil {
		t.Error("a response whose body hangs is accepted")
	}
}

func TestSend_DefusesMentions(t *testing.T) {
	m := message()
	m.Items[0].Title = "@everyone <!channel> [x](https://evil.example) <b>"
	texts := map[string]string{}
	for _, scheme := range []string{"discord", "slack", "telegram", "mattermost"} {
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			var body map[string]any
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"text", "content"} {
				if text, ok := body[key].(string); ok {
					texts[scheme] = text
				}
			}
			if body["parse_mode"] != nil {
				t.Error("Telegram parses the text")
			}
			return answer(200, `{"ok":true}`), nil
		})
		if _, err := New(transport).Send(t.Context(), channel.Receiver{Address: address(scheme, "example.org")}, m); err != nil {
			t.Errorf("%s: %v", scheme, err)
		}
	}
	for scheme, bad := range map[string][]string{"discord": {"@everyone", "[x]("}, "mattermost": {"@everyone", "[x]("}, "slack": {"<!channel>", "<"}} {
		for _, text := range bad {
			if strings.Contains(texts[scheme], text) {
				t.Errorf("%s: %q contains %q", scheme, texts[scheme], text)
			}
		}
	}
	if !strings.Contains(texts["telegram"], m.Items[0].Title) {
		t.Errorf("telegram: %q, want the title as it is", texts["telegram"])
	}
}

func TestRedacted_HidesSecrets(t *testing.T) {
	want := map[string]string{
		"generic":  "generic://example.org/…",
		"matrix":   "matrix://…@example.org?rooms=!room:example.org",
		"ntfy":     "ntfy://…@example.org/…",
		"pushover": "pushover://…@…",
		"slack":    "slack://…@…",
		"telegram": "telegram://…@telegram?chats=@news",
	}
	for scheme := range services {
		got := New(nil).Redacted(address(scheme, "example.org"))
		if strings.Contains(got, secret) || want[scheme] != "" && got != want[scheme] {
			t.Errorf("Redacted of %s = %q, want %q", scheme, got, want[scheme])
		}
	}
	if got := New(nil).Redacted("unknown://" + secret); got != "…" {
		t.Errorf("Redacted of an unknown scheme = %q", got)
	}
}

func FuzzCheck(f *testing.F) {
	for scheme := range addresses {
		f.Add(address(scheme, "example.org"))
	}
	f.Add("slack://host")
	f.Add("matrix://:a@b/?rooms=,")
	f.Fuzz(func(t *testing.T, address string) {
		_ = New(nil).Redacted(address)
		if New(nil).Check(address) != nil {
			return
		}
		requests := 0
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			requests++
			return answer(200, `{"ok":true}`), nil
		})
		_, _ = New(transport).Send(t.Context(), channel.Receiver{Address: address}, message())
		if requests > 1 {
			t.Errorf("%d requests", requests)
		}
	})
}
