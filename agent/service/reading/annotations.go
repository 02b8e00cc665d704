package reading

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"feedmesh/agent/access"
	"feedmesh/agent/wire"
	"feedmesh/storage"
)

// Limits of annotations.
const (
	MaxLabel      = 64      // characters of a label
	MaxItemLabels = 20      // labels of an item
	MaxNote       = 4 << 10 // bytes of a note

	maxLabels    = 100    // labels of a client
	maxAnnotated = 10_000 // items of a client with annotations, some 100 bytes each, which lists of labels read
)

// A LimitError reports labels or a note that exceed a limit. Its text is for the user.
type LimitError struct{ Reason string }

func (e *LimitError) Error() string { return e.Reason }

// CheckLabel returns a [*LimitError] if a label is no label.
func CheckLabel(label string) error {
	if label == "" || label != strings.TrimSpace(label) || utf8.RuneCountInString(label) > MaxLabel || strings.ContainsFunc(label, func(r rune) bool { return r == ',' || unicode.IsControl(r) || r == utf8.RuneError }) {
		return &LimitError{fmt.Sprintf("a label has up to %d characters, without commas and line breaks", MaxLabel)}
	}
	return nil
}

// Annotation returns the client's labels and note of an item, or [storage.ErrNotFound] if there is no such item.
func (l *Lists) Annotation(ctx context.Context, in wire.ByID) (wire.Annotation, error) {
	client := access.From(ctx).ID
	stored, err := l.store.MarksOf(ctx, client, in.ID)
	if err != nil {
		return wire.Annotation{}, err
	}
	if len(stored) == 0 {
		return wire.Annotation{}, fmt.Errorf("item %s: %w", in.ID, storage.ErrNotFound)
	}
	out := wire.Annotation{Labels: []string{}}
	a, err := storage.Annotations(l.store).Read(ctx, client, in.ID)
	if ignoreNotFound(err) != nil {
		return out, err
	}
	out.Labels, out.Note = append(out.Labels, a.Labels...), a.Note
	return out, nil
}

// Annotate changes the client's labels or note of an item. The error may be a [*LimitError], or [storage.ErrNotFound].
func (l *Lists) Annotate(ctx context.Context, in wire.AnnotateItemRequest) (wire.Annotation, error) {
	if note := in.Body.Note; note != nil && (len(*note) > MaxNote || !utf8.ValidString(*note)) {
		return wire.Annotation{}, &LimitError{fmt.Sprintf("a note is text of up to %d bytes", MaxNote)}
	}
	err := l.annotate(ctx, []string{in.ID}, func(a *storage.Annotation) {
		if in.Body.Labels != nil {
			a.Labels = slices.Clone(*in.Body.Labels)
		}
		if in.Body.Note != nil {
			a.Note = strings.TrimSpace(strings.ReplaceAll(*in.Body.Note, "\r\n", "\n"))
		}
	})
	if err != nil {
		return wire.Annotation{}, err
	}
	return l.Annotation(ctx, wire.ByID{ID: in.ID})
}

// ChangeLabels adds labels to items and removes others. Items that do not exist are ignored. The error may be a
// [*LimitError].
func (l *Lists) ChangeLabels(ctx context.Context, add, remove []string, ids ...string) error {
	return ignoreNotFound(l.annotate(ctx, ids, func(a *storage.Annotation) {
		a.Labels = slices.DeleteFunc(a.Labels, func(label string) bool { return slices.Contains(remove, label) })
		a.Labels = append(a.Labels, add...)
	}))
}

// annotate changes the annotations of items. It returns [storage.ErrNotFound] if none of them exists.
func (l *Lists) annotate(ctx context.Context, ids []string, change func(*storage.Annotation)) error {
	client := access.From(ctx).ID
	stored, err := l.store.MarksOf(ctx, client, ids...)
	if err != nil {
		return err
	}
	if len(stored) == 0 {
		return storage.ErrNotFound
	}
	all, err := storage.Annotations(l.store).List(ctx, client)
	if err != nil {
		return err
	}
	used, annotated := map[string]bool{}, map[string]bool{}
	for _, a := range all {
		annotated[a.ItemID] = true
		for _, label := range a.Labels {
			used[label] = true
		}
	}
	for _, m := range stored {
		err := storage.Annotations(l.store).Change(ctx, client, m.ItemID, func(a *storage.Annotation) error {
			change(a)
			slices.Sort(a.Labels)
			a.Labels = slices.Compact(a.Labels)
			a.Changed = l.now()
			return checkAnnotation(*a, used, annotated)
		})
		if err != nil {
			return err
		}
		annotated[m.ItemID] = true
	}
	return nil
}

// checkAnnotation returns a [*LimitError] if an annotation exceeds a limit, given the labels that the client uses, to which
// it adds those of the annotation, and the client's items with annotations.
func checkAnnotation(a storage.Annotation, used, annotated map[string]bool) error {
	for _, label := range a.Labels {
		if used[label] {
			continue
		}
		if err := CheckLabel(label); err != nil {
			return err
		}
		if len(used) >= maxLabels {
			return &LimitError{fmt.Sprintf("there are %d labels, as many as there may be: remove one from its items first", maxLabels)}
		}
		used[label] = true
	}
	switch {
	case len(a.Labels) > MaxItemLabels:
		return &LimitError{fmt.Sprintf("an item has up to %d labels", MaxItemLabels)}
	case len(a.Labels)+len(a.Note) > 0 && !annotated[a.ItemID] && len(annotated) >= maxAnnotated:
		return &LimitError{fmt.Sprintf("%d items have labels or notes, as many as there may be: remove some first", maxAnnotated)}
	}
	return nil
}

// Labels returns the client's labels by name, with the numbers of their items.
func (l *Lists) Labels(ctx context.Context, _ wire.None) (wire.ItemLabels, error) {
	byItem, err := l.LabelsByItem(ctx)
	if err != nil {
		return wire.ItemLabels{}, err
	}
	counts := map[string]int64{}
	for _, labels := range byItem {
		for _, label := range labels {
			counts[label]++
		}
	}
	out := wire.ItemLabels{Labels: []wire.ItemLabel{}}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		out.Labels = append(out.Labels, wire.ItemLabel{Name: name, Items: counts[name]})
	}
	return out, nil
}

// LabelsByItem returns the client's labels of all items that have any, by the items' IDs.
func (l *Lists) LabelsByItem(ctx context.Context) (map[string][]string, error) {
	all, err := storage.Annotations(l.store).List(ctx, access.From(ctx).ID)
	byItem := map[string][]string{}
	for _, a := range all {
		if len(a.Labels) > 0 {
			byItem[a.ItemID] = a.Labels
		}
	}
	return byItem, err
}

// RenameLabel replaces a label of the client by another in all its items, or removes it if the other is empty. The error may
// be a [*LimitError].
func (l *Lists) RenameLabel(ctx context.Context, from, to string) error {
	byItem, err := l.LabelsByItem(ctx)
	if err != nil {
		return err
	}
	var ids []string
	for _, id := range slices.Sorted(maps.Keys(byItem)) {
		if slices.Contains(byItem[id], from) {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var add []string
	if to != "" {
		add = []string{to}
	}
	return l.ChangeLabels(ctx, add, []string{from}, ids...)
}

// IsLabel reports whether the client gave a label to items, and it is not the name of a folder.
func (l *Lists) IsLabel(ctx context.Context, label string) (bool, error) {
	byItem, err := l.LabelsByItem(ctx)
	if err != nil {
		return false, err
	}
	for _, labels := range byItem {
		if slices.Contains(labels, label) {
			tagged, err := l.store.CountFeeds(ctx, storage.FeedQuery{Tag: label})
			return err == nil && tagged.Feeds == 0, err
		}
	}
	return false, nil
}

func ignoreNotFound(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}
