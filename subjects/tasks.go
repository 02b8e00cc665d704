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

// MaxMessage is the size of the largest message the mesh carries, in bytes, with
// at most maxHeader for its header.
const (
	MaxMessage = 8 << 20
	maxHeader  = 4 << 10
)

// ErrTooLarge says that a task does not fit into a message.
var ErrTooLarge = errors.New("larger than the mesh carries")

// ErrNewer says that a task was written by a newer agent than this one.
var ErrNewer = errors.New("written by a newer agent")

// The tiers of feeds, most often read first. They are the lanes of [Crawls].
const (
	Hot  = "hot"
	Warm = "warm"
	Cold = "cold"
)

// Tiers lists them, most often read first.
var Tiers = []string{Hot, Warm, Cold}

// Languages lists the lanes of [Clusters]: the languages that have a cluster
// actor of their own. All others share [OtherLanguages].
var Languages = []string{"en", "ru", "de", "fr", "es", "uk", OtherLanguages}

// OtherLanguages is the lane of documents in any other language, or in none
// that we know.
const OtherLanguages = "other"

// MaxFeeds is the most feeds that a crawl task has.
const MaxFeeds = 100

// A Target is a feed to fetch and the validators of what is known of it.
type Target struct {
	FeedID       string    `json:"feed_id"`
	URL          string    `json:"url"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	BodyHash     string    `json:"body_hash,omitempty"`
	Due          time.Time `json:"due"`

	FullText bool             `json:"full_text,omitempty"` // its items are to have the text of the pages they link to
	Request  *storage.Request `json:"request,omitempty"`   // how it wants to be asked; nil: as all others
	Ways     []Way            `json:"ways,omitempty"`      // to be tried in this order; none: the direct way only
}

// A Way is a proxy by which a host can be reached; the zero Way is the direct one.
type Way struct {
	ID  string `json:"id,omitempty"`
	URL string `json:"url,omitempty"`
}

// Crawl is the task to fetch feeds that are due, or to probe proxies.
type Crawl struct {
	Tier  string    `json:"tier"`
	Feeds []Target  `json:"feeds"`          // at most MaxFeeds
	Ways  []Way     `json:"ways,omitempty"` // to be tried for themselves, without a feed; older agents don't
	Asked time.Time `json:"asked,omitzero"` // since when they are to be tried
}

// ID returns a hash of which feeds are due since when, and which proxies.
func (t Crawl) ID() string {
	h := sha256.New()
	for _, f := range t.Feeds {
		fmt.Fprintf(h, "%s %d\n", f.FeedID, f.Due.UnixMicro())
	}
	for _, way := range t.Ways {
		fmt.Fprintf(h, "probe %s %d\n", way.ID, t.Asked.UnixMicro())
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// A Receipt says which document of which feed a task comes from. When all of
// the document is stored, its validators are remembered by the schedule.
type Receipt struct {
	FeedID       string    `json:"feed_id"`
	Crawl        string    `json:"crawl"` // ID of the crawl task
	Fetched      time.Time `json:"fetched"`
	Status       int       `json:"status"`
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
	BodyHash     string    `json:"body_hash"`

	Took   time.Duration `json:"took,omitempty"`    // from the request to the end of the answer
	Size   int64         `json:"size,omitempty"`    // bytes of the document
	MaxAge int           `json:"max_age,omitempty"` // seconds for which the answer says to keep it
	Moved  string        `json:"moved,omitempty"`   // where permanent redirects led, if only such did
	Way    string        `json:"way,omitempty"`     // ID of the proxy it came by

	FullText bool `json:"full_text,omitempty"` // its items are to have the text of the pages they link to
}

// ID names the document: one fetch of one feed.
func (r Receipt) ID() string { return r.FeedID + "." + r.Crawl }

// pushPrefix begins the Crawl of a document that no crawl task fetched.
const pushPrefix = "push/"

// PushReceipt returns the receipt of a document that a feed's hub pushed. The
// schedule remembers no validators by it, and waits for none.
func PushReceipt(feedID, bodyHash string, size int64, at time.Time) Receipt {
	return Receipt{FeedID: feedID, Crawl: pushPrefix + bodyHash, Fetched: at, Status: http.StatusOK, BodyHash: bodyHash, Size: size}
}

// Pushed reports whether the document was pushed, not fetched. Such a one may
// have the new entries only.
func (r Receipt) Pushed() bool { return strings.HasPrefix(r.Crawl, pushPrefix) }

// Parse is the task to read a document as it came.
type Parse struct {
	Receipt
	URL         string `json:"url"` // it came from, after redirects
	ContentType string `json:"content_type,omitempty"`
	Hub         string `json:"hub,omitempty"`  // that its HTTP header names; goes before the document's own
	Self        string `json:"self,omitempty"` // likewise
	Body        []byte `json:"body"`           // gzip
}

// A Document is a parsed document: what the feed says of itself.
type Document struct {
	Receipt
	URL      string  `json:"url"`
	Title    string  `json:"title,omitempty"`
	Site     string  `json:"site,omitempty"`
	Language string  `json:"language,omitempty"`
	Rate     float64 `json:"rate,omitempty"`  // items a day by the dates of all its entries; 0 if unknown
	Dates    []int64 `json:"dates,omitempty"` // of its newest entries, Unix seconds, at most MaxDates
	Hints    *Hints  `json:"hints,omitempty"`

	Malformed string `json:"malformed,omitempty"` // what of it was mended, in words

	// What the store has of its feed.

	FeedTags       []string           `json:"feed_tags,omitempty"`
	FeedCategories map[string]float64 `json:"feed_categories,omitempty"` // what its last items were about, see [storage.CountCategories]
	SpamThreshold  float64            `json:"spam_threshold,omitempty"`  // 0: the deployment's
}

// MaxDates is the most dates of entries that a document tells of.
const MaxDates = 50

// An Entry is what the publisher wrote, as parsed, untrusted. See package
// agent/feed, whose entries convert to this type.
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

// An Enclosure is a file that belongs to an entry. It is the name of a type
// without one, so that entries of package feed convert to entries here.
type Enclosure = struct {
	URL    string `json:"url"`
	Type   string `json:"type,omitempty"`
	Length int64  `json:"length,omitempty"` // in bytes; 0 if unknown
}

// Page is the task to look for the whole of a document's new entries on the pages
// that they link to, before they become items.
type Page struct {
	Document
	Entries []Entry `json:"entries"`
}

// Prepare is the task to make items of a document's new entries.
type Prepare struct {
	Document
	Entries []Entry `json:"entries"`
}

// Classify is the task to label a document's new items.
type Classify struct {
	Document
	Items []storage.Item `json:"drafts"` // as agents call them that sent the items' stems along
}

// Cluster is the task to find the duplicates, event and story of a document's
// new items. They travel together, in the lane of most of them.
type Cluster struct {
	Document
	Lane  string         `json:"lane"`            // one of Languages
	Again int64          `json:"again,omitempty"` // number of the fence under which they were refused
	Items []storage.Item `json:"items"`
	Hand  *Hand          `json:"hand,omitempty"` // what a person decided; then there are no document and no items
}

// ID names the document, and the fence it was refused under if it was; or what a
// person decided.
func (t Cluster) ID() string {
	switch {
	case t.Hand != nil:
		return "hand." + t.Hand.ID
	case t.Again == 0:
		return t.Document.ID()
	}
	return fmt.Sprintf("%s.%d", t.Document.ID(), t.Again)
}

// Store is the task to store a document's new items.
type Store struct {
	Document
	Fence storage.Fence  `json:"fence"`
	Items []storage.Item `json:"items"`
}

// ID names the document and the fence: what a deposed cluster actor published
// must not hide what its successor publishes.
func (t Store) ID() string { return fmt.Sprintf("%s.%d", t.Document.ID(), t.Fence.Number) }

// Index is the task to make the index agree with the store about some items:
// those that are stored become findable as they are now, all others vanish.
type Index struct {
	Why   string    `json:"why"` // what happened to them, as a name: part of the ID
	IDs   []string  `json:"ids"`
	Since time.Time `json:"since,omitzero"` // when they were fetched; zero if they were not just now
}

// ID returns a hash of the items and what happened to them.
func (t Index) ID() string {
	sum := sha256.Sum256([]byte(t.Why + "\n" + strings.Join(t.IDs, "\n")))
	return hex.EncodeToString(sum[:12])
}

// indexSize is how many items one task to index has at most.
const indexSize = 1000

// PublishIndex has the index agree with the store about so many items, in as many
// tasks as it takes.
func PublishIndex(ctx context.Context, to Publisher, why string, ids []string) error {
	for chunk := range slices.Chunk(ids, indexSize) {
		if err := Publish(ctx, to, Indexes, Index{Why: why, IDs: chunk}); err != nil {
			return err
		}
	}
	return nil
}

// An Outcome says how a poll ended or what else became of a feed.
type Outcome string

// The outcomes of polls, and what the api tells the schedule.
const (
	Fetched   Outcome = "fetched"     // a new document, which is on its way; another word of it follows
	Stored    Outcome = "stored"      // new or changed items are in the store
	Nothing   Outcome = "nothing new" // a new document with known entries only
	Unchanged Outcome = "unchanged"   // 304, or the same bytes
	Failed    Outcome = "failed"      // see Error
	Gone      Outcome = "gone"        // 410: the feed asks never to be polled again
	Added     Outcome = "added"       // the feed is new in the store
	Removed   Outcome = "removed"     // the feed is no longer in the store
	Refresh   Outcome = "refresh"     // somebody wants it polled now
	Changed   Outcome = "changed"     // somebody changed what the store has of it, or, of no feed, the proxies
	Probed    Outcome = "probed"      // of no feed: Way was tried for itself, see Dead
)

// An Observation is what happened to one feed, or to one proxy.
type Observation struct {
	Receipt
	Outcome    Outcome       `json:"outcome"`
	URL        string        `json:"url,omitempty"`   // of an added feed
	Items      int           `json:"items,omitempty"` // new ones stored
	Rate       float64       `json:"rate,omitempty"`  // as in Document
	Dates      []int64       `json:"dates,omitempty"` // as in Document
	Hints      *Hints        `json:"hints,omitempty"` // as in Document
	Malformed  string        `json:"malformed,omitempty"`
	Error      string        `json:"error,omitempty"`  // in words
	Class      string        `json:"class,omitempty"`  // kind of error, one of a short list
	Weight     float64       `json:"weight,omitempty"` // how much this failure counts, up to 1
	RetryAfter time.Duration `json:"retry_after,omitempty"`
	Dead       []string      `json:"dead,omitempty"` // IDs of proxies that were tried and did not work
}

// Observe is the task to take observations into account.
type Observe struct {
	From         string        `json:"from"` // ID of the task they come from, with its role
	Observations []Observation `json:"observations"`
}

// ID returns where they come from.
func (t Observe) ID() string { return t.From }
