package discover

import (
	"net/url"
	"path"
	"slices"
	"strings"
)

// ofPlatform returns the feeds of a page on a known platform. generator is the generator that the page
// states.
func ofPlatform(address, generator string) []link {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	host := strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
	way := strings.Split(strings.Trim(u.Path, "/"), "/")
	root := u.Scheme + "://" + u.Host
	switch {
	case host == "youtube.com" || host == "m.youtube.com":
		return youTube(u, way)
	case host == "github.com" && way[0] != "":
		return gitHub(way)
	case host == "reddit.com" || host == "old.reddit.com" || host == "new.reddit.com":
		if len(way) >= 2 && (way[0] == "r" || way[0] == "user" || way[0] == "u") {
			return singleLink(root+"/"+way[0]+"/"+way[1]+"/.rss", "Posts of "+way[0]+"/"+way[1])
		}
	case host == "medium.com" && way[0] != "":
		return singleLink("https://medium.com/feed/"+way[0], "")
	case strings.HasPrefix(way[0], "@") && len(way[0]) > 1: // a profile on Mastodon and similar software
		return singleLink(root+"/"+way[0]+".rss", "Posts of "+way[0])
	case strings.HasPrefix(strings.ToLower(generator), "wordpress"):
		return singleLink(root+"/feed/", "")
	}
	for _, p := range hosted {
		if strings.HasSuffix(host, p.suffix) {
			return singleLink(root+p.path, "")
		}
	}
	return nil
}

// hosted is the feed path of blogs hosted under their platform's domain.
var hosted = []struct{ suffix, path string }{
	{".wordpress.com", "/feed/"},
	{".medium.com", "/feed"},
	{".substack.com", "/feed"},
	{".ghost.io", "/rss/"},
	{".blogspot.com", "/feeds/posts/default"},
	{".tumblr.com", "/rss"},
	{".livejournal.com", "/data/rss"},
}

func singleLink(href, title string) []link { return []link{{href: href, title: title}} }

// youTube returns the feed of a channel, a user or a playlist.
func youTube(u *url.URL, way []string) []link {
	const videos = "https://www.youtube.com/feeds/videos.xml?"
	list := u.Query().Get("list")
	switch {
	case len(way) >= 2 && way[0] == "channel":
		return singleLink(videos+"channel_id="+url.QueryEscape(way[1]), "Videos of the channel")
	case len(way) >= 2 && way[0] == "user":
		return singleLink(videos+"user="+url.QueryEscape(way[1]), "Videos of "+way[1])
	case list != "":
		return singleLink(videos+"playlist_id="+url.QueryEscape(list), "Videos of the list")
	}
	return nil
}

// gitHub returns the feeds of a repository, or of an account.
func gitHub(way []string) []link {
	if len(way) == 1 {
		return singleLink("https://github.com/"+way[0]+".atom", "Activity of "+way[0])
	}
	name := way[0] + "/" + strings.TrimSuffix(way[1], ".git")
	return []link{
		{href: "https://github.com/" + name + "/releases.atom", title: "Releases of " + name},
		{href: "https://github.com/" + name + "/commits.atom", title: "Commits to " + name},
	}
}

// WellKnown returns the usual feed addresses for a page that names none, likeliest first: beside the page and
// at the root of its host. At most 12.
func WellKnown(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	root := u.Scheme + "://" + u.Host
	var list []string
	if u.Path != "" && u.Path != "/" {
		folder := strings.TrimSuffix(u.EscapedPath(), "/")
		if path.Ext(folder) != "" {
			folder = strings.TrimSuffix(path.Dir(folder), "/")
		}
		list = append(list, root+folder+"/feed", root+folder+"/index.xml", root+folder+"/rss.xml", root+folder+"/atom.xml")
	}
	for _, name := range []string{"/feed", "/index.xml", "/rss.xml", "/atom.xml", "/feed.xml", "/rss", "/feed.json", "/index.rdf"} {
		if !slices.Contains(list, root+name) {
			list = append(list, root+name)
		}
	}
	return list
}
