package feed

import (
	"encoding/json"
	"errors"
	"html"
	"slices"
	"strings"

	"github.com/mmcdole/gofeed"
	gjson "github.com/mmcdole/gofeed/json"
)

// parseJSON reads JSON Feed. A field of the wrong type costs that field only.
func parseJSON(text []byte) (*gofeed.Feed, Hints, error) {
	mended, err := scanJSON(text)
	if err != nil {
		return nil, Hints{}, err
	}
	var raw gjson.Feed
	var mistyped *json.UnmarshalTypeError
	err = json.Unmarshal(mended, &raw)
	switch {
	case errors.As(err, &mistyped) && raw.Items == nil:
		return nil, Hints{}, failed(OtherJSON, "this is JSON but not a feed")
	case errors.As(err, &mistyped):
	case err != nil:
		return nil, Hints{}, failed(Broken, "the document is broken: %w", err)
	case raw.Items == nil && !strings.Contains(raw.Version, "jsonfeed.org"):
		return nil, Hints{}, failed(OtherJSON, "this is JSON but not a feed")
	}
	dropNulls(&raw)
	shortenJSON(&raw)
	f, err := new(gofeed.DefaultJSONTranslator).Translate(&raw)
	if err != nil {
		return nil, Hints{}, failed(Broken, "the document is broken: %w", err)
	}
	for i, item := range f.Items {
		if raw.Items[i].ContentHTML == "" {
			item.Content = plain(raw.Items[i].ContentText)
		}
		if item.Content == "" {
			item.Description = plain(item.Description)
		}
		if item.Link == "" {
			item.Link = raw.Items[i].ExternalURL
		}
		if len(item.Authors) == 0 {
			item.Authors = f.Authors // JSON Feed 1.1, "authors"
		}
	}
	return f, jsonHints(&raw, mended), nil
}

// dropNulls drops what gofeed would follow and panic: items and authors that
// are null. Its issues 355 and 360 are about them.
func dropNulls(f *gjson.Feed) {
	noAuthor := func(a *gjson.Author) bool { return a == nil }
	f.Items = slices.DeleteFunc(f.Items, func(i *gjson.Item) bool { return i == nil })
	f.Authors = slices.DeleteFunc(f.Authors, noAuthor)
	for _, item := range f.Items {
		item.Authors = slices.DeleteFunc(item.Authors, noAuthor)
	}
}

// shortenJSON empties what is as long as no date or name is, like
// [scanner.shorten].
func shortenJSON(f *gjson.Feed) {
	shorten := func(s *string) {
		if len(*s) > maxSmall {
			*s = ""
		}
	}
	authors := f.Authors
	if f.Author != nil {
		authors = append(authors, f.Author)
	}
	for _, item := range f.Items {
		shorten(&item.DatePublished)
		shorten(&item.DateModified)
		authors = append(authors, item.Authors...)
		if item.Author != nil {
			authors = append(authors, item.Author)
		}
	}
	for _, a := range authors {
		shorten(&a.Name)
	}
}

// plain returns plain text as HTML.
func plain(text string) string {
	return strings.ReplaceAll(html.EscapeString(strings.TrimSpace(text)), "\n", "<br>\n")
}
