package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer bounds the part of a form's response that is read, in bytes.
const maxAnswer = 1 << 10

// Post sends a form and returns the response's status, whatever it is, and up to the first 1024 bytes of its
// body. It applies the same address guard as Fetch, follows only redirects that resend the form (307 and
// 308), and has no timeout except that of ctx. Its errors omit the URL, which may contain a password.
func (c *Client) Post(ctx context.Context, address string, form url.Values) (status int, body []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, unwrapURL(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("User-Agent", c.options.UserAgent)
	client := http.Client{Transport: c.direct, CheckRedirect: followForm}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, unwrapURL(err)
	}
	defer response.Body.Close()
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, body, err
}

// followForm is the CheckRedirect of forms. If a redirect would change the request's method, the redirect
// itself is the response.
func followForm(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if r.Method != http.MethodPost || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
