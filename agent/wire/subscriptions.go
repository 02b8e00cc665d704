package wire

import (
	"time"

	"feedmesh/agent/access"
)

// The states of a subscription.
const (
	SubscriptionOn      = "on"
	SubscriptionFailing = "failing" // its receiver did not accept the last message
	SubscriptionOff     = "off"
)

// A SubscriptionState is a subscription with the progress of its delivery.
type SubscriptionState struct {
	ID       string    `json:"id"`
	Title    string    `json:"title"`
	Views    []string  `json:"views" doc:"Names of the views whose new items are sent. A removed view is missing."`
	Channel  string    `json:"channel" doc:"webhook, nats, mail, chat, or websub: a WebSub subscriber of the feed of a view."`
	Receiver string    `json:"receiver" doc:"Address, without its secrets."`
	Schedule string    `json:"schedule,omitempty" doc:"When it is sent; absent: at once."`
	Alert    string    `json:"alert,omitempty" doc:"Condition of an alert; absent: each item is sent."`
	Mine     bool      `json:"mine,omitempty" doc:"The requesting client made it."`
	Created  time.Time `json:"created"`
	Expires  time.Time `json:"expires,omitzero" doc:"When it ends, unless its WebSub subscriber extends it."`

	State        string    `json:"state" enum:"on,failing,off"`
	Off          string    `json:"off,omitempty" doc:"Why nothing is sent any more."`
	Problem      string    `json:"problem,omitempty" doc:"Why the condition of its alert can't hold."`
	Failures     int       `json:"failures,omitempty" doc:"Attempts that failed since the last one that succeeded."`
	FailingSince time.Time `json:"failing_since,omitzero"`
	Due          time.Time `json:"due,omitzero" doc:"Nothing is sent before."`
	Sent         time.Time `json:"sent,omitzero" doc:"Last attempt that succeeded."`
}

// An AddedSubscription is a new subscription with its secret, which no other answer contains.
type AddedSubscription struct {
	SubscriptionState
	Secret string `json:"secret,omitempty" doc:"By which webhooks are signed. Store it now: it is not shown again."`
}

// SubscriptionList are the subscriptions that the client may see, ordered by title.
type SubscriptionList struct {
	Subscriptions []SubscriptionState `json:"subscriptions"`
}

// An AddSubscriptionRequest adds a subscription.
type AddSubscriptionRequest struct {
	Body struct {
		Title    string   `json:"title,omitempty" maxLength:"200" doc:"By default the names of the views."`
		Views    []string `json:"views" minItems:"1" maxItems:"20" doc:"Names of views. An item that enters several of them is sent once."`
		Channel  string   `json:"channel" enum:"webhook,nats,mail,chat" doc:"webhook: a POST of JSON after the Standard Webhooks specification; nats: an event of the mesh; mail: if a mail server is set; chat: a chat or phone service."`
		Receiver string   `json:"receiver" minLength:"1" maxLength:"2048" doc:"URL of a webhook; the last part of the NATS subject events.view.item.NAME; a mail address; the URL of a chat service, such as ntfy://ntfy.sh/TOPIC."`
		Schedule string   `json:"schedule,omitempty" maxLength:"200" doc:"When mails are sent: hourly, daily 08:00 ZONE or weekly mon 08:00 ZONE, with quiet 22:00-07:00 ZONE after it or alone; by default at once."`
		Alert    string   `json:"alert,omitempty" maxLength:"100" doc:"Send a message when this holds, in place of each item: more than N in TIME, story reaches N publishers, new event, burst, silence of TIME, feed fails, or sentiment falls by N in TIME. TIME is such as 90m, 6h or 2d."`
		Secret   string   `json:"secret,omitempty" maxLength:"128" doc:"Secret of a webhook, whsec_ and base64; by default a new one."`
	}
}

// A ChangeSubscriptionRequest turns a subscription on or off.
type ChangeSubscriptionRequest struct {
	ByID
	Body struct {
		On bool `json:"on" doc:"Whether items are sent. Those that entered meanwhile are sent when it is turned on."`
	}
}

// A RepeatRequest makes items be sent again, with the same message IDs.
type RepeatRequest struct {
	ByID
	Body struct {
		Item  string    `json:"item,omitempty" maxLength:"64" doc:"ID of an item that is in the log: it is sent again now."`
		Since time.Time `json:"since,omitzero" doc:"In place of item: all items that entered at or after this time."`
	}
}

// A ListAttemptsRequest requests a page of the log of a subscription.
type ListAttemptsRequest struct {
	ByID
	Before int64 `query:"before" minimum:"0" doc:"Next of the previous page."`
	Limit  int   `query:"limit" default:"50" minimum:"1" maximum:"200" doc:"Attempts a page."`
}

// A DeliveryAttempt is one try to send a message.
type DeliveryAttempt struct {
	ItemID string    `json:"item_id,omitempty" doc:"The item; absent for a message of several."`
	Items  int       `json:"items" doc:"Number of items in the message."`
	Number int       `json:"number" doc:"Of the attempt for this message, from 1."`
	At     time.Time `json:"at"`
	Took   float64   `json:"took" doc:"Seconds."`
	Status int       `json:"status,omitempty" doc:"Response code; absent without a response."`
	Error  string    `json:"error,omitempty" doc:"Why it failed; absent if the message was received."`
	Next   time.Time `json:"next,omitzero" doc:"When the message is sent again; absent if it is not."`
}

// DeliveryAttempts is a page of the log of a subscription, the last attempts first.
type DeliveryAttempts struct {
	Attempts []DeliveryAttempt `json:"attempts"`
	Next     int64             `json:"next,omitempty" doc:"Before of the next page; absent on the last."`
}

// The operations on subscriptions.
var (
	ListSubscriptions = Operation[None, SubscriptionList]{ID: "list-subscriptions", Method: "GET", Path: "/api/subscriptions", Tag: "subscriptions", Scope: access.Read,
		Summary: "Your subscriptions to views; all for administrators", Errors: []int{503}}
	GetSubscription = Operation[ByID, SubscriptionState]{ID: "get-subscription", Method: "GET", Path: "/api/subscriptions/{id}", Tag: "subscriptions", Scope: access.Read,
		Summary: "One subscription", Errors: []int{404, 503}}
	AddSubscription = Operation[AddSubscriptionRequest, AddedSubscription]{ID: "add-subscription", Method: "POST", Path: "/api/subscriptions", Tag: "subscriptions", Scope: access.Write,
		Summary: "Send the items that enter views from now on to a receiver", Errors: []int{400, 409, 422, 503}, Status: 201, NoStore: true}
	RemoveSubscription = Operation[ByID, None]{ID: "remove-subscription", Method: "DELETE", Path: "/api/subscriptions/{id}", Tag: "subscriptions", Scope: access.Write,
		Summary: "Remove a subscription and its log", Errors: []int{404, 503}}
	ChangeSubscription = Operation[ChangeSubscriptionRequest, SubscriptionState]{ID: "change-subscription", Method: "PATCH", Path: "/api/subscriptions/{id}", Tag: "subscriptions", Scope: access.Write,
		Summary: "Turn a subscription on or off", Errors: []int{400, 404, 422, 503}}
	RepeatDelivery = Operation[RepeatRequest, None]{ID: "repeat-delivery", Method: "POST", Path: "/api/subscriptions/{id}/repeat", Tag: "subscriptions", Scope: access.Write,
		Summary: "Send items again, with the same message IDs", Errors: []int{400, 404, 409, 422, 503}}
	ListAttempts = Operation[ListAttemptsRequest, DeliveryAttempts]{ID: "list-attempts", Method: "GET", Path: "/api/subscriptions/{id}/attempts", Tag: "subscriptions", Scope: access.Read,
		Summary: "The log of a subscription: its attempts, the last first", Errors: []int{404, 422, 503}}
)
