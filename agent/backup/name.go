package backup

import (
	"strings"
	"time"
)

const (
	nameStart  = "feedmesh-"
	nameEnd    = ".db"
	timeLayout = "20060102T150405Z"
)

// fileName returns the name of a backup made at a time. owner distinguishes the scheduled backups of a store from
// all other files; it is empty for others.
func fileName(owner string, at time.Time) string {
	if owner != "" {
		owner += "-"
	}
	return nameStart + owner + at.UTC().Format(timeLayout) + nameEnd
}

// madeAt returns the time of a backup with the owner's name, and false for any other file.
func madeAt(owner, name string) (time.Time, bool) {
	text, starts := strings.CutPrefix(name, nameStart+owner+"-")
	text, ends := strings.CutSuffix(text, nameEnd)
	at, err := time.Parse(timeLayout, text)
	return at, starts && ends && err == nil && name == fileName(owner, at)
}

// ownerLength is the number of characters of a store's ID in names.
const ownerLength = 8

// FileName returns the name of a backup on request.
func FileName(at time.Time) string { return fileName("", at) }
