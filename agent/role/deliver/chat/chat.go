// Package chat is the [channel.Channel] of chat and phone services: an address such as ntfy://host/topic names the service,
// the receiver and its token. Addresses have the forms of the library shoutrrr, which parses them and makes the requests of
// the services whose [http.Client] it lets a caller set: Discord, Gotify, Mattermost, ntfy, Pushover and Rocket.Chat.
// For Slack and generic webhooks it makes the bodies only. The requests of these two, of Telegram and of Matrix are made
// here, because shoutrrr sends them by [http.DefaultClient] or [http.DefaultTransport], which pass no guard and ignore the
// caller's context, and returns no error if Telegram can't be reached. For the same reason its other services are
// not supported. Those that run no HTTP (smtp, logger, programs) are refused.
//
// The alternative notify has neither ntfy nor Gotify and no addresses, and brings an SDK for each service, most of which send by
// clients of their own.
package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"feedmesh/agent/role/deliver/channel"
)

const (
	maxAddress  = 2000             // bytes of an address
	maxSend     = 30 * time.Second // of a request, if the caller allows more
	maxItems    = 5                // items of a message
	maxResponse = 64 << 10         // bytes that are read of a response
)

// A Channel sends messages by the services of chats and phones. Each message is one request.
type Channel struct {
	transport http.RoundTripper
}

// New returns a channel that sends all requests by the transport, which should reject private addresses.
func New(transport http.RoundTripper) *Channel { return &Channel{transport: transport} }

// Limits implements [channel.Channel].
func (*Channel) Limits() channel.Limits { return channel.Gathered(maxItems) }

// Check returns an error with the right form if an address has another. The error contains no part of
// the address but its scheme.
func (*Channel) Check(address string) error {
	_, _, err := open(address)
	return err
}

// Send sends a message once. The error is a [*channel.ResponseError] if the service responded; it contains neither the address nor its secrets.
func (c *Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	service, send, err := open(to.Address)
	if err != nil {
		return channel.Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxSend)
	defer cancel()
	once := &request{ctx: ctx, transport: c.transport}
	client := &http.Client{Transport: once, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	err = send(client, outgoing{
		id:    m.ID,
		title: cut(clean(m.Title), maxTitle),
		text:  compose(m, service.style),
		link:  singleLink(m),
	})
	return once.result(service.name, err)
}

// open parses an address. The sender may be used once.
func open(address string) (s service, send sender, err error) {
	scheme, _, found := strings.Cut(address, "://")
	s, known := services[scheme]
	if !found || !known {
		return s, nil, fmt.Errorf("address: use a service URL such as ntfy://HOST/TOPIC; the schemes are %s", strings.Join(schemes(), ", "))
	}
	s.name = scheme
	wrong := fmt.Errorf("address of %s: use the form %s", scheme, s.form)
	if len(address) > maxAddress {
		return s, nil, fmt.Errorf("address of %s: it is longer than %d bytes", scheme, maxAddress)
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Opaque != "" || u.Fragment != "" {
		return s, nil, wrong
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return s, nil, wrong
	}
	for key := range query {
		switch strings.ToLower(key) {
		case "disabletlsverification", "insecureskipverify":
			return s, nil, fmt.Errorf("address of %s: certificates are always verified; remove %s", scheme, strings.ToLower(key))
		case "email":
			return s, nil, fmt.Errorf("address of %s: it can't send mail; remove email", scheme)
		}
	}
	defer func() {
		if recover() != nil { // parsers of shoutrrr were not written for untrusted addresses: that of Matrix panics on an empty room
			send, err = nil, wrong
		}
	}()
	send, err = s.open(u)
	var refused refusal
	switch {
	case errors.As(err, &refused):
		return s, nil, fmt.Errorf("address of %s: %w", scheme, refused)
	case err != nil: // errors of shoutrrr contain tokens
		return s, nil, wrong
	}
	return s, send, nil
}
