package greader

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"feedmesh/storage"
)

// A step is a client's request with the expected part of the response.
type step struct{ path, body, want string }

// TestClients_RequestsOfRealClients sends the requests of real clients in their order and spelling. Sources:
// NetNewsWire's ReaderAPICaller.swift, RSS Guard's greadernetwork.cpp and definitions.h, Newsboat's
// feedhqapi.cpp and freshrssapi.cpp, and the comments of FreshRSS's greader.php about Reeder, FeedMe and
// EasyRSS. A stands for the feed, HEX, SHORT and DEC for the number of its newest item.
func TestClients_RequestsOfRealClients(t *testing.T) {
	const (
		readingList = "user/-/state/com.google/reading-list"
		read        = "user/-/state/com.google/read"
		starred     = "user/-/state/com.google/starred"
	)
	for name, steps := range map[string][]step{
		"NetNewsWire": {
			{"/api/greader.php/accounts/ClientLogin", "Email=me&Passwd=ann", "Auth=ann"},
			{"/api/greader.php/reader/api/0/token", "", "feedmesh"},
			{"/api/greader.php/reader/api/0/tag/list?output=json", "", `"user/-/label/Local","type":"folder"`},
			{"/api/greader.php/reader/api/0/subscription/list?output=json", "", `"categories":[{"id":"user/-/label/News","label":"News"}`},
			{"/api/greader.php/reader/api/0/stream/items/ids?s=" + readingList + "&n=1000&output=json&ot=1764547200.123456", "", `"id":"DEC"`},
			{"/api/greader.php/reader/api/0/stream/items/ids?s=" + readingList + "&n=1000&output=json&xt=" + read, "", `"id":"DEC"`},
			{"/api/greader.php/reader/api/0/stream/items/ids?s=" + starred + "&n=1000&output=json", "", `"itemRefs":[]`},
			{"/api/greader.php/reader/api/0/stream/items/contents", "T=feedmesh&output=json&i=SHORT", `"HEX"`},
			{"/api/greader.php/reader/api/0/edit-tag", "T=feedmesh&i=SHORT&a=" + read, "OK"},
			{"/api/greader.php/reader/api/0/subscription/edit", "T=feedmesh&ac=subscribe&s=feed/https://new.example/f&a=user/-/label/News&t=", "OK"},
			{"/api/greader.php/reader/api/0/subscription/edit", "T=feedmesh&s=feed/A&ac=edit&t=Mine", "OK"},
			{"/api/greader.php/reader/api/0/rename-tag", "T=feedmesh&s=user/-/label/Local&dest=user/-/label/Near", "OK"},
		},
		"Reeder": {
			{"/accounts/ClientLogin", "accountType=HOSTED_OR_GOOGLE&service=reader&Email=me&Passwd=ann&client=Reeder", "SID=ann"},
			{"/reader/api/0/user-info?output=json", "", `"userId":"ann"`},
			{"/reader/api/0/subscription/list?output=json", "", `"url":"https://a.example/feed"`},
			{"/reader/api/0/stream/items/ids?output=json&n=10000&s=" + readingList + "&xt=" + read, "", `"id":"DEC"`},
			{"/reader/api/0/stream/items/contents?output=json", "i=DEC&i=SHORT", `"timestampUsec":"`},
			{"/reader/api/0/edit-tag", "T=x&i=DEC&a=" + starred, "OK"},
			{"/reader/api/0/mark-all-as-read", "T=x&s=feed/A&ts=1772366400000000", "OK"},
		},
		"FeedMe": {
			{"/accounts/ClientLogin?Email=me&Passwd=ann", "", "Auth=ann"},
			{"/reader/api/0/unread-count?output=json&all=1", "", `{"id":"user/-/label/Local","count":5`},
			{"/reader/api/0/stream/contents/" + readingList + "?n=100&r=o&output=json&xt=" + read, "", `"HEX"`},
			{"/reader/api/0/stream/items/contents", "i=HEX", `"HEX"`},
			{"/reader/api/0/edit-tag", "i=HEX&a=" + read, "OK"}, // without a token
		},
		"RSS Guard": {
			{"/accounts/ClientLogin", "Email=me&Passwd=ann", "Auth=ann"},
			{"/reader/api/0/token", "", "feedmesh"},
			{"/reader/api/0/user-info?output=json", "", `"userName":"ann"`},
			{"/reader/api/0/stream/items/ids?output=json&n=200000&s=feed%2FA", "", `"id":"DEC"`},
			{"/reader/api/0/stream/items/contents?output=json&n=200000", "i=tag%3Agoogle.com%2C2005%3Areader%2Fitem%2F0&i=HEX", `"HEX"`},
			{"/reader/api/0/stream/contents/feed%2FA?output=json&n=100", "", `"HEX"`},
			{"/reader/api/0/edit-tag", "i=HEX&r=" + read + "&T=feedmesh", "OK"},
		},
		"Newsboat": {
			{"/accounts/ClientLogin", "service=reader&Email=me&Passwd=ann&source=newsboat%2F2.30&accountType=HOSTED_OR_GOOGLE&continue=http://www.google.com/", "Auth=ann"},
			{"/reader/api/0/subscription/list?output=json", "", `"title":"A ＜b＞"`},
			{"/reader/api/0/stream/contents/feed%2FA?n=20", "", `"canonical":[{"href":"https://example.org/4"}]`},
			{"/reader/atom/feed%2FA?n=20", "", "<id>HEX</id>"},
			{"/reader/api/0/edit-tag", "i=HEX&a=" + read + "&r=user/-/state/com.google/kept-unread&ac=edit&T=feedmesh", "OK"},
			{"/reader/atom/feed%2FA?n=1", "", `label="read"`},
			{"/reader/api/0/mark-all-as-read", "s=feed/A&T=feedmesh", "OK"},
		},
		"EasyRSS": {
			{"/reader/api/0/stream/contents?n=3", "", `"HEX"`},
			{"/reader/api/0/preference/stream/list", "", `{"streamprefs":{}}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			newest := w.items[len(w.items)-1].ID
			n := storage.ItemNumber(newest)
			fill := strings.NewReplacer("HEX", longID(newest), "SHORT", fmt.Sprintf("%x", n), "DEC", fmt.Sprint(n), "feed/A", "feed/"+w.a, "feed%2FA", "feed%2F"+w.a).Replace
			for _, s := range steps {
				as := "ann"
				if strings.Contains(s.path, "ClientLogin") {
					as = ""
				}
				status, answer := w.request(t, as, fill(s.path), fill(s.body))
				if status != http.StatusOK || !strings.Contains(answer, fill(s.want)) || s.want == "OK" && answer != "OK" {
					t.Errorf("%s %s: got %d %.300s, want it to have %s", fill(s.path), fill(s.body), status, answer, fill(s.want))
				}
			}
		})
	}
}

func TestAtom_FolderNamedReadIsNotAState(t *testing.T) {
	w := newFixture(t)
	w.put(t, w.add(t, "https://c.example/", "C", "read"), 1)
	if _, answer := w.request(t, "ann", atomPath+"user/-/label/read", ""); !strings.Contains(answer, "user/-/label/read") || strings.Contains(answer, `label="read"`) {
		t.Errorf("got %s", answer)
	}
}
