package storage

// Settings are what a person decides of a feed; see [Feed].
type Settings struct {
	Tags     []string
	Pinned   bool
	FullText bool
	Request  *Request

	SpamThreshold float64 // 0 to 1
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
