package service

import "testing"

func TestCSVCell_EscapesFormulas(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "a=b": "a=b", "https://x": "https://x", "-1.5": "-1.5", "+1": "+1",
		"=1+1": "'=1+1", "+1+1": "'+1+1", "-cmd": "'-cmd", "@x": "'@x", "\tx": "'\tx", "\rx": "'\rx", "\n=1": "'\n=1",
	} {
		if got := CSVCell(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
