package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// maxAnswer is how much of the answer to a form is read, in bytes.
const maxAnswer = 1 << 10

// Post sends a form and returns the answer, whatever its status, with up to the
// first 1024 bytes of its body. It reaches the addresses that documents are
// fetched from and no others, follows redirects only where the form goes with
// them (307 and 308), and takes as long as ctx lets it. Its errors do not show
// the address: it may have a password in it.
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

// followForm is the CheckRedirect of forms. Where the next request would be
// another than ours, the redirect itself is the answer.
func followForm(r *http.Request, via []*http.Request) error {
	r.Header.Del("Referer")
	if r.Method != http.MethodPost || len(via) > maxRedirects {
		return http.ErrUseLastResponse
	}
	return nil
}
