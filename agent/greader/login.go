package greader

import (
	"errors"
	"net/http"
	"net/url"

	"feedmesh/agent/access"
)

// login answers what a client shows from then on: the password itself, which is a
// token's secret. That can be taken back at any time, and nothing has to be kept.
func (s *server) login(w http.ResponseWriter, r *http.Request, p url.Values) error {
	client, err := s.Login(r, p.Get("Passwd"))
	switch {
	case errors.Is(err, access.ErrWrong):
		return &fault{http.StatusUnauthorized, "Error=BadAuthentication"}
	case err != nil:
		return err
	case !client.May(access.Read):
		return &fault{http.StatusForbidden, "Error=BadAuthentication: this token may not read: it takes one of scope read"}
	}
	auth := p.Get("Passwd")
	if client.ID == access.LocalID {
		auth = access.LocalID // whoever asks on this machine may have typed anything
	}
	if p.Get("output") == "json" {
		return sendJSON(w, map[string]string{"SID": auth, "LSID": "null", "Auth": auth})
	}
	sendText(w, http.StatusOK, "SID="+auth+"\nLSID=null\nAuth="+auth+"\n")
	return nil
}

// token answers what clients send back as T with whatever changes something. It was
// to tell their requests from those of other sites' pages. Not all of them send it,
// and those pages' requests are refused for what their browsers say of them.
func (s *server) token(w http.ResponseWriter, _ *http.Request, _ url.Values) error {
	sendText(w, http.StatusOK, "feedmesh")
	return nil
}

func (s *server) userInfo(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	client := access.From(r.Context())
	return sendJSON(w, map[string]string{
		"userId": client.ID, "userName": client.Name, "userProfileId": client.ID, "userEmail": "",
	})
}
