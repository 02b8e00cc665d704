package secret

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"feedmesh/storage"
	"feedmesh/storage/enginetest"
)

// testKeys returns keys with a file that is made when it is needed.
func testKeys(t *testing.T, store storage.Store) *Keys {
	t.Helper()
	return Open(Options{Path: filepath.Join(t.TempDir(), "secret.key"), Create: true, Store: store})
}

func testRequest() *storage.Request {
	return &storage.Request{UserAgent: "A reader", Header: map[string]string{"X-Key": "hunter2"}, User: "me", Password: "hunter3"}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func TestSealRequest_OpensForTheSameFeedAndFieldOnly(t *testing.T) {
	k := testKeys(t, enginetest.Store(t))
	r := testRequest()
	sealed := must[*storage.Request](t)(k.SealRequest(t.Context(), "feed1", r))
	if text := sealed.Password + sealed.Header["X-Key"]; strings.Contains(text, "hunter") || sealed.User != "me" || sealed.UserAgent != r.UserAgent || !reflect.DeepEqual(r, testRequest()) {
		t.Errorf("got %+v of %+v, want the password and the header sealed in a copy", sealed, r)
	}
	if again := must[*storage.Request](t)(k.SealRequest(t.Context(), "feed1", sealed)); !reflect.DeepEqual(again, sealed) {
		t.Errorf("got %+v, want sealed values unchanged", again)
	}
	if opened := must[*storage.Request](t)(k.OpenRequest("feed1", sealed)); !reflect.DeepEqual(opened, r) {
		t.Errorf("got %+v, want %+v", opened, r)
	}
	stat := must[os.FileInfo](t)(os.Stat(k.Path))
	if stat.Mode().Perm() != 0o600 {
		t.Errorf("the key file has mode %v, want 0600", stat.Mode())
	}
	var e *ValueError
	if _, err := k.OpenRequest("feed2", sealed); !errors.As(err, &e) || !errors.Is(err, errDamaged) {
		t.Errorf("for another feed: got %v", err)
	}
	forged := *sealed
	forged.Password = strings.Replace(sealed.Password, ":feed1:", ":feed2:", 1)
	if _, err := k.OpenRequest("feed2", &forged); !errors.Is(err, errDamaged) {
		t.Errorf("with the owner replaced: got %v", err)
	}
	swapped := storage.Request{Header: map[string]string{"X-Key": sealed.Password}}
	if _, err := k.OpenRequest("feed1", &swapped); !errors.Is(err, errDamaged) {
		t.Errorf("as another field: got %v", err)
	}
	if got := must[*storage.Request](t)(k.OpenRequest("feed3", r)); !reflect.DeepEqual(got, r) {
		t.Errorf("got %+v, want clear text unchanged", got)
	}
}

func TestSealProxy_IsBoundToItsAddress(t *testing.T) {
	k := testKeys(t, enginetest.Store(t))
	const url = "socks5://me:hunter2@proxy.example:1080"
	sealed := must[string](t)(k.SealProxy(t.Context(), storage.Proxy{ID: "eu", URL: url}))
	if strings.Contains(sealed, "hunter2") || !strings.HasPrefix(sealed, "socks5://me:") {
		t.Errorf("got %s, want the password sealed", sealed)
	}
	if opened := must[string](t)(k.OpenProxy("eu", sealed)); opened != url {
		t.Errorf("got %s, want %s", opened, url)
	}
	if _, err := k.OpenProxy("eu", strings.Replace(sealed, "proxy.example", "evil.example", 1)); !errors.Is(err, errDamaged) {
		t.Errorf("at another address: got %v", err)
	}
	if got := must[string](t)(k.SealProxy(t.Context(), storage.Proxy{ID: "eu", URL: "http://proxy.example:8080"})); got != "http://proxy.example:8080" {
		t.Errorf("without a password: got %s", got)
	}
}

// No key is made while the store has values of another one, and nothing is sealed or opened without it.
func TestKeys_MissingOtherUnreadable(t *testing.T) {
	store := enginetest.Store(t)
	k := testKeys(t, store)
	sealed := must[*storage.Request](t)(k.SealRequest(t.Context(), "feed1", testRequest()))
	if err := k.Check(t.Context()); err != nil {
		t.Errorf("check: %v", err)
	}
	content := must[[]byte](t)(os.ReadFile(k.Path))
	check := func(name string, canSeal bool, words ...string) {
		t.Helper()
		k := Open(k.Options)
		text := ""
		if _, err := k.OpenRequest("feed1", sealed); err == nil {
			t.Errorf("%s: opened", name)
		} else {
			text = err.Error()
		}
		for _, word := range words {
			if err := k.Check(t.Context()); err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "feed1") || !strings.Contains(text, word) {
				t.Errorf("%s: got %v and %s, want %q", name, err, text, word)
			}
		}
		if _, err := k.SealRequest(t.Context(), "feed2", testRequest()); (err == nil) != canSeal {
			t.Errorf("%s: seal: got %v", name, err)
		}
	}
	if err := os.Remove(k.Path); err != nil {
		t.Fatal(err)
	}
	check("missing", false, k.Path, "restore the file", "openssl rand")
	if _, err := os.Stat(k.Path); err == nil {
		t.Fatal("a key was made beside sealed values")
	}
	if err := os.WriteFile(k.Path, []byte("no key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	check("unreadable", false, k.Path, "a line is no key", "restore the file")
	other := testKeys(t, nil)
	must[*storage.Request](t)(other.SealRequest(t.Context(), "x", testRequest()))
	if err := os.Rename(other.Path, k.Path); err != nil {
		t.Fatal(err)
	}
	check("another", true, "does not contain: add the key")

	if err := os.WriteFile(k.Path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := Open(k.Options).OpenRequest("feed1", sealed)
	if err != nil || !reflect.DeepEqual(opened, testRequest()) {
		t.Errorf("restored: got %+v, %v", opened, err)
	}
}

// Without a key file nothing is sealed, as in a mesh without --secret-key-file; then what others sealed is not opened.
func TestKeys_WithoutFile(t *testing.T) {
	store := enginetest.Store(t)
	for _, k := range []*Keys{nil, Open(Options{Store: store})} {
		if got := must[*storage.Request](t)(k.SealRequest(t.Context(), "feed1", testRequest())); !reflect.DeepEqual(got, testRequest()) {
			t.Errorf("got %+v, want clear text", got)
		}
	}
	k := Open(Options{Store: store})
	n := k.Renew()
	n.Request(t.Context(), "feed1", testRequest(), nil)
	if err := errors.Join(n.Done(t.Context())); err != nil {
		t.Fatal(err)
	}
	if err := k.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "1 feeds, proxies and subscriptions are stored in clear text: set --secret-key-file") {
		t.Errorf("check: got %v", err)
	}
	sealed := must[*storage.Request](t)(testKeys(t, store).SealRequest(t.Context(), "feed1", testRequest()))
	if _, err := k.OpenRequest("feed1", sealed); err == nil || !strings.Contains(err.Error(), "set --secret-key-file") {
		t.Errorf("open: got %v", err)
	}
	if _, err := k.SealRequest(t.Context(), "feed2", testRequest()); err == nil || !strings.Contains(err.Error(), "set --secret-key-file") {
		t.Errorf("seal beside sealed values: got %v", err)
	}
}

// A new first line of the file is used for all values at the next renewal; then the old line is not needed.
func TestRenew_RotatesAndFollowsMoves(t *testing.T) {
	ctx := t.Context()
	k := testKeys(t, enginetest.Store(t))
	sealed := must[*storage.Request](t)(k.SealRequest(ctx, "old", testRequest()))
	proxy := storage.Proxy{ID: "eu", URL: "http://me:hunter2@proxy.example:8080"}
	proxy.URL = must[string](t)(k.SealProxy(ctx, proxy))
	subscription := storage.Subscription{ID: "s", Receiver: "https://receiver.example/?key=hunter2", Secret: "whsec_hunter2"}
	opened := subscription
	var err error
	if subscription.Receiver, subscription.Secret, err = k.SealReceiver(ctx, subscription); err != nil || strings.Contains(subscription.Receiver+subscription.Secret, "hunter") {
		t.Fatalf("got %+v, %v", subscription, err)
	}
	rotated := testKeys(t, nil)
	must[*storage.Request](t)(rotated.SealRequest(ctx, "x", testRequest()))
	added := must[[]byte](t)(os.ReadFile(rotated.Path))
	if err := os.WriteFile(k.Path, append(added, must[[]byte](t)(os.ReadFile(k.Path))...), 0o600); err != nil {
		t.Fatal(err)
	}

	n := k.Renew()
	if got := n.Request(ctx, "new", sealed, func(id string) bool { return false }); !reflect.DeepEqual(got, sealed) {
		t.Errorf("of a stranger: got %+v, want it unchanged", got)
	}
	if n.Done(ctx); k.Check(ctx) == nil {
		t.Error("the value of a stranger is not reported")
	}
	n = k.Renew()
	renewed := n.Request(ctx, "new", sealed, func(id string) bool { return id == "old" })
	proxy.URL = n.Proxy(ctx, proxy)
	subscription.Receiver, subscription.Secret = n.Receiver(ctx, subscription)
	clear := n.Request(ctx, "clear", testRequest(), nil)
	if err := n.Done(ctx); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(k.Path, added, 0o600); err != nil {
		t.Fatal(err)
	}
	k = Open(k.Options)
	for id, r := range map[string]*storage.Request{"new": renewed, "clear": clear} {
		if opened, err := k.OpenRequest(id, r); err != nil || !reflect.DeepEqual(opened, testRequest()) || strings.Contains(r.Password, "hunter") {
			t.Errorf("%s: got %+v, %v", id, opened, err)
		}
	}
	if url, err := k.OpenProxy("eu", proxy.URL); err != nil || url != "http://me:hunter2@proxy.example:8080" {
		t.Errorf("got %s, %v", url, err)
	}
	if receiver, key, err := k.OpenReceiver(subscription); err != nil || receiver != opened.Receiver || key != opened.Secret {
		t.Errorf("got receiver %s, secret %s, %v", receiver, key, err)
	}
	other := subscription
	other.ID = "other"
	if _, _, err := k.OpenReceiver(other); err == nil {
		t.Error("the receiver of another subscription was opened")
	}
	k.Observe("subscription other", nil)
	if err := k.Check(ctx); err != nil {
		t.Errorf("check: got %v, want the old key forgotten", err)
	}
	n = k.Renew()
	if again := n.Request(ctx, "new", renewed, nil); !reflect.DeepEqual(again, renewed) {
		t.Error("a second renewal changed values")
	}
}
