package api

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"feedmesh/storage"
)

// isSet stands for a secret in answers.
const isSet = "set"

// A RequestView is how a feed wants to be asked, without what may be secret.
type RequestView struct {
	UserAgent string   `json:"user_agent,omitempty"`
	Headers   []string `json:"headers,omitempty" doc:"Names of the headers sent besides the usual ones; their values are not told."`
	User      string   `json:"user,omitempty"`
	Password  string   `json:"password,omitempty" enum:"set" doc:"Whether there is one; it is not told."`
	Proxy     string   `json:"proxy,omitempty" doc:"ID of a proxy; direct for none; absent: by the rules."`
}

// requestOf returns a request as clients see it.
func requestOf(r *storage.Request) *RequestView {
	if r == nil {
		return nil
	}
	view := &RequestView{UserAgent: r.UserAgent, Headers: slices.Sorted(maps.Keys(r.Header)), User: r.User, Proxy: r.Proxy}
	if r.Password != "" {
		view.Password = isSet
	}
	return view
}

// publicURL returns the URL of a proxy without its password.
func publicURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

// withoutSecrets returns a task, as it was queued, without what it says of how
// to ask feeds that may be secret. What is no JSON is left as it is: then nothing
// of ours wrote it.
func withoutSecrets(task json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(task, &v) != nil {
		return task
	}
	if !hide(v) {
		return task
	}
	hidden, err := json.Marshal(v)
	if err != nil {
		return task
	}
	return hidden
}

// hide hides secrets in what JSON was decoded to, and reports whether there were
// any.
func hide(v any) (hidden bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hidden = hide(e) || hidden
		}
	case map[string]any:
		if request, is := v["request"].(map[string]any); is {
			hidden = hideRequest(request)
		}
		if ways, is := v["ways"].([]any); is {
			hidden = hideWays(ways) || hidden
		}
		for _, e := range v {
			hidden = hide(e) || hidden
		}
	}
	return hidden
}

func hideRequest(request map[string]any) (hidden bool) {
	if _, is := request["password"]; is {
		request["password"], hidden = isSet, true
	}
	header, _ := request["header"].(map[string]any)
	for name := range header {
		header[name], hidden = isSet, true
	}
	return hidden
}

func hideWays(ways []any) (hidden bool) {
	for _, w := range ways {
		way, _ := w.(map[string]any)
		if address, is := way["url"].(string); is && address != "" {
			way["url"], hidden = publicURL(address), true
		}
	}
	return hidden
}
