package deliver

import (
	"fmt"
	"net/http"
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

// Channels returns the channels of a process by name, for the role and for checks of addresses. They connect through the transport,
// which refuses private addresses, except to the mail server. The error states how to correct a setting.
func Channels(c config.Mail, transport http.RoundTripper, out subjects.Publisher, now func() time.Time) (map[string]channel.Channel, error) {
	channels := map[string]channel.Channel{
		Webhook: webhook.New(transport, fetch.Product, now),
		NATS:    subject.New(out),
		Chat:    chat.New(transport),
		WebSub:  hub.New(transport, fetch.Product, now),
	}
	if c.Server == "" {
		return channels, nil
	}
	mails, err := mail.New(mail.Options{Server: c.Server, User: c.User, Password: string(c.Password), From: c.From, TLS: mail.TLS(c.TLS)})
	if err != nil {
		return nil, fmt.Errorf("mail: %w", err)
	}
	channels[Mail] = mails
	return channels, nil
}
