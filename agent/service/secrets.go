package service

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"

	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// redacted replaces secrets in responses.
const redacted = "set"

// requestOf returns a request as clients see it.
func requestOf(r *storage.Request) *wire.RequestView {
	if r == nil {
		return nil
	}
	view := &wire.RequestView{UserAgent: r.UserAgent, Headers: slices.Sorted(maps.Keys(r.Header)), User: r.User, Proxy: r.Proxy}
	if r.Password != "" {
		view.Password = redacted
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

// withoutSecrets returns a queued task with the secrets of requests and proxies redacted. Text that is not
// JSON was not written by feedmesh and stays unchanged.
func withoutSecrets(task json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(task, &v) != nil {
		return task
	}
	if !redact(v) {
		return task
	}
	hidden, err := json.Marshal(v)
	if err != nil {
		return task
	}
	return hidden
}

// redact redacts secrets in decoded JSON, and reports whether it found any.
func redact(v any) (hidden bool) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			hidden = redact(e) || hidden
		}
	case map[string]any:
		if request, is := v["request"].(map[string]any); is {
			hidden = redactRequest(request)
		}
		if proxies, is := v["ways"].([]any); is {
			hidden = redactProxies(proxies) || hidden
		}
		for _, e := range v {
			hidden = redact(e) || hidden
		}
	}
	return hidden
}

func redactRequest(request map[string]any) (hidden bool) {
	if _, is := request["password"]; is {
		request["password"], hidden = redacted, true
	}
	header, _ := request["header"].(map[string]any)
	for name := range header {
		header[name], hidden = redacted, true
	}
	return hidden
}

func redactProxies(proxies []any) (hidden bool) {
	for _, w := range proxies {
		proxy, _ := w.(map[string]any)
		if address, is := proxy["url"].(string); is && address != "" {
			proxy["url"], hidden = publicURL(address), true
		}
	}
	return hidden
}
