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

// A hub is a real one, if a small one: it verifies the intent of who asks, and
// signs what it distributes.
type hub struct {
	*httptest.Server
	t *testing.T

	// How it behaves; set before it is asked.
	lease  string // it grants; as asked if empty, none if "none"
	first  bool   // it verifies before it answers
	answer int    // it answers instead of accepting
	says   string // with that answer
	mute   bool   // it never verifies

	verifying sync.WaitGroup
	mu        sync.Mutex
	asked     []url.Values
	subs      map[string]url.Values // callback: how it was asked for
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
		h.t.Errorf("asked by %s: %v", r.Method, err)
	}
	h.mu.Lock()
	h.asked = append(h.asked, r.PostForm)
	h.mu.Unlock()
	if !h.mute && (h.answer == 0 || h.first) {
		h.verifying.Go(func() { h.verify(r.PostForm) })
	}
	if h.first {
		h.verifying.Wait()
	}
	if h.answer != 0 {
		http.Error(w, h.says, h.answer)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// verify asks the callback whether it asked.
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

// times returns how often it was asked for a mode, when it has verified all.
func (h *hub) times(mode string) int {
	h.verifying.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, form := range h.asked {
		if form.Get("hub.mode") == mode {
			n++
		}
	}
	return n
}

// publish distributes a topic's new content and returns the answers, by callback.
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
