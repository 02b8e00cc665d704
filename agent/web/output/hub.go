package output

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"feedmesh/agent/access"
	"feedmesh/agent/role/deliver/hub"
	"feedmesh/agent/service"
	"feedmesh/agent/syndication"
	"feedmesh/agent/web/problem"
	"feedmesh/agent/wire"
)

const (
	maxHubRequest = 16 << 10         // bytes of the form
	maxVerifying  = 64               // workers that verify subscribers
	verifyTimeout = 30 * time.Second // timeout of a verification
)

// A hubHandler is the WebSub hub of the feeds of views: it verifies what subscribers request, and stores their subscriptions,
// whose items the role deliver sends.
//
// Source: W3C Recommendation WebSub, sections 5 and 8.
type hubHandler struct {
	*service.Service
	verifying chan struct{} // one entry for each worker
}

func newHub(s *service.Service) *hubHandler {
	return &hubHandler{s, make(chan struct{}, maxVerifying)}
}

// ServeHTTP accepts a request to subscribe or unsubscribe. The subscriber is verified after the response, since some respond
// to nothing while they wait.
func (h *hubHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxHubRequest)
	if err := r.ParseForm(); err != nil {
		writeError(w, &httpError{http.StatusBadRequest, "the request is no form of at most 16 KB: " + err.Error()})
		return
	}
	request, err := h.read(r)
	if err == nil {
		err = h.Subscriptions.CheckPush(r.Context(), request)
	}
	if err != nil {
		if !errors.As(err, new(*httpError)) {
			err = problem.Of(err, h.Log)
		}
		writeError(w, err)
		return
	}
	select {
	case h.verifying <- struct{}{}:
	default:
		w.Header().Set("Retry-After", "60")
		writeError(w, &httpError{http.StatusServiceUnavailable, "too many subscribers are being verified: repeat the request in a minute"})
		return
	}
	w.WriteHeader(http.StatusAccepted)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), verifyTimeout)
	go func() {
		defer func() { cancel(); <-h.verifying }()
		if err := h.Subscriptions.Push(ctx, request); err != nil {
			h.Log.Info("subscriber not verified", "client", access.From(ctx).Name, "err", err)
		}
	}()
}

// read returns the request in a form.
func (h *hubHandler) read(r *http.Request) (service.PushRequest, error) {
	form := r.PostForm
	p := service.PushRequest{Topic: form.Get("hub.topic"), Callback: form.Get("hub.callback"), Secret: form.Get("hub.secret")}
	switch mode := form.Get("hub.mode"); mode {
	case hub.Subscribe:
	case hub.Unsubscribe:
		p.Ends = true
	default:
		return p, &httpError{http.StatusBadRequest, fmt.Sprintf("hub.mode is %q: this hub accepts subscribe and unsubscribe", mode)}
	}
	if text := form.Get("hub.lease_seconds"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil || seconds < 1 {
			return p, &httpError{http.StatusBadRequest, "hub.lease_seconds is not a positive number"}
		}
		p.Lease = time.Duration(min(seconds, int(hub.MaxLease/time.Second))) * time.Second
	}
	topic, err := url.Parse(p.Topic)
	file, isView := strings.CutPrefix(p.Topic, BaseURL(r)+viewsPath)
	if err == nil && isView {
		file = strings.TrimPrefix(topic.Path, viewsPath)
	}
	_, name, is := syndication.FormatOf(file)
	if err != nil || !isView || !is || topic.Fragment != "" {
		return p, &httpError{http.StatusNotFound, "hub.topic is no feed of this hub: it is the link with rel=self of the feed of a view"}
	}
	v, err := h.Views.Get(r.Context(), wire.ViewName{Name: name})
	if err != nil {
		return p, noneOfName(err, "view that you may read")
	}
	p.View, p.Title = v.Name, titleOf(v)
	return p, nil
}
