package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// A Client asks the API of a node. Its methods may be called concurrently.
// Their errors are sentences for a person; what the API itself refuses is a
// [*Problem].
type Client struct {
	base  string // without a slash at its end
	token string
	http  http.Client
}

// NewClient returns a client of the API at an address like
// http://127.0.0.1:8080. It shows the token, if there is one.
func NewClient(address, token string) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of an API; write it as http://127.0.0.1:8080", address)
	}
	return &Client{
		base: strings.TrimRight(address, "/"), token: token,
		// Following would send a changed request, or the token to a stranger.
		http: http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}, nil
}

// Address returns the address of the API.
func (c *Client) Address() string { return c.base }

// A Problem is the API's word that a request failed.
type Problem struct {
	Status int    // of HTTP
	Detail string // a sentence
	Faults []string
}

// Error returns the detail, and what is wrong with which part of the request.
func (p *Problem) Error() string {
	if len(p.Faults) == 0 {
		return p.Detail
	}
	return p.Detail + ": " + strings.Join(p.Faults, "; ")
}

// tell sends a request whose answer is that it was done.
func (c *Client) tell(ctx context.Context, method, path string) error {
	resp, err := c.send(ctx, method, path, nil, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return c.refused(resp)
	}
	return nil
}

// call sends a request and reads its answer. The body is a list of feeds if it
// is an [io.Reader], a text if it is bytes, else it is sent as JSON.
func call[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (T, error) {
	var answer T
	resp, err := c.send(ctx, method, path, query, body)
	if err != nil {
		return answer, err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return answer, c.refused(resp)
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return answer, c.stranger(resp)
	}
	return answer, nil
}

// copyTo copies what is at a path.
func (c *Client) copyTo(ctx context.Context, to io.Writer, path string, query url.Values) error {
	resp, err := c.send(ctx, "GET", path, query, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c.refused(resp)
	}
	if _, err := io.Copy(to, resp.Body); err != nil {
		return fmt.Errorf("copy what is at %s: %w", path, err)
	}
	return nil
}

// waitFor asks again and again, ever more rarely, until what it gets runs no more.
// Until then it has each told.
func waitFor[T any](ctx context.Context, ask func() (T, error), runs func(T) bool, each func(T)) (T, error) {
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		now, err := ask()
		if err != nil || !runs(now) {
			return now, err
		}
		each(now)
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any) (*http.Response, error) {
	target := c.base + path
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	content, kind := io.Reader(nil), ""
	switch b := body.(type) {
	case nil:
	case io.Reader:
		content, kind = b, "application/xml"
	case []byte:
		content, kind = bytes.NewReader(b), rulesType
	default:
		data, err := json.Marshal(b)
		if err != nil {
			return nil, err
		}
		content, kind = bytes.NewReader(data), "application/json"
	}
	req, err := http.NewRequestWithContext(ctx, method, target, content)
	if err != nil {
		return nil, err
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err == nil {
		return resp, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // the method and the address are in our sentence
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("no node answers at %s: is one running? start one with: agent", c.base)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return nil, fmt.Errorf("can't reach %s: %w: is a node running there, and is the address right?", c.base, err)
	}
	return nil, fmt.Errorf("the request to %s failed: %w", c.base, err)
}

// refused makes an error of an answer that is none.
func (c *Client) refused(resp *http.Response) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/problem+json" {
		return c.stranger(resp)
	}
	var m huma.ErrorModel
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&m); err != nil {
		return c.stranger(resp)
	}
	p := &Problem{Status: resp.StatusCode, Detail: m.Detail}
	if p.Detail == "" {
		p.Detail = strings.ToLower(http.StatusText(resp.StatusCode))
	}
	for _, e := range m.Errors {
		if e.Location != "" {
			p.Faults = append(p.Faults, e.Message+" ("+e.Location+")")
		} else {
			p.Faults = append(p.Faults, e.Message)
		}
	}
	return p
}

// stranger says that something else than a node of ours answered.
func (c *Client) stranger(resp *http.Response) error {
	if to := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && to != "" {
		return fmt.Errorf("%s sends elsewhere, to %s: give the API's own address with --api", c.base, to)
	}
	return fmt.Errorf("what answers at %s is no node of feedmesh (it said %s): is the address of --api right?", c.base, resp.Status)
}
