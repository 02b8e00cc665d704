package storage

// Revise returns item as the next revision of old. It keeps the FirstSeen, placement, partition and clicks of
// old, and its Published and Assumed if the new date is only assumed. Of old, it reads only these fields and
// Revision. The store must preserve corrected labels itself.
func Revise(old, item Item) Item {
	item.Revision, item.FirstSeen = old.Revision+1, old.FirstSeen
	item = PlacementOf(old).ApplyTo(item)
	item.Partition, item.Clicks = old.Partition, old.Clicks
	if item.Assumed != "" {
		item.Published, item.Assumed = old.Published, old.Assumed
	}
	return item
}
