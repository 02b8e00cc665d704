package chat

import (
	"net/url"
	"strings"
)

// hidden stands for what an address does not show.
const hidden = "…"

// Redacted implements [channel.Channel]: it returns an address without its secrets, for pages and logs: scheme, host and the name of the chat. Tokens are
// hidden, and the topics of ntfy, which work as passwords. An address of no supported service is hidden whole.
func (*Channel) Redacted(address string) string {
	scheme, _, _ := strings.Cut(address, "://")
	s, known := services[scheme]
	u, err := url.Parse(address)
	if !known || err != nil || len(address) > maxAddress {
		return hidden
	}
	var b strings.Builder
	b.WriteString(scheme + "://")
	if u.User != nil {
		b.WriteString(hidden + "@")
	}
	if s.showsHost {
		b.WriteString(clean(u.Host))
	} else {
		b.WriteString(hidden)
	}
	if strings.Trim(u.Path, "/") != "" {
		b.WriteString("/" + hidden)
	}
	for _, key := range s.shows {
		if value := u.Query().Get(key); value != "" {
			b.WriteString("?" + key + "=" + clean(value))
			break
		}
	}
	return b.String()
}
