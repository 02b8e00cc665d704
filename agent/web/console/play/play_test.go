package play

import (
	"testing"

	"feedmesh/storage"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		e            storage.Enclosure
		kind, policy string
	}{
		{storage.Enclosure{URL: "https://a.example:8443/1?x=1", Type: "audio/mpeg"}, Audio, "media-src https://a.example:8443"},
		{storage.Enclosure{URL: "http://[::1]:80/1.mp3"}, Audio, "media-src http://[::1]:80"},
		{storage.Enclosure{URL: "https://a.example/1", Type: "video"}, Video, "media-src https://a.example"},
		{storage.Enclosure{URL: "https://www.youtube.com/watch?v=dQw4w9WgXcQ", Type: "video", Player: "YouTube"}, Frame, "frame-src https://www.youtube-nocookie.com"},
		{storage.Enclosure{URL: "https://vimeo.com/1", Type: "video", Player: "Vimeo"}, Frame, "frame-src https://player.vimeo.com"},
		{storage.Enclosure{URL: "https://rumble.com/embed/v1", Type: "video", Player: "Rumble"}, "", ""},
		{storage.Enclosure{URL: "https://a.example/1.m3u8", Type: "application/x-mpegurl"}, "", ""},
		{storage.Enclosure{URL: "https://a.example/1.pdf", Type: "application/pdf"}, "", ""},
		{storage.Enclosure{URL: "https://a.example;script-src*/1.mp3", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{URL: "https://*/1.mp3", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{URL: "javascript:alert(1)", Type: "audio/mpeg"}, "", ""},
		{storage.Enclosure{Type: "audio/mpeg"}, "", ""},
	} {
		p, ok := Of(c.e)
		if ok != (c.kind != "") || p.Kind != c.kind || ok && p.Policy() != c.policy {
			t.Errorf("%+v: got %+v, %v", c.e, p, ok)
		}
	}
}
