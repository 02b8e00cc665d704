package subjects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"feedmesh/storage"
)

// MaxMessage is the maximum size of a message of the mesh in bytes, including at most maxHeader for its
// headers.
const (
	MaxMessage = 8 << 20
	maxHeader  = 4 << 10
)

// ErrTooLarge is returned for a task that exceeds the maximum size of a message.
var ErrTooLarge = errors.New("larger than the maximum message size")

// ErrNewer is returned for a task whose schema version is newer than [Schema].
var ErrNewer = errors.New("written by a newer agent")

// The tiers of feeds by polling rate, fastest first. Each is a partition of [CrawlQueue], and so is each with a region.
const (
	Hot  = "hot"
	Warm = "warm"
	Cold = "cold"
)

// Tiers lists the tiers, fastest first.
var Tiers = []string{Hot, Warm, Cold}

// Languages lists the partitions of [ClusterQueue]: the languages with a cluster actor of their own, and
// [OtherLanguages].
var Languages = []string{"en", "ru", "de", "fr", "es", "uk", OtherLanguages}

// OtherLanguages is the partition of documents in all other languages or in an unidentified language.
const OtherLanguages = "other"

// MaxFeeds is the maximum number of feeds of a crawl task.
const MaxFeeds = 100

// Target is a feed to fetch, with the validators of its last stored document.
type Target struct {
	FeedID       string    `json:"feed_id"`
	URL          string    `json:"url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	BodyHash     string    `json:"body_hash,omitempty"`
	Due          time.Time `json:"due"`

	FullText bool             `json:"full_text,omitempty"` // extract the text of the pages that its items link to
	Request  *storage.Request `json:"request,omitempty"`   // request options of the feed; nil: the defaults
	Routes   []Route          `json:"ways,omitempty"`      // routes to try in this order; none: direct only
}

// Route is a proxy for requests of a host; the zero Route is the direct connection.
type Route struct {
	ID  string `json:"id,omitempty"`
	URL string `json:"url,omitempty"`
}

// Crawl is the task to fetch due feeds or to probe proxies.
type Crawl struct {
	Tier      string    `json:"tier"`
	Region    string    `json:"region,omitempty"`    // of the crawlers that it is for; empty: those without a region
	Partition int       `json:"partition,omitempty"` // of the schedule: see [Receipt]
	Feeds     []Target  `json:"feeds"`               // at most MaxFeeds
	Probes    []Route   `json:"ways,omitempty"`      // proxies to probe without a feed; not in tasks of older agents
	ProbesDue time.Time `json:"asked,omitzero"`      // due time of the probes
}

// CrawlPartition returns the partition of [CrawlQueue] with the tasks of a tier for the crawlers of a region, or for
// those without one if region is empty.
func CrawlPartition(tier, region string) string {
	if region == "" {
		return tier
	}
	return tier + "." + region
}

// RegionOfCrawls returns the region of the tasks in a partition of [CrawlQueue], empty for a tier alone.
func RegionOfCrawls(partition string) string {
	_, region, _ := strings.Cut(partition, ".")
	return region
}

// ID returns a hash of the feeds and probes with their due times.
func (t Crawl) ID() string {
	h := sha256.New()
	for _, f := range t.Feeds {
		fmt.Fprintf(h, "%s %d\n", f.FeedID, f.Due.UnixMicro())
	}
	for _, route := range t.Probes {
		fmt.Fprintf(h, "probe %s %d\n", route.ID, t.ProbesDue.UnixMicro())
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// Receipt identifies the feed and the fetched document that a task belongs to. When the whole document is
// stored, the schedule stores its validators.
type Receipt struct {
	FeedID       string    `json:"feed_id"`
	Partition    int       `json:"partition,omitempty"` // of the schedule that has the feed; 0 also if it is not known
	Crawl        string    `json:"crawl"`               // ID of the crawl task
	Fetched      time.Time `json:"fetched"`
	Status       int       `json:"status"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	BodyHash     string    `json:"body_hash"`

	Duration time.Duration `json:"took,omitempty"`    // from the request to the end of the response
	Size     int64         `json:"size,omitempty"`    // bytes of the document
	MaxAge   int           `json:"max_age,omitempty"` // Cache-Control max-age of the response, in seconds
	Moved    string        `json:"moved,omitempty"`   // target of the redirects, if all were permanent
	ProxyID  string        `json:"way,omitempty"`     // proxy that the response came through

	FullText bool `json:"full_text,omitempty"` // extract the text of the pages that its items link to
}

// ID identifies the document: one fetch of one feed.
func (r Receipt) ID() string { return r.FeedID + "." + r.Crawl }

// pushPrefix begins the Crawl field of a document that no crawl task fetched.
const pushPrefix = "push/"

// PushReceipt returns the receipt of a document that a feed's hub pushed. The schedule stores no validators
// from it and does not wait for it. The partition is that of the feed.
func PushReceipt(feedID string, partition int, bodyHash string, size int64, at time.Time) Receipt {
	return Receipt{FeedID: feedID, Partition: partition, Crawl: pushPrefix + bodyHash, Fetched: at, Status: http.StatusOK, BodyHash: bodyHash, Size: size}
}

// Pushed reports whether the document was pushed instead of fetched. A pushed document may contain new
// entries only.
func (r Receipt) Pushed() bool { return strings.HasPrefix(r.Crawl, pushPrefix) }

// Parse is the task to parse a document as fetched.
type Parse struct {
	Receipt
	URL         string `json:"url"` // final address, after redirects
	ContentType string `json:"content_type,omitempty"`
	Hub         string `json:"hub,omitempty"`   // from the HTTP header; takes precedence over the document's own
	Self        string `json:"self,omitempty"`  // likewise
	Known       bool   `json:"known,omitempty"` // an earlier document of the feed was parsed
	Route       Route  `json:"route,omitzero"`  // for the pages of its entries on its host, as in [Target]; zero: direct
	Body        []byte `json:"body"`            // gzip
}

// BodySize returns the size of the document in the task, decompressed, in bytes.
func (t Parse) BodySize() int { return max(int(t.Size), len(t.Body)) }

// Document is the metadata of a parsed document.
type Document struct {
	Receipt
	URL      string  `json:"url"`
	Title    string  `json:"title,omitempty"`
	Site     string  `json:"site,omitempty"`
	Language string  `json:"language,omitempty"`
	Rate     float64 `json:"rate,omitempty"`  // items a day, from the dates of all entries; 0 if not known
	Dates    []int64 `json:"dates,omitempty"` // dates of its newest entries, Unix seconds, at most MaxDates
	Hints    *Hints  `json:"hints,omitempty"`

	Malformed string `json:"malformed,omitempty"` // entries left out and repaired errors, as text

	Undated time.Time `json:"undated,omitzero"` // publication date of entries without one; zero: the time of the fetch

	// From the store's record of the feed.

	FeedTags       []string           `json:"feed_tags,omitempty"`
	FeedCategories map[string]float64 `json:"feed_categories,omitempty"` // categories of its recent items, see [storage.CountCategories]
	SpamThreshold  float64            `json:"spam_threshold,omitempty"`  // 0: the default of the deployment
}

// MaxDates is the maximum number of dates of a document.
const MaxDates = 50

// Entry is a publisher's entry as parsed. Its contents are untrusted. Entries of package feed convert
// to this type.
type Entry struct {
	Key        string      `json:"key"`
	Hash       string      `json:"hash"`
	GUID       string      `json:"guid,omitempty"`
	Link       string      `json:"link,omitempty"`
	Title      string      `json:"title,omitempty"`
	HTML       string      `json:"html,omitempty"`
	Summary    string      `json:"summary,omitempty"`
	Author     string      `json:"author,omitempty"`
	Published  time.Time   `json:"published,omitzero"`
	Updated    time.Time   `json:"updated,omitzero"`
	Dated      string      `json:"dated,omitempty"`
	Image      string      `json:"image,omitempty"`
	Enclosures []Enclosure `json:"enclosures,omitempty"`
	Comments   string      `json:"comments,omitempty"`
	Source     string      `json:"source,omitempty"`
	Language   string      `json:"language,omitempty"`
	Tags       []string    `json:"tags,omitempty"`
}

// Enclosure is a file attached to an entry. It is an alias of an unnamed type, so that entries of package
// feed convert to entries of this package.
type Enclosure = struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"` // in bytes; 0 if unknown
}

// Page is the task to extract the full text of a document's new entries from the pages that they link to,
// before the entries become items.
type Page struct {
	Document
	Entries []Entry `json:"entries"`
	Route   Route   `json:"route,omitzero"` // see [Parse]
}

// Prepare is the task to convert a document's new entries to items.
type Prepare struct {
	Document
	Entries []Entry `json:"entries"`
}

// Classify is the task to label a document's new items.
type Classify struct {
	Document
	Items []storage.Item `json:"drafts"` // named by older agents, which also sent the stems of the items
}

// Cluster is the task to find duplicates, event and story of a document's new items. All items of a document
// share the partition of the majority.
type Cluster struct {
	Document
	Partition     string         `json:"lane"`            // one of Languages
	RejectedFence int64          `json:"again,omitempty"` // number of the fence under which the store rejected them
	Items         []storage.Item `json:"items"`
	Override      *Override      `json:"hand,omitempty"` // a manual edit; document and items are empty then
}

// ID identifies the document and the fence of its rejection, if any; or the manual edit.
func (t Cluster) ID() string {
	switch {
	case t.Override != nil:
		return "hand." + t.Override.ID
	case t.RejectedFence == 0:
		return t.Document.ID()
	}
	return fmt.Sprintf("%s.%d", t.Document.ID(), t.RejectedFence)
}

// Store is the task to store a document's new items.
type Store struct {
	Document
	Fence storage.Fence  `json:"fence"`
	Items []storage.Item `json:"items"`
}

// ID identifies the document and the fence, so that a task of a deposed cluster actor does not deduplicate
// its successor's.
func (t Store) ID() string { return fmt.Sprintf("%s.%d", t.Document.ID(), t.Fence.Number) }

// BodySize returns the approximate size of the items in the task, in bytes.
func (t Store) BodySize() (size int) {
	for _, item := range t.Items {
		size += len(item.HTML) + 1024
	}
	return size
}

// Index is the task to bring the index in agreement with the store for some items: stored items are indexed
// in their current version, all others are removed from the index.
type Index struct {
	Reason  string    `json:"why"` // a name; part of the ID
	IDs     []string  `json:"ids"`
	Fetched time.Time `json:"since,omitzero"` // fetch time of new items; zero for others

	// Story: only the number of sources of the items' story changed.
	Story bool `json:"story,omitempty"`
}

// BodySize returns the size that the items in the task have at least when they are indexed, in bytes.
func (t Index) BodySize() int { return len(t.IDs) << 11 }

// ID returns a hash of the items and the reason.
func (t Index) ID() string {
	sum := sha256.Sum256([]byte(t.Reason + "\n" + strings.Join(t.IDs, "\n")))
	return hex.EncodeToString(sum[:12])
}

// View is the task to find the views of some items: those that are not stored leave all views.
type View struct {
	Index
	Tags []string `json:"tags,omitempty"` // feeds got or lost these tags: views that read them are filled in again
	Past bool     `json:"past,omitempty"` // notifications skip items that enter a view by this task
}

// indexSize is the maximum number of items of an index task, and of a view task.
const indexSize = 1000

// PublishChanged publishes index and view tasks for items that were changed or deleted, in batches of at most indexSize.
// past is that of [View].
func PublishChanged(ctx context.Context, to Publisher, reason string, ids []string, past bool) error {
	for chunk := range slices.Chunk(ids, indexSize) {
		index := Index{Reason: reason, IDs: chunk}
		if err := to.Publish(ctx, IndexQueue.Message(index), ViewQueue.Message(View{Index: index, Past: past})); err != nil {
			return err
		}
	}
	return nil
}

// PublishStory publishes index tasks for the items of a story whose number of sources changed, in batches of at most
// indexSize.
func PublishStory(ctx context.Context, to Publisher, sources int, ids []string) error {
	for chunk := range slices.Chunk(ids, indexSize) {
		if err := Publish(ctx, to, IndexQueue, Index{Reason: fmt.Sprintf("story of %d sources", sources), IDs: chunk, Story: true}); err != nil {
			return err
		}
	}
	return nil
}

// Outcome is the result of a poll or another change of a feed.
type Outcome string

// The outcomes of polls, and the changes that the API reports to the schedule.
const (
	Fetched   Outcome = "fetched"     // a new document is in the pipeline; another observation follows
	Stored    Outcome = "stored"      // new or changed items are in the store
	Nothing   Outcome = "nothing new" // a new document without new entries
	Unchanged Outcome = "unchanged"   // 304, or the same bytes
	Failed    Outcome = "failed"      // see Error
	Gone      Outcome = "gone"        // 410: the host requests no further polls
	Added     Outcome = "added"       // the feed is new in the store
	Removed   Outcome = "removed"     // the feed is no longer in the store
	Refresh   Outcome = "refresh"     // a user requested a poll now
	Move      Outcome = "move"        // a user requested the move of the feed to URL
	Changed   Outcome = "changed"     // a user changed the feed in the store or, without a feed, the proxies
	Probed    Outcome = "probed"      // without a feed: the proxy ProxyID was probed, see FailedProxies
)

// Observation is an event of one feed or one proxy.
type Observation struct {
	Receipt
	Outcome       Outcome       `json:"outcome"`
	URL           string        `json:"url,omitempty"`    // of an added feed, or the new one of a moved feed
	Items         int           `json:"items,omitempty"`  // number of new items stored
	StoreWrites   int64         `json:"writes,omitempty"` // of a stored feed: Writes of [storage.Feed]
	Rate          float64       `json:"rate,omitempty"`   // as in Document
	Dates         []int64       `json:"dates,omitempty"`  // as in Document
	Hints         *Hints        `json:"hints,omitempty"`  // as in Document
	Malformed     string        `json:"malformed,omitempty"`
	Error         string        `json:"error,omitempty"`       // as text
	Class         string        `json:"class,omitempty"`       // error class, from a fixed list
	OtherRoute    bool          `json:"other_route,omitempty"` // another route may reach the host
	Weight        float64       `json:"weight,omitempty"`      // weight of this failure, up to 1
	RetryAfter    time.Duration `json:"retry_after,omitempty"`
	FailedProxies []string      `json:"dead,omitempty"` // IDs of the proxies that failed
}

// Observe is the task to apply observations to a partition of the schedule, that of the first. Partition 0 passes observations
// of feeds that it does not have on to the others.
type Observe struct {
	Source       string        `json:"from"` // ID of the originating task, with its role
	Observations []Observation `json:"observations"`
}

// ID returns the source.
func (t Observe) ID() string { return t.Source }

func (t Observe) partition() int {
	if len(t.Observations) == 0 {
		return 0
	}
	return t.Observations[0].Partition
}

// Hints are a document's statements about its polling interval and its address.
type Hints struct {
	TTL       int    `json:"ttl,omitempty"`        // minutes
	Period    int    `json:"period,omitempty"`     // minutes
	SkipHours uint32 `json:"skip_hours,omitempty"` // bit h for hour h, UTC
	SkipDays  uint8  `json:"skip_days,omitempty"`  // bit d for time.Weekday d, UTC
	Entries   int    `json:"window,omitempty"`     // number of entries
	Zone      *int   `json:"zone,omitempty"`       // offset of the dates, in minutes east of UTC; nil: not known
	Hub       string `json:"hub,omitempty"`        // WebSub hub
	Self      string `json:"self,omitempty"`       // address that the document states as its own
}
