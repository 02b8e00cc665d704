package fetch

import "testing"

func TestWeight_OfEachClass(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		class  Class
		status int
		want   float64
	}{
		{ClassProxy, 0, 0}, {ClassProxy, 407, 0},
		{ClassTimeout, 0, 0.25}, {ClassReset, 0, 0.25}, {ClassConnect, 0, 0.25}, {ClassResolver, 0, 0.25},
		{ClassServer, 500, 0.25}, {ClassServer, 503, 0.25}, {ClassClient, 429, 0.25}, {ClassClient, 408, 0.25},
		{ClassClient, 403, 0.5}, {ClassClient, 400, 0.5}, {ClassClient, 451, 0.5}, {ClassLogin, 401, 0.5}, {ClassLogin, 200, 0.5},
		{ClassBotBlock, 403, 0.5}, {ClassBotBlock, 503, 0.5}, {ClassBotBlock, 404, 0.5}, {ClassTLS, 0, 0.5}, {ClassTooLarge, 0, 0.5}, {ClassEncoding, 0, 0.5},
		{ClassRedirect, 302, 0.5}, {ClassStatus, 204, 0.5}, {ClassBlocked, 0, 0.5}, {"of another version", 0, 0.5},
		{ClassClient, 404, 1}, {ClassClient, 410, 1}, {ClassDNS, 0, 1}, {ClassAddress, 0, 1},
	} {
		if got := Weight(x.class, x.status); got != x.want {
			t.Errorf("%s %d: got %v, want %v", x.class, x.status, got, x.want)
		}
	}
}
