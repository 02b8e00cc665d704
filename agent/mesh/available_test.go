package mesh

import (
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// An error of a server that is temporarily unable to respond is recognised from both APIs of the client.
func TestIsUnavailable_BothAPIs(t *testing.T) {
	for _, err := range []error{
		nats.ErrTimeout, &jetstream.APIError{Code: 503, ErrorCode: 10008}, &nats.APIError{Code: 503, ErrorCode: 10008},
	} {
		if !IsUnavailable(fmt.Errorf("read bucket agents: %w", err)) {
			t.Errorf("%#v is not unavailable", err)
		}
	}
	for _, err := range []error{errors.New("other"), &jetstream.APIError{Code: 404}, &nats.APIError{Code: 404}} {
		if IsUnavailable(err) {
			t.Errorf("%#v is unavailable", err)
		}
	}
}
