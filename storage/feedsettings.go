package storage

import "slices"

// Settings are what a person decides of a feed; see [Feed].
type Settings struct {
	Tags     []string
	Pinned   bool
	FullText bool
	Request  *Request

	SpamThreshold float64 // 0 to 1
}

// Settings returns what a person decided of the feed.
func (f Feed) Settings() Settings {
	return Settings{Tags: f.Tags, Pinned: f.Pinned, FullText: f.FullText, Request: f.Request, SpamThreshold: f.SpamThreshold}
}

// Retagged returns the settings without some tags and with others, each of which
// is there once.
func (s Settings) Retagged(add, remove []string) Settings {
	s.Tags = slices.DeleteFunc(slices.Clone(s.Tags), func(tag string) bool { return slices.Contains(remove, tag) })
	for _, tag := range add {
		if !slices.Contains(s.Tags, tag) {
			s.Tags = append(s.Tags, tag)
		}
	}
	return s
}

// A Request is what a person told of how to fetch a feed. The zero Request asks
// for nothing special.
type Request struct {
	UserAgent string            `json:"user_agent,omitempty"` // in place of ours
	Header    map[string]string `json:"header,omitempty"`     // sent besides ours, by name
	User      string            `json:"user,omitempty"`       // for HTTP basic authentication
	Password  string            `json:"password,omitempty"`   // kept as given, readable to whoever reads the store
	Proxy     string            `json:"proxy,omitempty"`      // ID of a [Proxy]; "direct" for none, empty by the rules
}
