package story

import (
	"slices"
	"strings"
	"testing"
)

// readerStories are stories in words of our own with the headlines that fit all their items, and the sentences that a
// summary must not quote. Headlines and texts are "title | text" by source.
var readerStories = []struct {
	name     string
	lang     string
	items    []string
	good     []int    // items whose titles are right
	never    []string // beginnings of sentences that must not be quoted
	sentence bool     // a summary is wanted
}{
	{"a question and a list are no headlines", "en", []string{
		"Why did the Velden bridge collapse? | Engineers had warned of cracks in the Velden bridge for years.",
		"Velden bridge collapses, nobody hurt | The Velden bridge over the Iser collapsed on Sunday night, and nobody was hurt.",
		"5 things to know about the Velden bridge collapse | Here is what you need to know about the Velden bridge.",
		"Bridge in Velden collapses at night | Read more about the bridge collapse in Velden on our pages.",
	}, []int{1, 3}, []string{"Here is", "Read more"}, true},
	{"a number that one item has", "en", []string{
		"Fire at Norburg paper mill leaves 14 workers in hospital | A fire broke out at the paper mill of Norburg in the morning.",
		"Workers in hospital after fire at Norburg paper mill | The fire at the Norburg mill was put out by noon, the brigade stated.",
		"Paper mill fire: workers of Norburg in hospital | Smoke from the paper mill could be seen far from Norburg.",
	}, []int{1, 2}, nil, true},
	{"the newest item is not the story", "en", []string{
		"Tallmark releases version 4 of its Orrin database | Tallmark released version 4 of the Orrin database with faster joins.",
		"Orrin 4 database released by Tallmark | Version 4 of Orrin, a database by Tallmark, compresses tables on disk.",
		"Tallmark's Orrin database reaches version 4 | The release of Orrin 4 took two years of work, according to Tallmark.",
		"Fourth quarter looks good for Tallmark shares | Analysts raised their price targets for shares on Friday.",
	}, []int{0, 1, 2}, []string{"Analysts"}, true},
	{"diaries and navigation", "en", []string{
		"Pellan phone | My daughters, you are just 5 and 8 and ask for a Pellan phone.",
		"Pellan phone goes on sale | The Pellan phone went on sale in nine countries on Friday.",
		"Queues for the Pellan phone | I stood in the queue for the Pellan phone and it was cold. Subscribe to our newsletter about the Pellan phone.",
	}, []int{1, 2}, []string{"My daughters", "I stood", "Subscribe"}, true},
	{"no fact twice", "en", []string{
		"Parliament of Arvia removes president Oda Lenz | The parliament of Arvia voted on Tuesday to remove president Oda Lenz over a bribe.",
		"Arvia: president Oda Lenz removed | On Tuesday the parliament of Arvia removed president Oda Lenz from office over a bribe.",
		"President of Arvia removed by parliament | An election of the next president follows within sixty days, the court ruled.",
	}, []int{0, 1, 2}, []string{"On Tuesday the parliament"}, true},
	{"none rather than a wrong one", "en", []string{
		"Crackling Road.mp3 | Crackling Road.mp3",
		"Crackling Road.mp3 | The Quiet Hats - Crackling Road.mp3",
		"Crackling Road.mp3 | Points: 5 Comments URL: http://forum.example/1",
	}, []int{0, 1, 2}, []string{"The Quiet", "Points", "Crackling"}, false},
	{"Russian", "ru", []string{
		"Почему в Заречье закрыли мост | Рассказываем, почему закрыли мост в Заречье.",
		"В Заречье закрыли мост через Ильму | Мост через Ильму в Заречье закрыли из-за трещин в опорах.",
		"Мост через Ильму в Заречье закрыт на ремонт | Ремонт моста через Ильму займёт два месяца, сообщила мэрия Заречья.",
		"Закрыт мост в Заречье | Я проезжал мост в Заречье каждый день. Читать далее",
	}, []int{1, 2, 3}, []string{"Рассказываем", "Я проезжал", "Читать"}, true},
}

// storyOf returns the documents of a story, one of each source.
func storyOf(lang string, items []string) []Document {
	var list []Document
	for n, item := range items {
		title, text, _ := strings.Cut(item, " | ")
		id := string(rune('a' + n))
		list = append(list, Document{ItemID: id, Source: id, Title: title, Text: text, Language: lang, Weight: 1, Seen: noon})
	}
	return list
}

func TestReader_HeadlinesAndSummaries(t *testing.T) {
	for _, test := range readerStories {
		items := storyOf(test.lang, test.items)
		headline := Headline(items)
		if !slices.Contains(test.good, headline) {
			t.Errorf("%s: got headline %q, want one of %v", test.name, items[headline].Title, test.good)
		}
		lines := Summary(items, headline)
		if (len(lines) > 0) != test.sentence {
			t.Errorf("%s: got summary %q, want one: %t", test.name, lines, test.sentence)
		}
		for i, line := range lines {
			if slices.ContainsFunc(test.never, func(begin string) bool { return strings.HasPrefix(line.Text, begin) }) && !(i == 0 && test.name == "no fact twice") {
				t.Errorf("%s: got %q in the summary", test.name, line.Text)
			}
		}
		if test.name == "no fact twice" && len(lines) > 2 {
			t.Errorf("got %q, want the vote once", lines)
		}
	}
}

func TestIsQuotable(t *testing.T) {
	for sentence, want := range map[string]bool{
		"The council of Bergau approved the new budget on Monday.":                        true,
		"“The budget is sound,” the mayor of Bergau told reporters.":                      true,
		"A Bergau delegation is heading to the capital for another round of talks":        true,
		"New Budget For Bergau And Its Neighbours In The Coming Year":                     false,
		"The council of Bergau approved …":                                                false,
		"and approved the new budget of Bergau on Monday.":                                false,
		"How much of the budget of Bergau is left for roads?":                             false,
		"She was approved by the council of Bergau on Monday.":                            false,
		"I went to the council of Bergau on Monday to listen.":                            false,
		"Click here to read the budget of Bergau in full.":                                false,
		"The post Budget of Bergau appeared first on Bergau News.":                        false,
		"Совет Бергау одобрил новый бюджет в понедельник.":                                true,
		"Он одобрил новый бюджет Бергау в понедельник.":                                   false,
		"Подписывайтесь на канал совета Бергау о бюджете.":                                false,
		"Der Rat von Bergau hat am Montag den neuen Haushalt beschlossen.":                true,
		"Budget: 14 million for roads, 3 million for schools, 1 million for the theatre:": false,
	} {
		if got := isQuotable(sentence, true); got != want {
			t.Errorf("%q: got %t, want %t", sentence, got, want)
		}
	}
	if isQuotable("The council of Bergau said: “The new budget is ...”", true) {
		t.Error("got a sentence that was cut within quotes, want none")
	}
	if isQuotable("A Bergau delegation is heading to the capital for another round of talks", false) {
		t.Error("got a sentence without a full stop before others, want none")
	}
}
