package websub

import (
	"net/http"
	"testing"
)

// The signatures of "hello" under the secret "secret", made with openssl.
const (
	helloSHA1   = "sha1=5112055c05f944f85755efc5cd8970e194e9f45b"
	helloSHA256 = "sha256=88aab3ede8d3adf94d26ab90d3bafd4a2083070c3bcce9c014ee04a443847c0b"
	helloSHA384 = "sha384=7e1e620ca0068fd1fce00c1ad3f5c6dbb12874dd2fb9c26502d09d0d804f2c0ba1d921b9458416cba480417571001e18"
	helloSHA512 = "sha512=db1595ae88a62fd151ec1cba81b98c39df82daae7b4cb9820f446d5bf02f1dcfca6683d88cab3e273f5963ab8ec469a746b5b19086371239f67d1e5f99a79440"
)

// All methods of the Recommendation are supported; the strongest one decides.
func TestSigned_MethodsAndPrecedence(t *testing.T) {
	for _, c := range []struct {
		name        string
		headers     []string
		right, some bool
	}{
		{"none", nil, false, false},
		{"SHA-1", []string{helloSHA1}, true, true},
		{"SHA-256", []string{helloSHA256}, true, true},
		{"SHA-384", []string{helloSHA384}, true, true},
		{"SHA-512", []string{helloSHA512}, true, true},
		{"capitals and space", []string{" SHA1" + helloSHA1[4:]}, true, true},
		{"two, one wrong: the stronger one decides", []string{"sha1=00", helloSHA256}, true, true},
		{"two in one header", []string{helloSHA1 + ", sha512=00"}, false, true},
		{"empty", []string{"sha256="}, false, true},
		{"without method", []string{helloSHA1[5:]}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			right, some := signed(http.Header{"X-Hub-Signature": c.headers}, "secret", []byte("hello"))
			if right != c.right || some != c.some {
				t.Errorf("got %v, %v, want %v, %v", right, some, c.right, c.some)
			}
		})
	}
}
