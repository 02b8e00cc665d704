package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"feedmesh/agent/client"
	"feedmesh/agent/wire"
)

// A subscriptionsCommand groups the commands about subscriptions to views.
type subscriptionsCommand struct {
	List   subscriptionsListCommand   `cmd:"" help:"List your subscriptions."`
	Add    subscriptionsAddCommand    `cmd:"" help:"Send the new items of views to a receiver."`
	On     subscriptionsOnCommand     `cmd:"" help:"Turn subscriptions on again."`
	Off    subscriptionsOffCommand    `cmd:"" help:"Turn subscriptions off."`
	Log    subscriptionsLogCommand    `cmd:"" help:"Show what was sent, and what failed."`
	Repeat subscriptionsRepeatCommand `cmd:"" help:"Send items again."`
	Remove subscriptionsRemoveCommand `cmd:"" help:"Remove subscriptions."`
}

// A subscriptionsListCommand lists subscriptions.
type subscriptionsListCommand struct{ query }

// Help implements kong's HelpProvider.
func (subscriptionsListCommand) Help() string {
	return `Those that fail, are off, or have a condition that can't hold, have the reason:

    agent subscriptions list`
}

// Run implements the command.
func (c *subscriptionsListCommand) Run(ctx context.Context, p *program) error {
	return printAnswer(ctx, p, c.query, wire.ListSubscriptions, wire.None{}, func(pg *page, all wire.SubscriptionList) {
		if len(all.Subscriptions) == 0 {
			p.notice("no subscriptions yet; add one with: agent subscriptions add VIEW --webhook URL")
			return
		}
		pg.table(func(row func(...any)) {
			row("ID", "TITLE", "VIEWS", "RECEIVER", "STATE")
			for _, s := range all.Subscriptions {
				row(s.ID, s.Title, strings.Join(s.Views, ", "), s.Channel+" "+s.Receiver, stateOfSubscription(s))
			}
		})
	})
}

func stateOfSubscription(s wire.SubscriptionState) string {
	switch s.State {
	case wire.SubscriptionOff:
		return "off: " + s.Off
	case wire.SubscriptionFailing:
		return fmt.Sprintf("failing since %s, %d attempts", s.FailingSince.Local().Format("2006-01-02 15:04"), s.Failures)
	}
	if s.Problem != "" {
		return "on, but its condition can't hold: " + s.Problem
	}
	return "on"
}

// A subscriptionsAddCommand adds a subscription.
type subscriptionsAddCommand struct {
	query
	Views    []string `arg:"" name:"view" help:"Names of views."`
	Title    string   `help:"Title; by default the names of the views."`
	Webhook  string   `xor:"receiver" required:"" placeholder:"URL" help:"URL that gets each item as JSON by POST."`
	NATS     string   `name:"nats" xor:"receiver" required:"" placeholder:"NAME" help:"Last part of the subject events.view.item.NAME."`
	Chat     string   `xor:"receiver" required:"" placeholder:"URL" help:"Chat or phone service that gets a message of the new items, such as ntfy://ntfy.sh/TOPIC."`
	Mail     string   `xor:"receiver" required:"" placeholder:"ADDRESS" help:"Address that gets a mail of the new items."`
	Schedule string   `help:"When mails and messages to chats are sent: hourly, daily 08:00 ZONE or weekly mon 08:00 ZONE, with quiet 22:00-07:00 ZONE after it or alone; by default at once."`
	Alert    string   `placeholder:"CONDITION" help:"Send a message when this holds, in place of each item: more than N in TIME, story reaches N publishers, new event, burst, silence of TIME, feed fails, or sentiment falls by N in TIME. TIME is such as 90m, 6h or 2d."`
	Secret   string   `help:"Secret by which webhooks are signed; by default a new one."`
}

// Help implements kong's HelpProvider.
func (subscriptionsAddCommand) Help() string {
	return `Each item that enters one of the views from now on is sent at least once, always with the same ID:

    agent subscriptions add security-ru --webhook https://receiver.example/hook
    agent subscriptions add security-ru linux --mail ann@example.org --schedule 'daily 08:00 Europe/Berlin'
    agent subscriptions add security-ru --chat ntfy://ntfy.sh/my-topic --alert 'story reaches 5 publishers'`
}

// Run implements the command.
func (c *subscriptionsAddCommand) Run(ctx context.Context, p *program) error {
	in := wire.AddSubscriptionRequest{}
	in.Body.Title, in.Body.Views, in.Body.Secret = c.Title, c.Views, c.Secret
	in.Body.Channel, in.Body.Receiver = "webhook", c.Webhook
	in.Body.Schedule, in.Body.Alert = c.Schedule, c.Alert
	switch {
	case c.NATS != "":
		in.Body.Channel, in.Body.Receiver = "nats", c.NATS
	case c.Chat != "":
		in.Body.Channel, in.Body.Receiver = "chat", c.Chat
	case c.Mail != "":
		in.Body.Channel, in.Body.Receiver = "mail", c.Mail
	}
	return printAnswer(ctx, p, c.query, wire.AddSubscription, in, func(pg *page, added wire.AddedSubscription) {
		pg.printf("%s\n", added.ID)
		if added.Secret != "" {
			pg.printf("secret, shown only now: %s\n", added.Secret)
		}
	})
}

// A subscriptionsOnCommand turns subscriptions on.
type subscriptionsOnCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of subscriptions."`
}

// Help implements kong's HelpProvider.
func (subscriptionsOnCommand) Help() string {
	return `What entered meanwhile is sent:

    agent subscriptions on ID`
}

// Run implements the command.
func (c *subscriptionsOnCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.IDs, "%s: on", turn(ctx, true))
}

// A subscriptionsOffCommand turns subscriptions off.
type subscriptionsOffCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of subscriptions."`
}

// Help implements kong's HelpProvider.
func (subscriptionsOffCommand) Help() string {
	return `Items that enter wait until the subscription is on again:

    agent subscriptions off ID`
}

// Run implements the command.
func (c *subscriptionsOffCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.IDs, "%s: off", turn(ctx, false))
}

// turn returns a function that turns a subscription on or off.
func turn(ctx context.Context, on bool) func(*client.Client, string) error {
	return func(api *client.Client, id string) error {
		in := wire.ChangeSubscriptionRequest{ByID: wire.ByID{ID: id}}
		in.Body.On = on
		_, err := client.Call(ctx, api, wire.ChangeSubscription, in)
		return err
	}
}

// A subscriptionsLogCommand shows the attempts of a subscription.
type subscriptionsLogCommand struct {
	query
	ID    string `arg:"" name:"id" help:"ID of a subscription."`
	Limit int    `default:"50" help:"Number of attempts, at most 200."`
}

// Help implements kong's HelpProvider.
func (subscriptionsLogCommand) Help() string {
	return `The last 1,000 attempts are stored, the last are printed first:

    agent subscriptions log ID --limit 200`
}

// Run implements the command.
func (c *subscriptionsLogCommand) Run(ctx context.Context, p *program) error {
	in := wire.ListAttemptsRequest{ByID: wire.ByID{ID: c.ID}, Limit: c.Limit}
	return printAnswer(ctx, p, c.query, wire.ListAttempts, in, func(pg *page, log wire.DeliveryAttempts) {
		if len(log.Attempts) == 0 {
			p.notice("nothing was sent yet")
			return
		}
		pg.table(func(row func(...any)) {
			row("AT", "ITEM", "ATTEMPT", "TOOK", "RESULT")
			for _, a := range log.Attempts {
				result := "received"
				if a.Error != "" {
					result = a.Error
				}
				if !a.Next.IsZero() {
					result += ", again at " + a.Next.Local().Format(time.TimeOnly)
				}
				item := a.ItemID
				if item == "" {
					item = fmt.Sprint(a.Items, " items")
				}
				row(a.At.Local().Format(time.DateTime), item, a.Number, time.Duration(a.Took*float64(time.Second)).Round(time.Millisecond), result)
			}
		})
	})
}

// A subscriptionsRepeatCommand sends items again.
type subscriptionsRepeatCommand struct {
	query
	ID    string        `arg:"" name:"id" help:"ID of a subscription."`
	Item  string        `xor:"items" required:"" help:"ID of an item in the log."`
	Since time.Duration `xor:"items" required:"" placeholder:"DURATION" help:"All items that entered in the last time, such as 24h."`
}

// Help implements kong's HelpProvider.
func (subscriptionsRepeatCommand) Help() string {
	return `Messages keep their IDs, so receivers that have them may ignore them:

    agent subscriptions repeat ID --since 24h`
}

// Run implements the command.
func (c *subscriptionsRepeatCommand) Run(ctx context.Context, p *program) error {
	in := wire.RepeatRequest{ByID: wire.ByID{ID: c.ID}}
	if in.Body.Item = c.Item; c.Item == "" {
		in.Body.Since = time.Now().Add(-c.Since)
	}
	return c.each(ctx, p, []string{c.ID}, "%s: items are sent again", func(api *client.Client, _ string) error {
		return client.Do(ctx, api, wire.RepeatDelivery, in)
	})
}

// A subscriptionsRemoveCommand removes subscriptions.
type subscriptionsRemoveCommand struct {
	query
	IDs []string `arg:"" name:"id" help:"IDs of subscriptions."`
}

// Help implements kong's HelpProvider.
func (subscriptionsRemoveCommand) Help() string {
	return `Its log is removed too:

    agent subscriptions remove ID`
}

// Run implements the command.
func (c *subscriptionsRemoveCommand) Run(ctx context.Context, p *program) error {
	return c.each(ctx, p, c.IDs, "%s: removed", func(api *client.Client, id string) error {
		return client.Do(ctx, api, wire.RemoveSubscription, wire.ByID{ID: id})
	})
}
