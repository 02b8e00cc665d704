package player

import "testing"

func TestOf_KnowsPlayersAndFiles(t *testing.T) {
	for address, want := range map[string]Medium{
		"https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0":                        {"YouTube", Video, "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "", "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"},
		"http://www.youtube-nocookie.com/v/dQw4w9WgXcQ":                          {"YouTube", Video, "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "", "https://i.ytimg.com/vi/dQw4w9WgXcQ/hqdefault.jpg"},
		"https://youtube.com/embed/videoseries?si=x&list=PL1":                    {"YouTube", Video, "https://www.youtube.com/playlist?list=PL1", "", ""},
		"https://player.vimeo.com/video/123":                                     {"Vimeo", Video, "https://vimeo.com/123", "", ""},
		"https://player.vimeo.com/video/123?dnt=1&h=ab1":                         {"Vimeo", Video, "https://vimeo.com/123/ab1", "", ""},
		"https://geo.dailymotion.com/player/x.html?video=x7":                     {"Dailymotion", Video, "https://www.dailymotion.com/video/x7", "", "https://www.dailymotion.com/thumbnail/video/x7"},
		"https://w.soundcloud.com/player/?url=https%3A//api.x/1":                 {"SoundCloud", Audio, "https://w.soundcloud.com/player/?url=https%3A//api.x/1", "", ""},
		"https://open.spotify.com/embed/episode/4x?t=1":                          {"Spotify", Audio, "https://open.spotify.com/episode/4x", "", ""},
		"https://bandcamp.com/EmbeddedPlayer/album=1/size=large/":                {"Bandcamp", Audio, "https://bandcamp.com/EmbeddedPlayer/album=1/size=large/", "", ""},
		"https://tube.example/videos/embed/9c9de5e8-0a1e-484a-b099-e80766180a6d": {"PeerTube", Video, "https://tube.example/w/9c9de5e8-0a1e-484a-b099-e80766180a6d", "", ""},
		"https://tube.example/videos/embed/kkGMgK9ZtnKfYAgnEtQxbv?x=1":           {"PeerTube", Video, "https://tube.example/w/kkGMgK9ZtnKfYAgnEtQxbv", "", ""},
		"https://vk.com/video_ext.php?oid=-12&id=34&hash=x":                      {"VK", Video, "https://vkvideo.ru/video-12_34", "", ""},
		"https://rutube.ru/play/embed/ab12":                                      {"Rutube", Video, "https://rutube.ru/video/ab12/", "", ""},
		"https://player.twitch.tv/?parent=x&channel=some_one":                    {"Twitch", Video, "https://www.twitch.tv/some_one", "", ""},
		"https://odysee.com/$/embed/@a:1/b:2?r=x":                                {"Odysee", Video, "https://odysee.com/@a:1/b:2", "", ""},
		"https://archive.org/embed/a-talk_2020":                                  {"Internet Archive", Video, "https://archive.org/details/a-talk_2020", "", ""},
		"https://a.example/x/Film.WEBM?y":                                        {"", Video, "https://a.example/x/Film.WEBM?y", "video/webm", ""},
		"https://a.example/x.mp3":                                                {"", Audio, "https://a.example/x.mp3", "audio/mpeg", ""},
	} {
		if got, ok := Of(address); !ok || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", address, got, ok, want)
		}
	}
	for _, address := range []string{"https://www.youtube.com/", "https://youtube.com.evil.example/embed/x", "https://a.example/map", "https://a.example/x.html",
		"https://tube.example/videos/embed/x", "https://a.example/\x7f", ""} {
		if got, ok := Of(address); ok {
			t.Errorf("%s: got %+v, want none", address, got)
		}
	}
}

func TestEmbed(t *testing.T) {
	for page, want := range map[string]string{
		"https://www.youtube.com/watch?v=dQw4w9WgXcQ":   "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ",
		"https://www.youtube.com/playlist?list=PL1":     "https://www.youtube-nocookie.com/embed/videoseries?list=PL1",
		"https://vimeo.com/123":                         "https://player.vimeo.com/video/123?dnt=1",
		"https://vimeo.com/123/abc":                     "https://player.vimeo.com/video/123?h=abc&dnt=1",
		"https://www.dailymotion.com/video/x7":          "https://geo.dailymotion.com/player.html?video=x7",
		"https://tube.example/w/1234567891234567891234": "https://tube.example/videos/embed/1234567891234567891234",
		"https://rumble.com/embed/v1":                   "",
		"https://www.youtube.com/watch?v=a&b=\"><x>":    "",
		"https://evil.example/watch?v=dQw4w9WgXcQ":      "",
	} {
		if got, ok := Embed(page); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", page, got, ok, want)
		}
	}
}
