package storage

// InOrder returns those of the items that have one of the IDs, in the order of
// the IDs, and as often.
func InOrder(items []Item, ids []string) []Item {
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

// First returns the first of the items that a call returned, or [ErrNotFound] if
// it returned none.
func First(items []Item, err error) (Item, error) {
	switch {
	case err != nil:
		return Item{}, err
	case len(items) == 0:
		return Item{}, ErrNotFound
	}
	return items[0], nil
}
