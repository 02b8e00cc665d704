package tables

import (
	"strings"

	"feedmesh/storage"
)

// ItemNames returns the names of the columns of [ItemFields], with text before each, separated by commas.
func ItemNames(before string, large bool) string {
	var names []string
	for _, column := range ItemFields(&storage.Item{}, large) {
		names = append(names, before+column.Name)
	}
	return strings.Join(names, ", ")
}

// ItemUpdates returns the assignments of ON CONFLICT DO UPDATE by which a new revision changes a stored item.
func ItemUpdates() string {
	var updates []string
	for _, column := range storage.ItemColumns(&storage.Item{}) {
		name := column.Name
		switch column.Revised {
		case storage.Replaces:
			updates = append(updates, name+" = excluded."+name)
		case storage.ReplacesLabels:
			updates = append(updates, name+" = CASE WHEN items.corrected THEN items."+name+" ELSE excluded."+name+" END")
		}
	}
	return strings.Join(updates, ", ")
}

// ItemFields returns the columns of the item that PutItems writes, those that are Large only if large.
func ItemFields(i *storage.Item, large bool) []storage.Column {
	all := storage.ItemColumns(i)
	columns := make([]storage.Column, 0, len(all))
	for _, column := range all {
		if large || !column.Large {
			columns = append(columns, column.Column)
		}
	}
	return columns
}
