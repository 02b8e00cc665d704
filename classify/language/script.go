package language

import (
	"sort"
	"unicode"
	"unicode/utf8"
)

// A script is a set of letters and the languages written in them: the most likely language first, then others
// that are returned only if the feed declares them. If a model exists for the script's name, the model
// decides instead.
type script struct {
	name      string
	languages []string
	weight    int // of a letter: one that stands for a syllable or a word counts as several
}

var (
	latin  = &script{"Latin", []string{"en"}, 1}
	han    = &script{"Han", []string{"zh", "ja"}, 3}
	kana   = &script{"Kana", []string{"ja"}, 3}
	hangul = &script{"Hangul", []string{"ko"}, 2}

	cyrillic   = &script{"Cyrillic", []string{"ru"}, 1}
	arabic     = &script{"Arabic", []string{"ar", "ps", "ug", "sd", "ku"}, 1}
	devanagari = &script{"Devanagari", []string{"hi", "ne", "sa"}, 1}
)

// ranges lists the letters of scripts in ascending order.
var ranges = []struct {
	first, last rune
	script      *script
}{
	{'A', 'Z', latin}, {'a', 'z', latin}, {0xAA, 0xAA, latin}, {0xBA, 0xBA, latin}, {0xC0, 0x24F, latin},
	{0x370, 0x3FF, only("el")},
	{0x400, 0x52F, cyrillic},
	{0x531, 0x587, only("hy")},
	{0x5D0, 0x5F2, only("he", "yi")},
	{0x620, 0x6D5, arabic}, {0x6EE, 0x77F, arabic},
	{0x780, 0x7BF, only("dv")},
	{0x900, 0x97F, devanagari},
	{0x980, 0x9FF, only("bn", "as")},
	{0xA00, 0xA7F, only("pa")},
	{0xA80, 0xAFF, only("gu")},
	{0xB00, 0xB7F, only("or")},
	{0xB80, 0xBFF, only("ta")},
	{0xC00, 0xC7F, only("te")},
	{0xC80, 0xCFF, only("kn")},
	{0xD00, 0xD7F, only("ml")},
	{0xD80, 0xDFF, only("si")},
	{0xE00, 0xE7F, only("th")},
	{0xE80, 0xEFF, only("lo")},
	{0xF00, 0xFFF, only("bo", "dz")},
	{0x1000, 0x109F, only("my")},
	{0x10A0, 0x10FF, only("ka")},
	{0x1100, 0x11FF, hangul},
	{0x1200, 0x139F, only("am", "ti")},
	{0x1780, 0x17FF, only("km")},
	{0x1E00, 0x1EFF, latin},
	{0x1F00, 0x1FFF, only("el")},
	{0x3005, 0x3007, han},
	{0x3041, 0x30FF, kana}, {0x31F0, 0x31FF, kana},
	{0x3400, 0x9FFF, han},
	{0xAC00, 0xD7AF, hangul},
	{0xF900, 0xFAFF, han},
	{0xFB50, 0xFDFF, arabic}, {0xFE70, 0xFEFC, arabic},
	{0xFF66, 0xFF9F, kana},
	{0x20000, 0x323AF, han},
}

func only(languages ...string) *script {
	return &script{name: languages[0], languages: languages, weight: 1}
}

// scriptOf returns the script of a letter, or nil if r is not a letter of a supported script.
func scriptOf(r rune) *script {
	if r < utf8.RuneSelf {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return latin
		}
		return nil
	}
	if r >= 'А' && r <= 'я' { // the most frequent after ASCII
		return cyrillic
	}
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].last >= r })
	if i == len(ranges) || ranges[i].first > r || !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Nl) {
		return nil
	}
	return ranges[i].script
}
