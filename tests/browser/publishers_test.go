package browser

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"
)

// A publishedFeeds is a set of publishers that share some subjects.
type publishedFeeds struct {
	*httptest.Server
	feeds   map[string][][2]string // titles and texts of items by feed, newest first
	stories int                    // minimum number of stories that they form
}

// publishers are the feeds of the usual newsroom: three report one subject, and two another.
var publishers = map[string][][2]string{
	"kernel-weekly": {
		{"PostgreSQL 19 released with faster logical replication", "The PostgreSQL project has released version 19 of its database. Logical replication is twice as fast, and sequences are replicated too, says the announcement of the release."},
		{"A tour of io_uring in the Linux kernel", "How submission and completion queues work, and why system calls got cheaper since then."},
		{"Btrfs gains a new allocator", "The file system spreads its chunks over devices of different sizes now."},
		{"Rust drivers in the mainline kernel, one year on", "Which drivers were rewritten in Rust, and what maintainers think of the borrow checker."},
		{"Scheduling on hybrid processors explained", "Performance cores and efficiency cores need other policies than symmetric ones."},
	},
	"data-post": {
		{"PostgreSQL 19 is out: logical replication twice as fast", "Version 19 of the PostgreSQL database has been released today. Its logical replication is twice as fast and copies sequences too, the project says in its announcement."},
		{"Choosing an index for time series", "B-trees, BRIN and hash indexes compared on a billion rows of sensor data."},
		{"Vacuum, bloat and you", "Why tables of databases grow, and how to keep autovacuum ahead of it."},
		{"Ten years of column stores", "From research prototypes to every warehouse: a look back."},
	},
	"cloud-herald": {
		{"PostgreSQL 19 released, logical replication much faster", "The database project PostgreSQL released version 19. Logical replication is twice as fast as before and replicates sequences too, according to the announcement."},
		{"Kubernetes drops support for old container runtimes", "Clusters must move to a current runtime before the next upgrade of Kubernetes."},
		{"What a region outage costs", "A post-mortem of eleven hours without object storage."},
		{"Serverless functions with warm starts", "Snapshots of virtual machines bring cold starts down to milliseconds."},
	},
	"security-desk": {
		{"Critical hole in OpenSSL lets attackers read memory", "A flaw in OpenSSL allows attackers to read memory of servers. Administrators should update OpenSSL at once, the maintainers warn."},
		{"Passkeys in the enterprise", "What it takes to roll out passkeys to ten thousand employees."},
		{"Anatomy of a supply chain attack", "How a tiny package came to steal tokens from build servers."},
		{"Fuzzing parsers for fun", "Feeds, fonts and file names: a hundred crashes in a weekend."},
	},
	"admin-times": {
		{"Critical OpenSSL hole: attackers can read memory", "The maintainers of OpenSSL warn of a flaw by which attackers read the memory of servers. Administrators should update OpenSSL at once."},
		{"Backups that restore", "A backup is worth what its last restore was worth."},
		{"Monitoring a homelab with Prometheus", "Exporters, alerts and dashboards for a closet of machines."},
	},
	"vesti-it": {
		{"Вышел PostgreSQL 19 с быстрой логической репликацией", "Сообщество выпустило новую версию базы данных. Логическая репликация стала вдвое быстрее."},
		{"Как выбрать базу данных для небольшого проекта", "Сравниваем встроенные и серверные базы данных по скорости и удобству."},
		{"Ёлка из старых процессоров", "Читатель собрал новогоднюю ёлку из плат и светодиодов."},
		{"Утечка токенов из систем сборки", "Исследователи рассказали, как вредоносный пакет крал токены разработчиков."},
	},
}

// enclosures are the files of items, by title.
var enclosures = map[string]string{"Backups that restore": `<enclosure url="https://admin-times.example/1.mp3" type="audio/mpeg" length="1000"/>`}

// articles are the texts of the pages of items that have one, by title.
var articles = map[string]string{"A fair scheduler": strings.Repeat("<p>"+strings.Repeat("The kernel scheduler now divides the time of the processor fairly between all tasks, as the maintainers measured. ", 6)+"</p>", 5)}

// broken is a missing feed.
const broken = "closed-journal"

// servePublishers serves the feeds.
func servePublishers(feeds map[string][][2]string) *publishedFeeds {
	began := time.Now()
	n := &publishedFeeds{feeds: feeds, stories: 2}
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, is := strings.CutPrefix(r.URL.Path, "/pages/"); is {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprintf(w, `<html><head><title>%s</title></head><body><nav>Menu</nav><article><h1>%[1]s</h1>%s</article></body></html>`, html.EscapeString(name), articles[name])
			return
		}
		name := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/"), ".xml")
		items, ok := feeds[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/rss+xml; charset=utf-8")
		fmt.Fprintf(w, `<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>%s</title><link>https://%s.example/</link><description>News</description>`, title(name), name)
		for i, item := range items {
			link := fmt.Sprintf("https://%s.example/%d", name, i)
			if articles[item[0]] != "" {
				link = "http://" + r.Host + "/pages/" + url.PathEscape(item[0])
			}
			at := began.Add(-time.Duration(i*7+len(name)) * time.Hour).UTC().Format(time.RFC1123Z)
			fmt.Fprintf(w, `<item><title>%s</title><link>%s</link><guid isPermaLink="false">%s-%d</guid><pubDate>%s</pubDate><description>%s</description>%s</item>`,
				html.EscapeString(item[0]), link, name, i, at, html.EscapeString("<p>"+item[1]+"</p>"), enclosures[item[0]])
		}
		fmt.Fprint(w, `</channel></rss>`)
	}))
	return n
}

// title returns a feed's title: "data-post" is "Data Post".
func title(name string) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// addresses returns the URLs of all feeds, including the broken one.
func (n *publishedFeeds) addresses() []string {
	list := []string{n.URL + "/" + broken + ".xml"}
	for name := range n.feeds {
		list = append(list, n.URL+"/"+name+".xml")
	}
	return list
}

// items returns the number of items.
func (n *publishedFeeds) items() int {
	sum := 0
	for _, items := range n.feeds {
		sum += len(items)
	}
	return sum
}
