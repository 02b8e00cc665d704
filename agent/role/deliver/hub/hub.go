// Package hub sends the new entries of the feeds of views to WebSub subscribers, and verifies that these want them.
//
// Source: W3C Recommendation WebSub.
package hub

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/syndication"
)

// Path is the path of the hub. It is one of the paths of feeds, by whose tokens it is authorized.
const Path = "/outputs/hub"

// The modes of requests.
const (
	Subscribe   = "subscribe"
	Unsubscribe = "unsubscribe"
)

// Bounds of requests, section 5.1.
const (
	DefaultLease = 10 * 24 * time.Hour
	MinLease     = 5 * time.Minute
	MaxLease     = 30 * 24 * time.Hour
	MaxSecret    = 199 // bytes
	MaxURL       = 2048
)

// Bounds of messages. A feed has a hundred entries too.
const (
	maxEntries = 100
	pause      = 2 * time.Second
)

// A Channel sends feeds of new entries to subscribers.
type Channel struct{ channel.HTTP }

// New returns a channel that connects through the transport, which refuses private addresses.
func New(transport http.RoundTripper, userAgent string, now func() time.Time) *Channel {
	return &Channel{channel.NewHTTP(transport, userAgent, now)}
}

// Limits implements [channel.Channel]: a message leaves nothing out.
func (c *Channel) Limits() channel.Limits { return channel.Limits{Items: maxEntries, Pause: pause} }

// Check implements [channel.Channel].
func (c *Channel) Check(address string) error {
	if !channel.IsURL(address) || len(address) > MaxURL {
		return fmt.Errorf("the callback of a subscriber is a URL of at most %d bytes, such as https://reader.example/push", MaxURL)
	}
	return nil
}

// Links returns the value of the header Link of a feed, section 4.
func Links(hub, topic string) string {
	return fmt.Sprintf(`<%s>; rel="hub", <%s>; rel="self"`, hub, topic)
}

// Send implements [channel.Channel]: it sends the feed with the new entries alone, section 7.
func (c *Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	topic, err := url.Parse(to.Topic)
	if err != nil {
		return channel.Response{}, errors.New("the feed is not a valid URL: let the subscriber subscribe again")
	}
	format, _, is := syndication.FormatOf(topic.Path)
	if !is {
		return channel.Response{}, errors.New("the feed has no known format: let the subscriber subscribe again")
	}
	home := url.URL{Scheme: topic.Scheme, Host: topic.Host, Path: "/"}
	hub := home
	hub.Path = Path
	d := syndication.Document{Title: m.Title, Home: home.String(), Self: to.Topic, Hub: hub.String()}
	for _, item := range m.Items {
		d.Add(item.Entry)
	}
	body, err := format.Write(d)
	if err != nil {
		return channel.Response{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Address, bytes.NewReader(body))
	if err != nil {
		return channel.Response{}, errors.New("the callback is not a valid URL: let the subscriber subscribe again")
	}
	request.Header.Set("Content-Type", format.Kind+"; charset=utf-8")
	request.Header.Set("Link", Links(d.Hub, d.Self))
	if to.Secret != "" {
		mac := hmac.New(sha256.New, []byte(to.Secret))
		mac.Write(body)
		request.Header.Set("X-Hub-Signature", "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
	return c.Post(request)
}

// Verify returns nil if a subscriber confirms that it requested to subscribe to a topic, for the time of the lease, or to
// unsubscribe, section 5.3.
func (c *Channel) Verify(ctx context.Context, callback, mode, topic string, lease time.Duration) error {
	address, err := url.Parse(callback)
	if err != nil {
		return err
	}
	challenge := rand.Text()
	query := url.Values{"hub.mode": {mode}, "hub.topic": {topic}, "hub.challenge": {challenge}}
	if mode == Subscribe {
		query.Set("hub.lease_seconds", strconv.Itoa(int(lease.Seconds())))
	}
	if address.RawQuery != "" { // kept as it is
		address.RawQuery += "&"
	}
	address.RawQuery += query.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", c.UserAgent)
	response, err := c.Client.Do(request)
	if err != nil {
		return fmt.Errorf("the callback of the subscriber can't be reached: %w", channel.WithoutURL(err))
	}
	defer response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the subscriber did not confirm: it responded %s", response.Status)
	}
	got, err := io.ReadAll(io.LimitReader(response.Body, int64(len(challenge))+1))
	if err != nil || subtle.ConstantTimeCompare(got, []byte(challenge)) == 0 {
		return errors.New("the subscriber did not confirm: it responded without the challenge")
	}
	return nil
}
