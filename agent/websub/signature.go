package websub

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"hash"
	"net/http"
	"strings"
)

// methods are the signature methods of the Recommendation, section 7.1, strongest first. SHA-1 is broken for
// collisions but not for this use, and most hubs support nothing else.
var methods = []struct {
	name string
	hash func() hash.Hash
}{
	{"sha512", sha512.New}, {"sha384", sha512.New384}, {"sha256", sha256.New}, {"sha1", sha1.New},
}

// signed reports whether the body is signed with the secret, and whether it has a signature of a supported
// method. The strongest of several signatures decides.
func signed(h http.Header, secret string, body []byte) (valid, found bool) {
	claims := make(map[string]string)
	for _, value := range h.Values("X-Hub-Signature") {
		for claim := range strings.SplitSeq(value, ",") {
			method, digits, _ := strings.Cut(strings.TrimSpace(claim), "=")
			claims[strings.ToLower(method)] = digits
		}
	}
	for _, m := range methods {
		digits, ok := claims[m.name]
		if !ok {
			continue
		}
		claimed, err := hex.DecodeString(digits)
		mac := hmac.New(m.hash, []byte(secret))
		mac.Write(body)
		return err == nil && hmac.Equal(claimed, mac.Sum(nil)), true
	}
	return false, false
}
