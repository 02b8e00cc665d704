// Package webhook sends items as webhooks after the Standard Webhooks specification, version 1.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/role/deliver/channel"
)

// secretPrefix begins the text of a secret. The rest is base64.
const secretPrefix = "whsec_"

// NewSecret returns a random secret of 32 bytes, as text.
func NewSecret() string {
	secret := make([]byte, 32)
	rand.Read(secret)
	return secretPrefix + base64.StdEncoding.EncodeToString(secret)
}

// CheckSecret returns an error with the remedy unless the text is a secret of 24 to 64 bytes.
func CheckSecret(text string) error {
	if key, err := keyOf(text); err != nil || len(key) < 24 || len(key) > 64 {
		return fmt.Errorf("a secret is %s and 24 to 64 bytes as base64: leave it out to get a new one", secretPrefix)
	}
	return nil
}

func keyOf(secret string) ([]byte, error) {
	text, is := strings.CutPrefix(secret, secretPrefix)
	if !is {
		return nil, errors.New("the secret does not begin with " + secretPrefix)
	}
	return base64.StdEncoding.DecodeString(text)
}

// A Channel sends webhooks.
type Channel struct{ channel.HTTP }

// New returns a channel that connects through the transport, which refuses private addresses.
func New(transport http.RoundTripper, userAgent string, now func() time.Time) *Channel {
	return &Channel{channel.NewHTTP(transport, userAgent, now)}
}

// Limits implements [channel.Channel].
func (c *Channel) Limits() channel.Limits { return channel.Limits{Items: 1} }

// Check implements [channel.Channel].
func (c *Channel) Check(address string) error {
	if !channel.IsURL(address) {
		return errors.New("the receiver of a webhook is a URL such as https://receiver.example/hook")
	}
	return nil
}

// An Event is the body of a webhook.
type Event struct {
	Type      string    `json:"type"` // "item.entered", "alert" or "subscription.off"
	Timestamp time.Time `json:"timestamp"`
	Data      any       `json:"data"` // a [channel.Item], an [Alert] or a [channel.Off]
}

// An Alert is what a webhook of an alert has.
type Alert struct {
	Title string         `json:"title"` // of the subscription
	Text  string         `json:"text"`  // what happened
	Lines []string       `json:"lines,omitempty"`
	Items []channel.Item `json:"items"` // that it is about
	More  int            `json:"more,omitempty"`
}

// Send implements [channel.Channel]. The receiver's response is its status of HTTP.
func (c *Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	event := Event{Timestamp: m.At}
	switch {
	case m.Off != nil:
		event.Type, event.Data = "subscription.off", *m.Off
	case m.Alert != "":
		event.Type, event.Data = "alert", Alert{Title: m.Title, Text: m.Alert, Lines: m.Lines, Items: append([]channel.Item{}, m.Items...), More: m.More}
	default:
		event.Type, event.Data = "item.entered", m.Items[0]
	}
	body, err := json.Marshal(event)
	if err != nil {
		return channel.Response{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Address, bytes.NewReader(body))
	if err != nil {
		return channel.Response{}, errors.New("the receiver is not a valid URL: change it")
	}
	timestamp := strconv.FormatInt(c.Now().Unix(), 10)
	signature, err := sign(to.Secret, m.ID, timestamp, body)
	if err != nil {
		return channel.Response{}, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json",
		"Webhook-Id":   m.ID, "Webhook-Timestamp": timestamp, "Webhook-Signature": signature,
	} {
		request.Header.Set(name, value)
	}
	return c.Post(request)
}

// sign returns the signature of a message: version and HMAC-SHA256 of its ID, timestamp and body.
func sign(secret, id, timestamp string, body []byte) (string, error) {
	key, err := keyOf(secret)
	if err != nil {
		return "", fmt.Errorf("the secret is unreadable: remove the subscription and add it again: %w", err)
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)), nil
}
