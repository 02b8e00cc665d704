package greader

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"feedmesh/storage"
)

// longPrefix is the prefix of the long form of an item's ID.
const longPrefix = "tag:google.com,2005:reader/item/"

// longID returns the long form of an item's ID: its number in 16 hexadecimal digits.
func longID(itemID string) string {
	return fmt.Sprintf("%s%016x", longPrefix, storage.ItemNumber(itemID))
}

// shortID returns the short form: its number in decimal digits.
func shortID(itemID string) string { return strconv.FormatInt(storage.ItemNumber(itemID), 10) }

// parseID returns the numbers that an item's ID may mean: the long form, its digits alone, which NetNewsWire
// sends without leading zeros, or the short form. Digits without a letter may be either of the latter two;
// the store resolves which of them is an item.
func parseID(id string) ([]int64, error) {
	digits, long := strings.CutPrefix(id, longPrefix)
	hex, hexErr := strconv.ParseUint(digits, 16, 64)
	isHex := hexErr == nil && len(digits) <= 16 && hex < 1<<63
	decimal, err := strconv.ParseInt(digits, 10, 64)
	isDecimal := err == nil && !long && decimal >= 0
	switch {
	case isHex && isDecimal && int64(hex) != decimal:
		return []int64{decimal, int64(hex)}, nil
	case isDecimal:
		return []int64{decimal}, nil
	case isHex:
		return []int64{int64(hex)}, nil
	}
	return nil, badRequest(fmt.Sprintf("%.100q is not an item ID", id))
}

// requestedItems returns the IDs of the request's items that exist.
func (s *streams) requestedItems(ctx context.Context, p url.Values) ([]string, error) {
	ids := p["i"]
	switch {
	case len(ids) == 0:
		return nil, badRequest("no item requested; write i=ID")
	case len(ids) > maxIDs:
		return nil, badRequest(fmt.Sprintf("%d items requested, at most %d are allowed; send several requests", len(ids), maxIDs))
	}
	var numbers []int64
	for _, id := range ids {
		some, err := parseID(id)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, some...)
	}
	return s.store.NumberedItems(ctx, numbers...)
}
