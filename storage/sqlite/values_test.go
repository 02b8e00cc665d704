package sqlite

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestDecodeUnescaped_RoundTrip(t *testing.T) {
	for _, words := range [][]string{
		{"a"}, {""}, {"", ""}, {","}, {"a", ",", "b"}, {"a", "", ","}, {`"`}, {`","`}, {`a","b`, "c"}, {`\`, "a"}, {"a\nb"}, {"[", "]"}, {"]"}, {"ключ", "\u2028"},
		{"https://example.org/?a=b&c=<d>"}, {"software", "servers"},
	} {
		var got []string
		if err := fromJSON(&got).Scan(asJSON(words)); err != nil || !slices.Equal(got, words) {
			t.Errorf("%s became %q, %v", asJSON(words), got, err)
		}
	}
	for _, list := range []string{`[]`, `["a", "b"]`, `[ "a","b"]`, `["a" ,"b","c"]`} {
		var got, want []string
		if err := fromJSON(&got).Scan(list); err != nil || json.Unmarshal([]byte(list), &want) != nil || !slices.Equal(got, want) {
			t.Errorf("%s became %q, %v; want %q", list, got, err, want)
		}
	}
	for _, broken := range []string{`["a""b"]`, `["a","b]`, `["`, `["]`, `"]`, ``} {
		var got []string
		if err := fromJSON(&got).Scan(broken); err == nil {
			t.Errorf("%s became %q, want an error", broken, got)
		}
	}
}

func BenchmarkDecodeUnescaped(b *testing.B) {
	list := asJSON([]string{"software", "servers", "security"})
	var words []string
	for b.Loop() {
		if err := fromJSON(&words).Scan(list); err != nil {
			b.Fatal(err)
		}
	}
}
