// Package player knows the addresses of embedded video and audio: those of the players of websites, and those
// of files by their extension.
package player

import (
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A Medium is a video or an audio recording.
type Medium struct {
	Site    string // name of the website whose player it is; "" for a file
	Kind    Kind
	Page    string // its page on the website, or the address itself
	Type    string // MIME type of a file
	Picture string // URL of a still, "" if unknown
}

// Kind is the kind of a medium, as a MIME type begins.
type Kind string

// The kinds.
const (
	Video Kind = "video"
	Audio Kind = "audio"
)

// PrivateYouTube is the host of YouTube that sets no cookies before the video is played.
const PrivateYouTube = "www.youtube-nocookie.com"

// Of returns the medium at an absolute address. ok is false if the address is neither that of a known player
// nor that of a file. Concurrent workers may call Of.
func Of(address string) (m Medium, ok bool) {
	u, err := url.Parse(address)
	if err != nil {
		return Medium{}, false
	}
	request := u.RequestURI()
	for _, s := range slices.Concat(sites[hostOf(u)], anywhere) {
		groups := s.address.FindStringSubmatchIndex(request)
		if groups == nil {
			continue
		}
		expand := func(template string) string {
			return strings.ReplaceAll(string(s.address.ExpandString(nil, template, request, groups)), "{host}", u.Host)
		}
		m = Medium{Site: s.name, Kind: s.kind, Page: address, Picture: expand(s.picture)}
		if s.page != "" {
			m.Page = expand(s.page)
		}
		return m, true
	}
	if kind, known := files[strings.ToLower(path.Ext(u.Path))]; known {
		major, _, _ := strings.Cut(kind, "/")
		return Medium{Kind: Kind(major), Page: address, Type: kind}, true
	}
	return Medium{}, false
}

// Embed returns the address at which a page can embed the player of a medium, given its Page of [Medium]: the variant that
// tracks viewers least. ok is false if the website has none that is known to work.
func Embed(page string) (address string, ok bool) {
	u, err := url.Parse(page)
	if err != nil {
		return "", false
	}
	for _, e := range slices.Concat(embeds[hostOf(u)], embedsAnywhere) {
		if groups := e.page.FindStringSubmatchIndex(u.RequestURI()); groups != nil {
			return strings.ReplaceAll(string(e.page.ExpandString(nil, e.player, u.RequestURI(), groups)), "{host}", u.Host), true
		}
	}
	return "", false
}

// An embed is the page of a medium as path and query, and its player, into which groups and {host} are inserted.
type embed struct {
	page   *regexp.Regexp
	player string
}

var embeds = map[string][]embed{
	"youtube.com": {
		{regexp.MustCompile(`^/watch\?v=([\w-]+)$`), "https://" + PrivateYouTube + "/embed/$1"},
		{regexp.MustCompile(`^/playlist\?list=([\w-]+)$`), "https://" + PrivateYouTube + "/embed/videoseries?list=$1"},
	},
	"vimeo.com": {
		{regexp.MustCompile(`^/(\d+)/(\w+)$`), "https://player.vimeo.com/video/$1?h=$2&dnt=1"},
		{regexp.MustCompile(`^/(\d+)$`), "https://player.vimeo.com/video/$1?dnt=1"},
	},
	"dailymotion.com": {{regexp.MustCompile(`^/video/(\w+)$`), "https://geo.dailymotion.com/player.html?video=$1"}},
}

var embedsAnywhere = []embed{{regexp.MustCompile(`^/w/([0-9a-f-]{36}|[1-9A-HJ-NP-Za-km-z]{22})$`), "https://{host}/videos/embed/$1"}}

// IsYouTube reports whether YouTube's player is at that host.
func IsYouTube(host string) bool {
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	return host == "youtube.com" || host == "youtube-nocookie.com"
}

func hostOf(u *url.URL) string { return strings.TrimPrefix(strings.ToLower(u.Host), "www.") }

// files are the MIME types of files by extension.
var files = map[string]string{
	".mp4": "video/mp4", ".m4v": "video/mp4", ".webm": "video/webm", ".ogv": "video/ogg", ".mov": "video/quicktime",
	".m3u8": "video/mpegurl", ".mpd": "video/dash+xml",
	".mp3": "audio/mpeg", ".m4a": "audio/mp4", ".ogg": "audio/ogg", ".oga": "audio/ogg", ".opus": "audio/ogg",
	".wav": "audio/wav", ".flac": "audio/flac", ".aac": "audio/aac",
}

// A site is a website with a player.
type site struct {
	name    string
	kind    Kind
	address *regexp.Regexp // of the player's path and query; its groups and {host} are inserted below
	page    string         // page of the medium; "" for the player's own address
	picture string
}

func of(name string, kind Kind, address, page string) site {
	return site{name, kind, regexp.MustCompile(address), page, ""}
}

var youTube = []site{
	of("YouTube", Video, `^/embed/videoseries\?(?:.*&)?list=([\w-]+)`, "https://www.youtube.com/playlist?list=$1"),
	{"YouTube", Video, regexp.MustCompile(`^/(?:embed|v|shorts)/([\w-]+)`), "https://www.youtube.com/watch?v=$1", "https://i.ytimg.com/vi/$1/hqdefault.jpg"},
}

// anywhere are players at many hosts.
var anywhere = []site{
	of("PeerTube", Video, `^/videos/embed/([0-9a-f-]{36}|[1-9A-HJ-NP-Za-km-z]{22})(?:$|\?)`, "https://{host}/w/$1"),
}

// sites are the players by host, without www.
var sites = map[string][]site{
	"youtube.com":          youTube,
	"youtube-nocookie.com": youTube,
	"player.vimeo.com": {of("Vimeo", Video, `^/video/(\d+)\?(?:.*&)?h=(\w+)`, "https://vimeo.com/$1/$2"),
		of("Vimeo", Video, `^/video/(\d+)`, "https://vimeo.com/$1")},
	"dailymotion.com":     {{"Dailymotion", Video, regexp.MustCompile(`^/(?:embed|swf)/video/(\w+)`), "https://www.dailymotion.com/video/$1", dailymotionPicture}},
	"geo.dailymotion.com": {{"Dailymotion", Video, regexp.MustCompile(`^/player.*[?&]video=(\w+)`), "https://www.dailymotion.com/video/$1", dailymotionPicture}},
	"rutube.ru":           {of("Rutube", Video, `^/(?:play|video)/embed/(\w+)`, "https://rutube.ru/video/$1/")},
	"vk.com":              vk,
	"vk.ru":               vk,
	"vkvideo.ru":          vk,
	"ok.ru":               {of("OK", Video, `^/videoembed/(\d+)`, "https://ok.ru/video/$1")},
	"player.twitch.tv": {of("Twitch", Video, `^/\?(?:.*&)?video=v?(\d+)`, "https://www.twitch.tv/videos/$1"),
		of("Twitch", Video, `^/\?(?:.*&)?channel=(\w+)`, "https://www.twitch.tv/$1")},
	"clips.twitch.tv":            {of("Twitch", Video, `^/embed\?(?:.*&)?clip=([\w-]+)`, "https://clips.twitch.tv/$1")},
	"odysee.com":                 {of("Odysee", Video, `^/(?:\$|%24)/embed/([^?]+)`, "https://odysee.com/$1")},
	"lbry.tv":                    {of("Odysee", Video, `^/(?:\$|%24)/embed/([^?]+)`, "https://odysee.com/$1")},
	"rumble.com":                 {of("Rumble", Video, `^/embed/\w+`, "")},
	"embed.ted.com":              {of("TED", Video, `^(/talks/[\w/]+)`, "https://www.ted.com$1")},
	"archive.org":                {of("Internet Archive", Video, `^/embed/([\w.-]+)`, "https://archive.org/details/$1")},
	"media.ccc.de":               {of("media.ccc.de", Video, `^(/v/[\w.-]+?)/oembed`, "https://media.ccc.de$1")},
	"player.bilibili.com":        {of("Bilibili", Video, `^/player\.html\?(?:.*&)?bvid=(\w+)`, "https://www.bilibili.com/video/$1")},
	"facebook.com":               {of("Facebook", Video, `^/plugins/video\.php`, "")},
	"fast.wistia.net":            {of("Wistia", Video, `^/embed/`, "")},
	"players.brightcove.net":     {of("Brightcove", Video, `^/`, "")},
	"w.soundcloud.com":           {of("SoundCloud", Audio, `^/player`, "")},
	"open.spotify.com":           {of("Spotify", Audio, `^/embed(?:-podcast)?(/[\w/]+)`, "https://open.spotify.com$1")},
	"embed.spotify.com":          {of("Spotify", Audio, `^/`, "")},
	"embed.podcasts.apple.com":   {of("Apple Podcasts", Audio, `^(/[^?]+)`, "https://podcasts.apple.com$1")},
	"embed.music.apple.com":      {of("Apple Music", Audio, `^(/[^?]+)`, "https://music.apple.com$1")},
	"widget.deezer.com":          {of("Deezer", Audio, `^/widget/\w+(/\w+/\d+)`, "https://www.deezer.com$1")},
	"bandcamp.com":               {of("Bandcamp", Audio, `^/EmbeddedPlayer`, "")},
	"mixcloud.com":               {of("Mixcloud", Audio, `^/widget/`, "")},
	"player-widget.mixcloud.com": {of("Mixcloud", Audio, `^/`, "")},
	"music.yandex.ru":            {of("Yandex Music", Audio, `^/iframe/`, "")},
	"player.simplecast.com":      {of("Simplecast", Audio, `^/`, "")},
	"player.fireside.fm":         {of("Fireside", Audio, `^/`, "")},
	"html5-player.libsyn.com":    {of("Libsyn", Audio, `^/`, "")},
	"play.libsyn.com":            {of("Libsyn", Audio, `^/embed/`, "")},
	"share.transistor.fm":        {of("Transistor", Audio, `^/e/`, "")},
	"playlist.megaphone.fm":      {of("Megaphone", Audio, `^/`, "")},
	"player.megaphone.fm":        {of("Megaphone", Audio, `^/`, "")},
	"embed.acast.com":            {of("Acast", Audio, `^/`, "")},
	"buzzsprout.com":             {of("Buzzsprout", Audio, `iframe=true`, "")},
	"omny.fm":                    {of("Omny", Audio, `^(/shows/.+)/embed`, "https://omny.fm$1")},
	"player.podigee.io":          {of("Podigee", Audio, `^/`, "")},
	"podcasters.spotify.com":     {of("Spotify", Audio, `/embed/`, "")},
	"anchor.fm":                  {of("Spotify", Audio, `/embed/`, "")},
}

const dailymotionPicture = "https://www.dailymotion.com/thumbnail/video/$1"

var vk = []site{
	of("VK", Video, `^/video_ext\.php\?oid=(-?\d+)&id=(\d+)`, "https://vkvideo.ru/video${1}_$2"),
	of("VK", Video, `^/video_ext\.php`, ""),
}
