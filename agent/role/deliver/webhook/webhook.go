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
	"io"
	"net/http"
	"net/url"
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

// maxResponse is the part of a response that is read, in bytes, so that its connection can be used again.
const maxResponse = 4 << 10

// A Channel sends webhooks.
type Channel struct {
	client    http.Client
	userAgent string
	now       func() time.Time
}

// New returns a channel that connects through the transport, which refuses private addresses.
func New(transport http.RoundTripper, userAgent string, now func() time.Time) *Channel {
	// A redirect is an error: the owner of the receiver would not learn that it moved.
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Channel{http.Client{Transport: transport, CheckRedirect: refuse}, userAgent, now}
}

// MaxItems implements [channel.Channel].
func (c *Channel) MaxItems() int { return 1 }

// Check implements [channel.Channel].
func (c *Channel) Check(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		return errors.New("the receiver of a webhook is a URL such as https://receiver.example/hook")
	}
	return nil
}

// Redacted implements [channel.Channel]: a query may contain secrets.
func (c *Channel) Redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	if u.RawQuery != "" {
		u.RawQuery = "…"
	}
	return u.Redacted()
}

// An Event is the body of a webhook.
type Event struct {
	Type      string       `json:"type"` // "item.entered"
	Timestamp time.Time    `json:"timestamp"`
	Data      channel.Item `json:"data"`
}

// Send implements [channel.Channel]. The receiver's response is its status of HTTP.
func (c *Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	body, err := json.Marshal(Event{"item.entered", m.At, m.Items[0]})
	if err != nil {
		return channel.Response{}, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.Address, bytes.NewReader(body))
	if err != nil {
		return channel.Response{}, errors.New("the receiver is not a valid URL: change it")
	}
	timestamp := strconv.FormatInt(c.now().Unix(), 10)
	signature, err := sign(to.Secret, m.ID, timestamp, body)
	if err != nil {
		return channel.Response{}, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "User-Agent": c.userAgent,
		"Webhook-Id": m.ID, "Webhook-Timestamp": timestamp, "Webhook-Signature": signature,
	} {
		request.Header.Set(name, value)
	}
	response, err := c.client.Do(request)
	if err != nil {
		return channel.Response{}, channel.WithoutURL(err)
	}
	defer response.Body.Close()
	io.CopyN(io.Discard, response.Body, maxResponse)
	if response.StatusCode/100 == 2 {
		return channel.Response{Status: response.StatusCode}, nil
	}
	return channel.Response{}, &channel.ResponseError{
		Status: response.StatusCode, Text: "the receiver responded " + strings.TrimSpace(strconv.Itoa(response.StatusCode)+" "+http.StatusText(response.StatusCode)),
		RetryAfter: retryAfter(response.Header.Get("Retry-After"), c.now()), IsGone: response.StatusCode == http.StatusGone,
	}
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

// retryAfter returns the duration of a header, in seconds or as a date; 0 without one.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(seconds, 0)) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
