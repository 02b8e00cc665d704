package briefing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/sashabaranov/go-openai"

	"feedmesh/agent/untrusted"
	"feedmesh/agent/wire"
)

// Bounds of an answer of the endpoint.
const (
	maxOutput   = 2000    // tokens, with those by which a model reasons
	maxResponse = 1 << 20 // bytes
	maxProblem  = 300     // characters of a message of an error in the log
)

// A failure is a request without a text.
type failure struct {
	reason string // one of those of [wire.Briefing]
	status int    // of HTTP; 0: none
	err    error  // without the key
}

func (f *failure) Error() string { return f.err.Error() }

// An endpoint speaks the chat protocol of OpenAI, as the servers of local models do.
type endpoint struct {
	client     *openai.Client
	transport  *http.Transport
	model, key string
}

var errRedirect = errors.New("the endpoint redirects, which is not followed: set briefing.url to the address that it redirects to")

// newEndpoint returns an endpoint at an address that the operator chose, which may be in a private network. Redirects are not followed:
// they could carry the key elsewhere.
func newEndpoint(o Options) *endpoint {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = 64 << 10
	settings := openai.DefaultConfig(o.Key)
	settings.BaseURL = o.URL
	settings.HTTPClient = &http.Client{
		Transport: limited{transport}, CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
	return &endpoint{openai.NewClientWithConfig(settings), transport, o.Model, o.Key}
}

// limited bounds the bodies of responses.
type limited struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (l limited) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		answer.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(answer.Body, maxResponse), answer.Body}
	}
	return answer, err
}

// write returns the text of the model. Its errors are of type [*failure].
func (e *endpoint) write(ctx context.Context, instruction, input string) (string, error) {
	request := openai.ChatCompletionRequest{
		Model: e.model,
		Messages: []openai.ChatCompletionMessage{
			{Role: openai.ChatMessageRoleSystem, Content: instruction}, {Role: openai.ChatMessageRoleUser, Content: input},
		},
		//lint:ignore SA1019 Ollama ignores max_completion_tokens, so that its answers would have no bound (ollama/ollama#7125)
		MaxTokens: maxOutput,
	}
	response, err := e.client.CreateChatCompletion(ctx, request)
	if errors.Is(err, openai.ErrReasoningModelMaxTokensDeprecated) { // by the name of the model, before a request
		//lint:ignore SA1019 see above
		request.MaxTokens, request.MaxCompletionTokens = 0, maxOutput
		response, err = e.client.CreateChatCompletion(ctx, request)
	}
	if err != nil {
		return "", e.failureOf(ctx, err)
	}
	if len(response.Choices) == 0 || strings.TrimSpace(response.Choices[0].Message.Content) == "" {
		return "", &failure{reason: wire.BriefingUnreadable, err: errors.New("the answer has no text")}
	}
	return response.Choices[0].Message.Content, nil
}

// failureOf returns the failure of a request. Messages of the endpoint are left out where they may quote the key.
func (e *endpoint) failureOf(ctx context.Context, err error) *failure {
	var answered *openai.APIError
	var other *openai.RequestError
	var request *url.Error
	switch {
	case ctx.Err() != nil:
		return &failure{reason: wire.BriefingTimeout, err: errors.New("no answer in time")}
	case errors.As(err, &answered):
		message := answered.Message
		if answered.HTTPStatusCode == http.StatusUnauthorized || answered.HTTPStatusCode == http.StatusForbidden {
			message = "the key is missing, wrong or lacks rights"
		}
		return &failure{wire.BriefingRefused, answered.HTTPStatusCode, fmt.Errorf("status %d: %s", answered.HTTPStatusCode, e.hidden(message))}
	case errors.As(err, &other):
		return &failure{wire.BriefingRefused, other.HTTPStatusCode, fmt.Errorf("status %d", other.HTTPStatusCode)}
	case errors.As(err, &request):
		return &failure{reason: wire.BriefingUnreachable, err: request.Err}
	}
	return &failure{reason: wire.BriefingUnreadable, err: errors.New(e.hidden(err.Error()))}
}

// hidden returns a message in one line, without the key.
func (e *endpoint) hidden(message string) string {
	if e.key != "" {
		message = strings.ReplaceAll(message, e.key, "(hidden)")
	}
	return untrusted.Line(message, maxProblem)
}

// close closes idle connections.
func (e *endpoint) close() { e.transport.CloseIdleConnections() }

// Check returns an error if the endpoint does not answer, or refuses the key. It requests the list of models, which costs nothing.
// An endpoint without such a list passes.
func Check(ctx context.Context, url, key string) error {
	e := newEndpoint(Options{URL: url, Key: key})
	defer e.close()
	_, err := e.client.ListModels(ctx)
	if err == nil {
		return nil
	}
	f := e.failureOf(ctx, err)
	denied := f.status == http.StatusUnauthorized || f.status == http.StatusForbidden || f.status >= 500
	if f.reason == wire.BriefingRefused && !denied {
		return nil
	}
	return f
}
