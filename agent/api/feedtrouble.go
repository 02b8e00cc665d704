package api

import (
	"fmt"

	"feedmesh/agent/feed"
	"feedmesh/agent/fetch"
	"feedmesh/subjects"
)

// A Trouble says what is wrong with a feed.
type Trouble struct {
	What  string `json:"what" doc:"In words."`
	Do    string `json:"do" doc:"What a person can do about it."`
	Class string `json:"class,omitempty" doc:"Kind of the error."`
}

// troubleOf returns what is wrong with a feed, nil if nothing is.
func troubleOf(s *subjects.State) *Trouble {
	switch {
	case s.Outcome == subjects.Gone:
		return &Trouble{
			What: "Its host says that it is gone for good.", Class: s.Class,
			Do: "It is polled no more. Look on its site for where it is now, or remove it.",
		}
	case s.Failures == 0:
		return nil
	}
	return &Trouble{What: whatClass(s.Class, s.Status), Do: troubles[s.Class].do, Class: s.Class}
}

// whatClass says in words what an error of a kind is, with the HTTP status if
// there was one, else 0.
func whatClass(class string, status int) string {
	t, known := troubles[class]
	switch {
	case class == "":
		return ""
	case !known:
		return "It failed: " + class + "."
	case refusals[status] != "":
		return fmt.Sprintf("%s (HTTP %d).", refusals[status], status)
	case status >= 300:
		return fmt.Sprintf("%s (HTTP %d).", t.what, status)
	}
	return t.what + "."
}

// refusals has words for the statuses that hosts refuse with most, which say more
// than their class.
var refusals = map[int]string{
	401: "Its host wants a user and a password",
	403: "Its host does not let us in",
	404: "There is nothing at its address",
	429: "Its host asks us to come less often",
}

// A remedy is what an error is, without the full stop, and what to do about it.
type remedy struct{ what, do string }

// soon is said where nothing needs to be done.
const soon = "Usually it passes by itself; the feed is tried again, less often the longer it lasts."

// troubles has a remedy for each class of errors of fetch, and each kind of feed.
var troubles = map[string]remedy{
	string(fetch.ClassBlocked):  {"Its address leads to where we must not go", "If it is in your own network, allow that with --allow-net. Otherwise remove the feed."},
	string(fetch.ClassAddress):  {"Its address can't be requested", "Correct it: add the right one and remove this."},
	string(fetch.ClassDNS):      {"Its host's name has no address", "The site may have moved or ended: look for it on the web. If this lasts for weeks, remove the feed."},
	string(fetch.ClassResolver): {"Whether its host's name has an address can't be found out", "Check the DNS of this machine if other feeds fail as well. " + soon},
	string(fetch.ClassProxy):    {"No proxy that it is to go by works", "Look at the proxies, or let the feed go another way in its settings."},
	string(fetch.ClassWall):     {"Its host wants to see a person, not a program", "Try another user agent or a proxy in its settings, or ask the site to let feed readers in."},
	string(fetch.ClassLogin):    {"Its host wants to know who asks", "Give a user and password in its settings."},
	string(fetch.ClassConnect):  {"Nobody answers at its host", soon},
	string(fetch.ClassTLS):      {"Its host's certificate or encryption is bad", "The site has to mend that. If the address begins with http, the site may have dropped it: add it with https."},
	string(fetch.ClassTimeout):  {"Its host took too long", soon},
	string(fetch.ClassReset):    {"The connection broke", soon},
	string(fetch.ClassRedirect): {"It redirects too often, or to nowhere", "Open its address in a browser and add the one where that ends."},
	string(fetch.ClassClient):   {"Its host refuses the request", "Look on its site for where the feed is now. Where it is refused, a password, another user agent or a proxy may help; asked to come less often, we do."},
	string(fetch.ClassServer):   {"Its host has a fault of its own", soon},
	string(fetch.ClassStatus):   {"Its host answers with a status that makes no sense here", soon},
	string(fetch.ClassTooLarge): {"The document is larger than we read", "Raise --crawl-max-body if it is to be read all the same."},
	string(fetch.ClassEncoding): {"The document is not packed as its host says", soon},

	string(feed.Empty):     {"The document is empty", soon},
	string(feed.WebPage):   {"There is a web page, not a feed", "Look for the site's feeds with its address; the feed may have moved."},
	string(feed.Challenge): {"There is a login or a check against robots, not a feed", "Try another user agent, a password or a proxy in its settings."},
	string(feed.OtherJSON): {"There is JSON, but no feed", "Look for the site's feeds with its address."},
	string(feed.OtherXML):  {"There is XML, but no feed", "If it is a list of feeds, import it. Otherwise look for the site's feeds with its address."},
	string(feed.Other):     {"There is no feed", "Look for the site's feeds with its address."},
	string(feed.Broken):    {"There is a feed that nobody can read", "The site has to mend it. " + soon},
	string(feed.TooDeep):   {"The document is nested beyond all reason", "If you trust the site, tell them; we don't read it."},
}
