package story

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isQuotable reports whether a sentence can stand in a summary by itself: it is whole, states something, and is no
// navigation, teaser, address to the reader or report in the first person. ended states that its text ends with it.
func isQuotable(s string, ended bool) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, "\"'“”«»„‘’(["))
	if unicode.IsLower(first) || !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return false
	}
	end := strings.TrimRight(s, "\"'“”«»„‘’)]")
	last, _ := utf8.DecodeLastRuneInString(end)
	switch {
	case last == '.' && !strings.HasSuffix(end, ".."), last == '!', last == '。':
	case unicode.IsLetter(last) || unicode.IsDigit(last): // publishers omit the full stop of a description that is one sentence
		if !ended || len(strings.Fields(s)) < minUnended || isTitleCase(s) {
			return false
		}
	default: // a question, an ellipsis, a heading before a list
		return false
	}
	lower := strings.ToLower(s)
	for _, phrase := range boilerplate {
		if strings.Contains(lower, phrase) {
			return false
		}
	}
	start := true
	for word := range strings.FieldsFuncSeq(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if word == "I" || personal[strings.ToLower(word)] || start && dangling[strings.ToLower(word)] {
			return false
		}
		start = false
	}
	return true
}

// minUnended is the number of words from which a sentence needs no full stop.
const minUnended = 9

// isTitleCase reports whether most words of a text begin with a capital letter, as those of headings do.
func isTitleCase(s string) bool {
	words := strings.Fields(s)
	capitals := 0
	for _, word := range words {
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(first) || unicode.IsDigit(first) {
			capitals++
		}
	}
	return 2*capitals > len(words)
}

// boilerplate are phrases of navigation, teasers, credits and machines, in lower case.
var boilerplate = []string{
	"read more", "read the full", "read on", "continue reading", "full story", "full article", "click here", "click to", "learn more", "find out", "sign up", "subscribe", "newsletter",
	"follow us", "share this", "stay tuned", "check out", "appeared first on", "originally published", "all rights reserved", "copyright", "©", "cookie", "privacy policy",
	"javascript", "advertisement", "sponsored", "photo:", "photo by", "image:", "image credit", "credit:", "view comments", "comments url", "article url", "submitted by",
	"[link]", "[comments]", "table of contents", "lorem ipsum", "http://", "https://", "www.", "a look at", "look back at", "listen to", "watch the", "in this article", "in this post", "in this episode",
	"in this video", "this article", "this post", "this blog", "the following",
	"читать далее", "читать дальше", "читайте также", "читайте", "подробнее", "подробности", "подписывайтесь", "подписаться", "фото:", "источник:", "в этой статье", "в статье", "смотрите", "рассказываем",
	"читати далі", "детальніше", "підписуйтесь",
	"weiterlesen", "mehr dazu", "lesen sie", "abonnieren", "foto:", "lire la suite", "en savoir plus", "abonnez", "leer más", "seguir leyendo", "suscríbe", "haz clic",
}

// setOf returns a set of the words in a text.
func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

// personal are words of the first and second person: diaries, advertisements and direct speech out of its context.
var personal = setOf(`me my myself we our ours ourselves you your yours yourself
	я мне меня мой моя мое моё мои моего моей моих мной мы нас нам наш наша наше наши нашей нашего вы вас вам ваш ваша ваше ваши вашего вашей ты тебе тебя твой
	мені мене мій моє моєї ми наші наша нашої ви вам вас
	ich mir mich mein meine meinen meiner wir uns unser unsere unseren unserer unserem ihr euch
	je moi mon mes nous notre nos vous votre vos
	yo mi mis nosotros nuestro nuestra tú tu tus usted`)

// dangling are words whose sentence refers to the one before it, or to the reader, if they begin it.
var dangling = setOf(`and but or so because however also meanwhile secondly thirdly finally moreover furthermore additionally still then thus instead this that these those they their he she his her him here
	watch listen read see click join follow discover learn get meet want looking welcome thanks hello hi
	но а и или однако также это этот эта эти он она они его ее её их такой здесь вот поэтому затем потом
	але та він вона вони це цей ці тут ось
	aber und oder doch er diese dieser dieses hier
	mais et ou il elle ils elles voici
	pero y o él ella ellos aquí`)

const (
	vagueStyle   = 0.7 // a question, a list, an address to the reader, a section
	cutStyle     = 0.6 // a title that was cut
	longStyle    = 0.8 // a title of more than longTitle characters
	longTitle    = 120
	capitalStyle = 0.8 // a title in capitals
)

// headlineStyle returns a factor up to 1: how well a title states by itself what happened.
func headlineStyle(title string) float64 {
	title = strings.TrimSpace(title)
	lower := strings.ToLower(title)
	factor := 1.0
	words := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	vague := strings.HasSuffix(title, "?") || strings.HasSuffix(title, "!") || strings.ContainsAny(title, ";|")
	for i, word := range words {
		vague = vague || personal[word] || i == 0 && (dangling[word] || teasers[word])
	}
	for _, section := range sections {
		vague = vague || strings.Contains(lower, section)
	}
	if vague {
		factor *= vagueStyle
	}
	if strings.HasSuffix(title, "…") || strings.HasSuffix(title, "...") {
		factor *= cutStyle
	}
	if utf8.RuneCountInString(title) > longTitle {
		factor *= longStyle
	}
	if len(words) > 2 && title == strings.ToUpper(title) && title != lower {
		factor *= capitalStyle
	}
	return factor
}

// teasers are words with which titles begin that do not state what happened.
var teasers = setOf(`what why how who when where which best top everything opinion analysis explainer explained review preview recap live video photos podcast quiz gallery
	что почему как кто когда где какой какие названы назван названа названо видео фото мнение обзор дайджест подкаст
	що чому як хто коли де відео
	was warum wie wer wann wo
	pourquoi comment quand
	qué por cómo cuándo dónde`)

// sections are parts of titles of columns, live reports and collections, in lower case.
var sections = []string{
	"highlights", "live updates", "live blog", "in pictures", "a look at", "in photos", "need to know", "explained", "weekly", "roundup", "digest", "this week in", "week in review", "news quiz", "morning briefing", ". and,",
	"according to experts", "worth the splurge", "% off", "half off", "дайджест", "итоги недели", "что известно", "главное за", "онлайн-трансляция",
}
