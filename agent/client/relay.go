package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
)

// Bounds of a relay.
const (
	maxMessage  = 1 << 20  // bytes of a message from the program
	maxAnswer   = 16 << 20 // bytes of an answer of the node
	maxRelayed  = 8        // requests in progress; further ones wait
	mcpPath     = "/mcp"
	versionKey  = "io.modelcontextprotocol/protocolVersion"
	errInternal = -32603 // code of JSON-RPC
)

// A relay passes messages of the Model Context Protocol between a program and the node.
type relay struct {
	*Client
	version atomic.Value // protocol version that the node chose, a string

	mu  sync.Mutex
	out io.Writer // guarded by mu
	err error     // of writing; guarded by mu
}

// RelayMCP sends the messages that a program writes to in, one a line, to the MCP server of the node, and writes its answers
// to out, one a line. It returns when in ends and all requests are answered, or when ctx ends. A request that fails gets an
// error as its answer, so the relay continues when the node is back.
//
// Source: https://modelcontextprotocol.io/specification, transports.
func (c *Client) RelayMCP(ctx context.Context, in io.Reader, out io.Writer) error {
	r := &relay{Client: c, out: out}
	slots := make(chan struct{}, maxRelayed)
	var running sync.WaitGroup
	defer running.Wait()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		message := bytes.Clone(bytes.TrimSpace(lines.Bytes()))
		if len(message) == 0 {
			continue
		}
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		running.Go(func() {
			defer func() { <-slots }()
			r.pass(ctx, message)
		})
		if r.version.Load() == nil {
			running.Wait() // the node chooses the version in its first answer
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read a message, of at most %d bytes: %w", maxMessage, err)
	}
	running.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// A message has the parts of a message that its HTTP headers repeat.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string                     `json:"name"`
		URI  string                     `json:"uri"`
		Meta map[string]json.RawMessage `json:"_meta"`
	} `json:"params"`
}

// pass sends a message and writes its answer, or the error as one. Notifications have no answer.
func (r *relay) pass(ctx context.Context, data []byte) {
	var m message
	if err := json.Unmarshal(data, &m); err != nil {
		m.ID = json.RawMessage("null")
		r.fail(m, fmt.Errorf("the message is no JSON-RPC: %w", err))
		return
	}
	answer, err := r.exchange(ctx, data, m)
	switch {
	case err != nil:
		r.fail(m, err)
	case len(answer) > 0:
		if m.Method == "initialize" {
			var chosen struct {
				Result struct{ ProtocolVersion string }
			}
			if json.Unmarshal(answer, &chosen) == nil {
				r.version.Store(chosen.Result.ProtocolVersion)
			}
		}
		r.write(answer)
	}
}

// exchange sends a message and returns its answer, which is empty for a notification.
func (r *relay) exchange(ctx context.Context, data []byte, m message) ([]byte, error) {
	resp, err := r.sendWithin(ctx, answerTimeout, http.MethodPost, mcpPath, nil, withHeader{json.RawMessage(data), r.header(m)})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case err != nil:
		return nil, r.unreadable(resp, err)
	case len(answer) > maxAnswer:
		return nil, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	case resp.StatusCode == http.StatusAccepted:
		return nil, nil
	case kind == "application/json":
		var line bytes.Buffer
		if err := json.Compact(&line, answer); err != nil {
			return nil, r.unreadable(resp, err)
		}
		return line.Bytes(), nil
	case kind == "application/problem+json":
		var p huma.ErrorModel
		if err := json.Unmarshal(answer, &p); err == nil {
			return nil, &Problem{Status: resp.StatusCode, Detail: p.Detail}
		}
	case kind == "text/plain" && resp.StatusCode/100 == 4:
		return nil, &Problem{Status: resp.StatusCode, Detail: string(bytes.TrimSpace(answer[:min(len(answer), 1000)]))}
	}
	return nil, r.errNotFeedmesh(resp)
}

// header returns the headers of a message: its own protocol version, or that which the node chose.
func (r *relay) header(m message) http.Header {
	h := http.Header{"Accept": {"application/json, text/event-stream"}}
	version, _ := r.version.Load().(string)
	_ = json.Unmarshal(m.Params.Meta[versionKey], &version) // absent in older versions
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if m.Method != "" {
		h.Set("Mcp-Method", m.Method)
	}
	if name := m.Params.Name + m.Params.URI; name != "" {
		h.Set("Mcp-Name", name)
	}
	return h
}

// fail answers a request with an error. An error of a notification is not reported: it has no answer.
func (r *relay) fail(m message, err error) {
	if m.ID == nil || errors.Is(err, context.Canceled) {
		return
	}
	answer, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": map[string]any{"code": errInternal, "message": err.Error()}})
	if err == nil {
		r.write(answer)
	}
}

// write writes a line.
func (r *relay) write(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.out.Write(append(line, '\n')); err != nil && r.err == nil {
		r.err = fmt.Errorf("write an answer: %w", err)
	}
}
