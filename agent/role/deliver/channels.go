package deliver

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"feedmesh/agent/role/crawl/fetch"
	"feedmesh/agent/role/deliver/channel"
	"feedmesh/agent/role/deliver/chat"
	"feedmesh/agent/role/deliver/hub"
	"feedmesh/agent/role/deliver/mail"
	"feedmesh/agent/role/deliver/subject"
	"feedmesh/agent/role/deliver/webhook"
	"feedmesh/config"
	"feedmesh/subjects"
)

// The names of channels.
const (
	Webhook = "webhook"
	NATS    = "nats"
	Chat    = "chat"
	WebSub  = "websub"
	Mail    = "mail" // if a mail server is configured
)

// UnsubscribePath is the path at which who has the link in a mail ends its subscription.
const UnsubscribePath = "/unsubscribe"

// unsubscribeURL returns the link in the mails of a subscription, whose secret is the key; empty without a public URL or a key.
func unsubscribeURL(base, subscription, key string) string {
	if base == "" || key == "" {
		return ""
	}
	return base + UnsubscribePath + "?" + url.Values{"id": {subscription}, "key": {key}}.Encode()
}

// Channels returns the channels of a process by name, for the role and for checks of addresses. They connect through the transport,
// which refuses private addresses, except to the mail server. base is the public URL of the console, or empty. The error states how to correct a setting.
func Channels(c config.Mail, base string, transport http.RoundTripper, out subjects.Publisher, now func() time.Time) (map[string]channel.Channel, error) {
	channels := map[string]channel.Channel{
		Webhook: webhook.New(transport, fetch.Product, now),
		NATS:    subject.New(out),
		Chat:    chat.New(transport),
		WebSub:  hub.New(transport, fetch.Product, now),
	}
	if c.Server == "" {
		return channels, nil
	}
	mails, err := mail.New(mail.Options{Server: c.Server, User: c.User, Password: string(c.Password), From: c.From, TLS: mail.TLS(c.TLS), BaseURL: base})
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	channels[Mail] = mails
	return channels, nil
}
