package discover

import (
	"slices"
	"testing"
)

func TestIcons_BestFirst(t *testing.T) {
	const page = `<html><head><base href="/assets/">
<link rel="mask-icon" href="mask.svg"><link rel="icon" type="image/svg+xml" href="logo"><link rel="icon" href="logo.SVG">
<link rel="shortcut icon" href="plain.ico"><link rel="apple-touch-icon" href="touch.png">
<link rel="icon" sizes="16x16 48x48" href="48.png"><link rel="icon" sizes="512x512" href="https://cdn.example/512.png?v=2">
<link rel="icon" sizes="any x xx" href="data:image/png;base64,AAAA"><link rel="icon" sizes="24x24" href="24.png"><link rel="icon" sizes="32x32" href="48.png">
<link rel="stylesheet icon-font" href="font.css"></head><body></body></html>`
	want := []string{
		"https://site.example/assets/48.png", "https://site.example/assets/touch.png", "https://cdn.example/512.png?v=2",
		"https://site.example/assets/24.png", "https://site.example/assets/plain.ico",
	}
	if got := Icons([]byte(page), "text/html; charset=utf-8", "https://site.example/blog/"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, address := range []string{"://", "https://site.example/"} {
		if got := Icons([]byte("<p>No icon"), "", address); len(got) != 0 {
			t.Errorf("%s: got %q, want none", address, got)
		}
	}
}
