package picture

import "testing"

func TestIsAvatar(t *testing.T) {
	for address, want := range map[string]bool{
		"https://secure.gravatar.com/avatar/0a1b?s=96&d=identicon": true, "http://1.gravatar.com/avatar/x": true, "https://gravatar.com/avatar/x": true,
		"https://a.example/avatar/x.png": true, "https://a.example/files/avatars/7.png": true,
		"https://a.example/avatar-the-film.jpg": false, "https://avatar.example/film.jpg": false, "https://gravatar.com.example/x": false,
		"https://a.example/i.png?avatar=1": false, "": false,
	} {
		if got := IsAvatar(address); got != want {
			t.Errorf("%q: got %v, want %v", address, got, want)
		}
	}
}

func TestIsEmoji(t *testing.T) {
	for address, want := range map[string]bool{
		"https://s.w.org/images/core/emoji/14.0.0/72x72/1f600.png": true, "http://a.example/wp-includes/images/smilies/icon_smile.gif": true,
		"https://s.w.org/images/home/x.png": false, "https://a.example/emoji.png": false, "": false,
	} {
		if got := IsEmoji(address); got != want {
			t.Errorf("%q: got %v, want %v", address, got, want)
		}
	}
	if !IsEmojiClass("x WP-Smiley") || IsEmojiClass("emoji-wall") || !IsAvatarClass("avatar avatar-96 photo") || IsAvatarClass("avatars-of-the-world") {
		t.Error("classes are compared whole, ignoring case")
	}
}
