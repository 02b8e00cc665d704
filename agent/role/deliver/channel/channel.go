// Package channel has what the channels have in common through which subscriptions send items: webhooks, mail and others.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"time"

	"feedmesh/agent/syndication"
)

// A Channel sends messages to receivers of one kind. Its methods may be called concurrently.
type Channel interface {
	// Check returns an error with the remedy if an address has not the form of this channel. It connects to nothing.
	Check(address string) error

	// Redacted returns an address without its secrets, for pages and logs.
	Redacted(address string) string

	// Send sends a message once, within the time that ctx allows. The error is a [*ResponseError] if the receiver responded.
	Send(ctx context.Context, to Receiver, m Message) (Response, error)

	// Limits returns the limits of messages.
	Limits() Limits
}

// Limits are the limits of the messages of a channel.
type Limits struct {
	Items int           // number of items that a message shows; 1: each item has a message of its own, as a webhook
	More  int           // number of further items that entered, which a message may leave out
	Pause time.Duration // from a message of several items to the next, so that a burst is one message
}

// Gathered are the limits of messages to people: they show a number of items, and state how many more there are.
func Gathered(items int) Limits {
	return Limits{Items: items, More: 500 - items, Pause: 30 * time.Second}
}

// A Receiver is where a subscription sends its messages.
type Receiver struct {
	Address     string // in clear text
	Secret      string // by which messages are signed, in clear text; or empty
	Unsubscribe string // URL at which a POST ends the subscription (RFC 8058) and a GET shows a page for it; or empty
	Topic       string // URL of the feed whose new entries it gets; empty: it gets no feed
}

// A Message informs a receiver of items that entered a view, of an alert, or of a subscription that is off.
type Message struct {
	ID    string    // the same in each attempt, so that the receiver recognises repeats
	At    time.Time // when its first item entered
	Title string    // of the subscription
	Alert string    // what happened; empty: the message has items only
	Lines []string  // more about it, a sentence each
	Items []Item    // 1 to [Limits.Items]; of an alert 0 to 20 or [Limits.Items]
	More  int       // number of further items that entered, but are not in Items; or of further lines
	Off   *Off      // the subscription that is off; nil: the message is about another thing
}

// Link returns the URL of the page about the message; empty: it has none.
func (m Message) Link() string {
	if m.Off == nil {
		return ""
	}
	return m.Off.URL
}

// An Off is a subscription that was turned off, of which its owner is informed through another one.
type Off struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Channel string `json:"channel"`
	Reason  string `json:"reason"`
	URL     string `json:"url,omitempty"` // page at which it is turned on again; empty: the console has no public URL
}

// Heading returns the title of the message.
func (m Message) Heading() string {
	if m.Alert == "" {
		return m.Title
	}
	return m.Title + ": " + m.Alert
}

// An Item is an item as receivers get it.
type Item struct {
	ID         string    `json:"id"`
	View       string    `json:"view"` // name of the view that it entered
	URL        string    `json:"url"`
	Title      string    `json:"title"`
	Excerpt    string    `json:"excerpt,omitempty"` // beginning of its text, without markup
	Author     string    `json:"author,omitempty"`
	FeedID     string    `json:"feed_id"`
	FeedTitle  string    `json:"feed_title,omitempty"`
	Published  time.Time `json:"published"`
	Language   string    `json:"language,omitempty"` // BCP 47
	Categories []string  `json:"categories,omitempty"`
	Topics     []string  `json:"topics,omitempty"`
	Labels     []string  `json:"labels,omitempty"` // that the view sets
	StoryID    string    `json:"story_id,omitempty"`

	Entry syndication.Entry `json:"-"` // the item in a feed
}

// A Response is what a receiver responded to a message that it accepted.
type Response struct {
	Status int // code in the channel's protocol, such as that of HTTP
}

// A ResponseError is a response that does not accept a message.
type ResponseError struct {
	Status     int
	Text       string        // short description, without secrets
	RetryAfter time.Duration // that the receiver requests; 0: none
	IsGone     bool          // it wants no more messages
}

func (e *ResponseError) Error() string { return e.Text }

// StatusOf returns the code of the response that an error of [Channel.Send] contains, 0 without a response.
func StatusOf(err error) int {
	var response *ResponseError
	if errors.As(err, &response) {
		return response.Status
	}
	return 0
}

// WithoutURL returns the cause of an error of an HTTP request, without its URL, which may contain secrets.
func WithoutURL(err error) error {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err
}

// MessageID returns the ID of a message of a subscription that begins with an item.
func MessageID(subscription, itemID string) string {
	sum := sha256.Sum256([]byte(subscription + "\x00" + itemID))
	return "msg_" + base64.RawURLEncoding.EncodeToString(sum[:18])
}
