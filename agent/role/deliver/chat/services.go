package chat

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/discord"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/mattermost"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/rocketchat"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/slack"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/chat/telegram"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/gotify"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/ntfy"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/push/pushover"
	"github.com/nicholas-fedor/shoutrrr/pkg/services/specialized/generic"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// A service is a kind of receiver.
type service struct {
	name  string // its scheme
	form  string // of its addresses
	style style
	open  func(u *url.URL) (sender, error) // parses an address with a host; connects to nothing

	// What Redacted shows.
	showsHost bool
	shows     []string // keys of the query
}

// A sender sends a message by the client, in one request.
type sender func(client *http.Client, m outgoing) error

// An outgoing message is ready to be sent.
type outgoing struct {
	id, title, text string
	link            string // of the only item, or empty
}

// A refusal is an error of this package, which contains no secrets.
type refusal string

func (e refusal) Error() string { return string(e) }

// services are the supported services by scheme.
var services = map[string]service{
	"discord":    {form: "discord://TOKEN@WEBHOOK_ID", style: markdown(2000), open: openDiscord, showsHost: true, shows: []string{"thread_id"}},
	"generic":    {form: "generic://HOST/PATH?template=json", open: openGeneric, showsHost: true},
	"gotify":     {form: "gotify://HOST/TOKEN", open: openGotify, showsHost: true},
	"matrix":     {form: "matrix://:ACCESS_TOKEN@HOST/?rooms=!ROOM:SERVER", open: openMatrix, showsHost: true, shows: []string{"rooms", "room"}},
	"mattermost": {form: "mattermost://HOST/TOKEN", style: markdown(maxText), open: openMattermost, showsHost: true},
	"ntfy":       {form: "ntfy://HOST/TOPIC", open: openNtfy, showsHost: true},
	"pushover":   {form: "pushover://:TOKEN@USER_KEY", style: style{limit: 1000}, open: openPushover, shows: []string{"devices"}},
	"rocketchat": {form: "rocketchat://HOST/TOKEN_A/TOKEN_B", style: markdown(maxText), open: openRocketchat, showsHost: true},
	"slack":      {form: "slack://hook:T-B-X@webhook or slack://xoxb:TOKEN@CHANNEL_ID", style: style{escape: escapeSlack, link: escapeSlack}, open: openSlack},
	"telegram":   {form: "telegram://TOKEN@telegram?chats=CHAT", open: openTelegram, showsHost: true, shows: []string{"chats", "channels"}},
}

// schemes returns the supported schemes in order.
func schemes() []string { return slices.Sorted(maps.Keys(services)) }

func openNtfy(u *url.URL) (sender, error) {
	s := &ntfy.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	if scheme := s.Config.Scheme; scheme != "http" && scheme != "https" {
		return nil, refusal("use the scheme http or https")
	}
	return func(client *http.Client, m outgoing) error {
		s.SetHTTPClient(client)
		if s.Config.Click == "" {
			s.Config.Click = m.link
		}
		return s.Send(m.text, &types.Params{})
	}, nil
}

func openGotify(u *url.URL) (sender, error) {
	s := &gotify.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	validate := gotify.DefaultValidator{}
	if !validate.ValidateToken(s.Config.Token) {
		return nil, refusal("a token of an application has 15 characters and begins with A")
	}
	if validate.ValidatePriority(s.Config.Priority) != nil {
		return nil, refusal("the priority is -2 to 10")
	}
	hasTitle := u.Query().Has("title")
	return func(client *http.Client, m outgoing) error {
		*s.GetHTTPClient() = *client
		if !hasTitle {
			s.Config.Title = m.title
		}
		return s.Send(m.text, &types.Params{})
	}, nil
}

func openPushover(u *url.URL) (sender, error) {
	s := &pushover.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	return func(client *http.Client, m outgoing) error {
		s.Client = client
		return s.Send(m.text, &types.Params{})
	}, nil
}

// noSleep is the discord.Sleeper of a single attempt.
type noSleep struct{}

func (noSleep) Sleep(time.Duration) {}

func openDiscord(u *url.URL) (sender, error) {
	s := &discord.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	if s.Config.JSON {
		return nil, refusal("raw JSON is not supported; remove json and /raw")
	}
	return func(client *http.Client, m outgoing) error {
		s.HTTPClient, s.Sleeper, s.Config.SplitLines = client, noSleep{}, false
		return s.Send(m.text, &types.Params{})
	}, nil
}

func openMattermost(u *url.URL) (sender, error) {
	s := &mattermost.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	return func(client *http.Client, m outgoing) error {
		*s.GetHTTPClient() = *client
		return s.Send(m.text, &types.Params{})
	}, nil
}

func openRocketchat(u *url.URL) (sender, error) {
	s := &rocketchat.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	if s.Config.TokenA == "" || s.Config.TokenB == "" {
		return nil, errors.New("no token")
	}
	return func(client *http.Client, m outgoing) error {
		s.Client = client
		return s.Send(m.text, &types.Params{})
	}, nil
}

// slackError matches the error codes of Slack.
var slackError = regexp.MustCompile(`^[a-z_]{1,60}$`)

func openSlack(u *url.URL) (sender, error) {
	config, err := slack.CreateConfigFromURL(u)
	if err != nil {
		return nil, err
	}
	payload := slack.MessagePayload{BotName: config.BotName, ThreadTS: config.ThreadTS}
	payload.SetIcon(config.Icon)
	if !config.Token.IsAPIToken() {
		return func(client *http.Client, m outgoing) error {
			payload.Text = m.text
			_, err := post(client, http.MethodPost, config.Token.WebhookURL(), nil, payload)
			return err
		}, nil
	}
	payload.Channel = config.Channel
	header := http.Header{"Authorization": {config.Token.Authorization()}}
	return func(client *http.Client, m outgoing) error {
		payload.Text = m.text
		body, err := post(client, http.MethodPost, "https://slack.com/api/chat.postMessage", header, payload)
		if err != nil {
			return err
		}
		var response slack.APIResponse
		if err := json.Unmarshal(body, &response); err != nil || response.Ok {
			return err
		}
		if slackError.MatchString(response.Error) {
			return refusal("Slack rejected the message: " + response.Error)
		}
		return refusal("Slack rejected the message; check token and channel")
	}, nil
}

func openTelegram(u *url.URL) (sender, error) {
	config := &telegram.Config{Preview: true, Notification: true}
	if err := config.SetURL(u); err != nil {
		return nil, err
	}
	if len(config.Chats) != 1 {
		return nil, refusal("it has several chats; make a subscription for each")
	}
	chat, thread, _ := strings.Cut(config.Chats[0], ":")
	threadID, err := strconv.Atoi(thread)
	if err != nil && thread != "" {
		return nil, err
	}
	return func(client *http.Client, m outgoing) error {
		_, err := post(client, http.MethodPost, "https://api.telegram.org/bot"+config.Token+"/sendMessage", nil, struct {
			Chat    string `json:"chat_id"`
			Thread  int    `json:"message_thread_id,omitempty"`
			Text    string `json:"text"` // without parse_mode, so that it is plain
			Preview bool   `json:"disable_web_page_preview"`
			Silent  bool   `json:"disable_notification"`
		}{chat, threadID, m.text, !config.Preview, !config.Notification})
		return err
	}, nil
}

// openMatrix parses the address itself: shoutrrr panics on an empty room, logs in with each message, and puts
// the access token into URLs.
func openMatrix(u *url.URL) (sender, error) {
	query := u.Query()
	room := query.Get("rooms") + query.Get("room")
	token, _ := u.User.Password()
	if u.User.Username() != "" {
		return nil, refusal("logins with a user are not supported; use an access token: matrix://:ACCESS_TOKEN@HOST/?rooms=!ROOM:SERVER")
	}
	if !strings.HasPrefix(room, "!") || strings.Contains(room, ",") {
		return nil, refusal("name one room by its ID, which begins with !")
	}
	scheme := "https"
	switch strings.ToLower(query.Get("disableTLS") + query.Get("disabletls")) {
	case "yes", "true", "1":
		scheme = "http"
	}
	if token == "" {
		return nil, errors.New("no token")
	}
	return func(client *http.Client, m outgoing) error {
		to := url.URL{Scheme: scheme, Host: u.Host}
		header := http.Header{"Authorization": {"Bearer " + token}}
		// A server accepts the ID of a message once, so that repeats are not shown again.
		path := to.JoinPath("_matrix/client/v3/rooms", url.PathEscape(room), "send/m.room.message", url.PathEscape(m.id))
		_, err := post(client, http.MethodPut, path.String(), header, map[string]string{"msgtype": "m.text", "body": m.text})
		return err
	}, nil
}

func openGeneric(u *url.URL) (sender, error) {
	s := &generic.Service{}
	if err := s.Initialize(u, nil); err != nil {
		return nil, err
	}
	switch strings.ToLower(s.Config.Template) {
	case "", "json":
	default:
		return nil, refusal("use the template json, or none for plain text")
	}
	method := strings.ToUpper(s.Config.RequestMethod)
	if method != http.MethodPost && method != http.MethodPut {
		return nil, refusal("use the method POST or PUT")
	}
	header := http.Header{}
	for key, values := range u.Query() {
		if name, isHeader := strings.CutPrefix(key, "@"); isHeader && name != "" {
			header.Set(name, values[0])
		}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "text/plain; charset=utf-8")
		if s.Config.Template != "" {
			header.Set("Content-Type", s.Config.ContentType)
		}
	}
	return func(client *http.Client, m outgoing) error {
		body, err := s.GetPayload(s.Config, types.Params{s.Config.TitleKey: m.title, s.Config.MessageKey: m.text})
		if err != nil {
			return err
		}
		_, err = do(client, method, s.Config.WebhookURL().String(), header, body)
		return err
	}, nil
}

// post sends a value as JSON and returns the body of the response.
func post(client *http.Client, method, to string, header http.Header, value any) ([]byte, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	header = header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return do(client, method, to, header, bytes.NewReader(body))
}

// do sends a request and returns the body of the response.
func do(client *http.Client, method, to string, header http.Header, body io.Reader) ([]byte, error) {
	request, err := http.NewRequest(method, to, body)
	if err != nil {
		return nil, err
	}
	request.Header = header
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	return io.ReadAll(response.Body)
}
