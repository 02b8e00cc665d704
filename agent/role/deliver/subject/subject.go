// Package subject sends items to programs that subscribe to a NATS subject of the mesh, as events.
package subject

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"feedmesh/agent/role/deliver/channel"
	"feedmesh/subjects"
)

// A Channel publishes items as events of the kind [subjects.ViewItem] with the address added, whose subject is
// events.view.item.ADDRESS.
type Channel struct{ out subjects.Publisher }

// New returns a channel that publishes to the mesh.
func New(out subjects.Publisher) Channel { return Channel{out} }

// Limits implements [channel.Channel].
func (Channel) Limits() channel.Limits { return channel.Limits{Items: 1} }

// Redacted implements [channel.Channel]: a subject is no secret.
func (Channel) Redacted(address string) string { return "events." + subjects.ViewItem + address }

var isAddress = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Check implements [channel.Channel].
func (Channel) Check(address string) error {
	if !isAddress.MatchString(address) {
		return errors.New("the receiver is the last part of a NATS subject, lower-case letters, digits, - and _, such as security for events.view.item.security")
	}
	return nil
}

// Send implements [channel.Channel]. The mesh drops repeats within two minutes.
func (c Channel) Send(ctx context.Context, to channel.Receiver, m channel.Message) (channel.Response, error) {
	var item channel.Item // none of some alerts
	if len(m.Items) > 0 {
		item = m.Items[0]
	}
	event := subjects.Event{
		Kind: subjects.ViewItem + to.Address, At: m.At, Name: item.View, ItemID: item.ID, FeedID: item.FeedID, Title: item.Title, URL: item.URL, StoryID: item.StoryID,
		Text: strings.TrimSpace(m.Alert + "\n" + strings.Join(m.Lines, "\n")),
	}
	if m.Off != nil {
		event.Title, event.Name, event.URL = m.Off.Title, m.Off.ID, m.Off.URL
	}
	return channel.Response{}, c.out.Publish(ctx, event.Message())
}
