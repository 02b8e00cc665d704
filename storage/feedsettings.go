package storage

import "slices"

// Settings are the fields of a [Feed] that a user edits.
type Settings struct {
	Tags     []string
	Pinned   bool
	FullText bool
	Request  *Request

	SpamThreshold float64 // 0 to 1
}

// Settings returns the feed's settings.
func (f Feed) Settings() Settings {
	return Settings{Tags: f.Tags, Pinned: f.Pinned, FullText: f.FullText, Request: f.Request, SpamThreshold: f.SpamThreshold}
}

// WithTags returns the settings with the tags in remove deleted and the tags in add appended, each once.
func (s Settings) WithTags(add, remove []string) Settings {
	s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(tag string) bool { return slices.Contains(remove, tag) })
	for _, tag := range add {
		if !slices.Contains(s.Tags, tag) {
			s.Tags = append(s.Tags, tag)
		}
	}
	return s
}

// A Request contains a user's options for fetching a feed. The zero Request uses the defaults.
type Request struct {
	UserAgent string            `json:"user_agent,omitempty"` // replaces the default
	Header    map[string]string `json:"header,omitempty"`     // additional headers by name
	User      string            `json:"user,omitempty"`       // for HTTP basic authentication
	Password  string            `json:"password,omitempty"`   // stored in plain text: readable by everyone with access to the store
	Proxy     string            `json:"proxy,omitempty"`      // ID of a [Proxy]; "direct" for none; empty: chosen by the proxies' rules
}
