package storage

// OrderByIDs returns the items with one of the IDs, in the order of the IDs, repeated as the IDs are.
func OrderByIDs(items []Item, ids []string) []Item {
	byID := make(map[string]Item, len(items))
	for _, item := range items {
		byID[item.ID] = item
	}
	var ordered []Item
	for _, id := range ids {
		if item, ok := byID[id]; ok {
			ordered = append(ordered, item)
		}
	}
	return ordered
}

// FirstItem returns the first of the items returned by a call, or [ErrNotFound] if it returned none.
func FirstItem(items []Item, err error) (Item, error) {
	switch {
	case err != nil:
		return Item{}, err
	case len(items) == 0:
		return Item{}, ErrNotFound
	}
	return items[0], nil
}
