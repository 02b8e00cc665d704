// Package picture recognizes images that do not show what an item is about: portraits of its author and emoji.
package picture

import (
	"net/url"
	"strings"
)

// IsAvatar reports whether the image at an absolute URL is a portrait of an author: an image of Gravatar, of
// services that use its addresses, or of a folder of avatars.
func IsAvatar(address string) bool {
	if !strings.Contains(address, "avatar") { // the common case
		return false
	}
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	return host == "gravatar.com" || strings.HasSuffix(host, ".gravatar.com") || strings.HasPrefix(u.Path, "/avatar/") || strings.Contains(u.Path, "/avatars/")
}

// IsEmoji reports whether the image at an absolute URL is an emoji or a smiley of WordPress.
func IsEmoji(address string) bool {
	_, rest, ok := strings.Cut(address, "://")
	host, path, _ := strings.Cut(rest, "/")
	return ok && strings.EqualFold(host, "s.w.org") && strings.HasPrefix(path, "images/core/emoji/") ||
		strings.Contains(path, "wp-includes/images/smilies/") || strings.EqualFold(host, "abs.twimg.com") && strings.HasPrefix(path, "emoji/")
}

// IsAvatarClass and IsEmojiClass report whether one of the classes of an image element marks such an image.
func IsAvatarClass(classes string) bool {
	return hasClass(classes, "avatar", "gravatar", "author-avatar", "avatar-image")
}

// IsEmojiClass is described at [IsAvatarClass].
func IsEmojiClass(classes string) bool {
	return hasClass(classes, "emoji", "wp-smiley", "wp-emoji", "smiley", "smilie", "emoticon", "emojione", "twemoji")
}

func hasClass(classes string, names ...string) bool {
	for class := range strings.FieldsSeq(classes) {
		for _, name := range names {
			if strings.EqualFold(class, name) {
				return true
			}
		}
	}
	return false
}
