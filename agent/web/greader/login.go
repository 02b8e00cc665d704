package greader

import (
	"errors"
	"math"
	"net/http"
	"net/url"
	"strconv"

	"feedmesh/agent/access"
)

// login sends the credential for later requests: the password itself, if it is a token's secret, or that of a session of
// the person with the name and the password.
func (s *server) login(w http.ResponseWriter, r *http.Request, p url.Values) error {
	client, auth, err := s.logIn(r, p.Get("Email"), p.Get("Passwd"))
	var guess *access.GuessError
	switch {
	case errors.As(err, &guess):
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(guess.Wait.Seconds()))))
		return &requestError{http.StatusTooManyRequests, "Error=BadAuthentication: " + guess.Error()}
	case errors.Is(err, access.ErrInvalidToken), errors.Is(err, access.ErrWrongPassword):
		return &requestError{http.StatusUnauthorized, "Error=BadAuthentication"}
	case err != nil:
		return err
	case !client.May(access.Read):
		return &requestError{http.StatusForbidden, "Error=BadAuthentication: this token may not read; use a token with the scope read"}
	}
	if p.Get("output") == "json" {
		return sendJSON(w, map[string]string{"SID": auth, "LSID": "null", "Auth": auth})
	}
	sendText(w, http.StatusOK, "SID="+auth+"\nLSID=null\nAuth="+auth+"\n")
	return nil
}

// token sends the value that clients return as T with each change. In the original it prevented cross-site
// requests. Some clients omit it; cross-site requests are rejected by the headers that browsers send.
func token(w http.ResponseWriter, _ *http.Request, _ url.Values) error {
	sendText(w, http.StatusOK, "feedmesh")
	return nil
}

func userInfo(w http.ResponseWriter, r *http.Request, _ url.Values) error {
	client := access.From(r.Context())
	return sendJSON(w, map[string]string{
		"userId": client.ID, "userName": client.Name, "userProfileId": client.ID, "userEmail": "",
	})
}
