package websub

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
)

// hub is a small WebSub hub: it verifies the intent of subscribers and signs
// distributed content.
type hub struct {
	*httptest.Server
	t *testing.T

	// Behavior; set before the first request.
	lease       string // granted lease; empty: the requested lease; "none": not stated
	verifyFirst bool   // verify before the response
	status      int    // response status instead of 202
	body        string // response body with that status
	neverVerify bool   // never verify

	verifying sync.WaitGroup
	mu        sync.Mutex
	requests  []url.Values
	subs      map[string]url.Values // requests by callback
}

func newHub(t *testing.T) *hub {
	h := &hub{t: t, subs: make(map[string]url.Values)}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	t.Cleanup(h.verifying.Wait)
	return h
}

func (h *hub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Method != http.MethodPost {
		h.t.Errorf("got a %s request, %v; want a valid POST", r.Method, err)
	}
	h.mu.Lock()
	h.requests = append(h.requests, r.PostForm)
	h.mu.Unlock()
	if !h.neverVerify && (h.status == 0 || h.verifyFirst) {
		h.verifying.Go(func() { h.verify(r.PostForm) })
	}
	if h.verifyFirst {
		h.verifying.Wait()
	}
	if h.status != 0 {
		http.Error(w, h.body, h.status)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// verify verifies the intent of the subscriber.
func (h *hub) verify(form url.Values) {
	challenge := rand.Text()
	q := url.Values{"hub.mode": form["hub.mode"], "hub.topic": form["hub.topic"], "hub.challenge": {challenge}}
	if form.Get("hub.mode") == "subscribe" && h.lease != "none" {
		q.Set("hub.lease_seconds", form.Get("hub.lease_seconds"))
		if h.lease != "" {
			q.Set("hub.lease_seconds", h.lease)
		}
	}
	status, body := h.get(form.Get("hub.callback"), q)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case status != http.StatusOK || body != challenge:
	case form.Get("hub.mode") == "subscribe":
		h.subs[form.Get("hub.callback")] = form
	default:
		delete(h.subs, form.Get("hub.callback"))
	}
}

// get calls a callback.
func (h *hub) get(callback string, q url.Values) (int, string) {
	response, err := http.Get(callback + "?" + q.Encode())
	if err != nil {
		h.t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		h.t.Error(err)
	}
	return response.StatusCode, string(body)
}

// countRequests returns the number of requests of a mode, after all verifications.
func (h *hub) countRequests(mode string) int {
	h.verifying.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, form := range h.requests {
		if form.Get("hub.mode") == mode {
			n++
		}
	}
	return n
}

// publish distributes new content of a topic and returns the response statuses by callback.
func (h *hub) publish(topic, body string) map[string]int {
	h.verifying.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	answers := make(map[string]int)
	for callback, form := range h.subs {
		if form.Get("hub.topic") == topic {
			answers[callback] = h.push(callback, body, "sha256="+sign(form.Get("hub.secret"), body))
		}
	}
	return answers
}

// push sends a body with signatures.
func (h *hub) push(callback, body string, signatures ...string) int {
	r, err := http.NewRequest(http.MethodPost, callback, bytes.NewBufferString(body))
	if err != nil {
		h.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/atom+xml")
	for _, s := range signatures {
		r.Header.Add("X-Hub-Signature", s)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Error(err)
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

func sign(secret, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return hex.EncodeToString(mac.Sum(nil))
}
