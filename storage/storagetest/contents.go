package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"feedmesh/storage/tables"
)

// ContentsOf returns the rows of all tables as text, sorted.
func ContentsOf(t *testing.T, export func(context.Context, func(tables.Copy) error) error) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	err := export(t.Context(), func(c tables.Copy) error {
		all[c.Name] = []string{}
		for row, err := range c.Rows {
			if err != nil {
				return err
			}
			values := map[string]any{}
			for i, name := range c.Columns {
				values[name] = row[i]
			}
			all[c.Name] = append(all[c.Name], fmt.Sprintf("%#v", values))
		}
		slices.Sort(all[c.Name])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
