// Package near detects duplicate and near-duplicate items, in one pass and bounded memory.
//
// Compute a [Sketch] with [Settings.Sketch], fill a [Signature], and pass it to [Index.Place]: the [Match]
// names the original, the evidence and a score. [Exact] compares addresses and texts only. Bounds:
// [Settings.MaxItems] items within [Settings.Window]. The package does not depend on feeds, queues or
// storage.
//
// "Source 2" is the shingle algorithm with CRC-32 checksums and the Dice coefficient; "source 3" is method A,
// the word shingles, and method B, the word matrix.
package near

import (
	"net/url"
	"slices"
	"strings"
)

// URLKey returns a key that all addresses of one page share: host, path and the query parameters that select
// the page, without scheme, www and m, AMP, campaign parameters and fragment. It is for comparison, not for
// fetching. It is empty if rawurl is no http(s) address or points to a site's front page.
func URLKey(rawurl string) string {
	u, err := url.Parse(strings.TrimSpace(rawurl))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host, path := unwrapAMP(hostKey(u), u.EscapedPath())
	path = strings.TrimRight(pathKey(path), "/")
	query := queryKey(u.RawQuery)
	if path == "" && query == "" {
		return ""
	}
	if query != "" {
		query = "?" + query
	}
	return host + path + query
}

func hostKey(u *url.URL) string {
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	for _, prefix := range []string{"www.", "amp.", "m."} {
		if rest, ok := strings.CutPrefix(host, prefix); ok && strings.Contains(rest, ".") {
			host = rest
		}
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" && port != "80" && port != "443" {
		host += ":" + port
	}
	return host
}

// unwrapAMP returns the host and path of the page behind an AMP cache address.
func unwrapAMP(host, path string) (string, string) {
	var rest string
	switch {
	case strings.HasPrefix(host, "google.") && strings.HasPrefix(path, "/amp/"):
		rest = strings.TrimPrefix(path, "/amp/")
	case strings.HasSuffix(host, ".cdn.ampproject.org") || host == "cdn.ampproject.org":
		_, rest, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	default:
		return host, path
	}
	rest = strings.TrimPrefix(rest, "s/")
	page, err := url.Parse("http://" + rest)
	if err != nil || !strings.Contains(page.Host, ".") {
		return host, path
	}
	return hostKey(page), page.EscapedPath()
}

// pathKey returns the path in canonical form, without suffixes of AMP and index files.
func pathKey(path string) string {
	if decoded, err := url.PathUnescape(path); err == nil {
		path = (&url.URL{Path: decoded}).EscapedPath()
	}
	path = strings.TrimSuffix(path, "/")
	for _, suffix := range []string{"/amp", "/amp.html", "/index.html", "/index.htm", "/index.php"} {
		if rest, ok := strings.CutSuffix(path, suffix); ok {
			return rest
		}
	}
	if rest, ok := strings.CutSuffix(path, ".amp.html"); ok {
		return rest + ".html"
	}
	return strings.TrimSuffix(path, ".amp")
}

// queryKey returns the sorted query without parameters that only track the reader's origin.
func queryKey(raw string) string {
	if raw == "" {
		return ""
	}
	var keep []string
	for part := range strings.SplitSeq(raw, "&") {
		name, value, _ := strings.Cut(part, "=")
		if name == "" || isTracking(strings.ToLower(name), strings.ToLower(value)) {
			continue
		}
		keep = append(keep, part)
	}
	slices.Sort(keep)
	return strings.Join(slices.Compact(keep), "&")
}

func isTracking(name, value string) bool {
	if tracking[name] {
		return true
	}
	if name == "amp" || name == "outputtype" && value == "amp" {
		return true
	}
	for _, prefix := range trackingPrefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var trackingPrefixes = []string{
	"utm_", "at_", "mc_", "mtm_", "pk_", "piwik_", "matomo_", "hsa_", "oly_", "vero_", "guce_", "ga_", "wt_", "__twitter_",
}

// tracking lists parameters of mail, search and social services, and of feeds that count readers.
var tracking = set("fbclid gclid gclsrc dclid gbraid wbraid msclkid yclid ysclid twclid ttclid li_fat_id igshid igsh " +
	"_openstat _hsenc _hsmi hsctatracking mkt_tok trk trkcampaign s_kwcid ef_id epik rb_clickid " +
	"ref ref_src ref_url referrer referer source src cmp cmpid campaign_id ncid ocid ito smid smtyp sr_share share " +
	"spm scm xtor partner guccounter feature feed rss fromrss from_rss via cndid mbid sh soc_src soc_trk __s _ga _gl")

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, name := range strings.Fields(list) {
		m[name] = true
	}
	return m
}
