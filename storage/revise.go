package storage

// Revise returns the item as the next revision of old: with its FirstSeen, its
// place in its event and story, and its Published and Assumed too where the new date
// is only assumed. Of old, it reads these and Revision. That corrected labels stay
// is for the store to see to.
func Revise(old, item Item) Item {
	item.Revision, item.FirstSeen = old.Revision+1, old.FirstSeen
	item = PlacementOf(old).On(item)
	item.Lane, item.Clicks = old.Lane, old.Clicks
	if item.Assumed != "" {
		item.Published, item.Assumed = old.Published, old.Assumed
	}
	return item
}
