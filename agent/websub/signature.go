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

// methods are those of the Recommendation, section 7.1, the best first. SHA-1 is
// broken for collisions, not for this use, and most hubs know no other.
var methods = []struct {
	name string
	hash func() hash.Hash
}{
	{"sha512", sha512.New}, {"sha384", sha512.New384}, {"sha256", sha256.New}, {"sha1", sha1.New},
}

// signed reports whether a body was signed with the secret, and whether
// there is some signature of a kind we know. If there are several, the best one
// decides.
func signed(h http.Header, secret string, body []byte) (right, some bool) {
	claims := make(map[string]string)
	for _, value := range h.Values("X-Hub-Signature") {
		for claim := range strings.SplitSeq(value, ",") {
			method, digits, _ := strings.Cut(strings.TrimSpace(claim), "=")
			claims[strings.ToLower(method)] = digits
		}
	}
	for _, m := range methods {
		digits, found := claims[m.name]
		if !found {
			continue
		}
		claimed, err := hex.DecodeString(digits)
		mac := hmac.New(m.hash, []byte(secret))
		mac.Write(body)
		return err == nil && hmac.Equal(claimed, mac.Sum(nil)), true
	}
	return false, false
}
