package classify

import "strings"

// littleWords gives, for a frequent short word, the languages it belongs to.
// Words that are also names in English texts (DOS, MIT, Van) are left out.
var littleWords = invert(map[string]string{
	"en": "the of and to in is for with on your you from how why what are not it that this an by at as be we my can will use using new when without a i no so do on me free like all more only",
	"de": "der die das und ist nicht ein eine für von auf den dem im zu wie wird bei auch sich des nach über aus zum zur warum sind",
	"fr": "le la les des et est une dans pour avec sur pas du qui que au aux votre par en ce cette nous vous sont",
	"es": "el la los las de y en que del para con una por es como más su se al cómo qué sus pero sobre este esta",
	"it": "il la di che con una del della come sono nel alla dei gli le più anche questo perché dal",
	"pt": "as de da do que para uma não no na por mais como das ao sua seu você é são",
	"pl": "na nie się jest to do jak że dla od po czy przez oraz tego są z już",
	"nl": "de het een en is op met voor niet dat zijn aan hoe naar bij ook door uit waarom je",
	"cs": "na je se že jak ale jsou není nebo který také od po při už podle jako",
	"sv": "och att det en som på är för med den till inte ett har hur från kan eller när",
	"tr": "ve bir bu için ile da de ne nasıl daha çok gibi olan en olarak var değil kadar",
})

func invert(lists map[string]string) map[string][]string {
	m := make(map[string][]string)
	for language, list := range lists {
		for _, w := range strings.Fields(list) {
			m[w] = append(m[w], language)
		}
	}
	return m
}

// stopWords are words that say nothing of what a text is about.
var stopWords = wordSet(
	"a an the and or but nor so if then else of in on at by for from to into onto with within as is are was were be been being am "+
		"do does did has have had having will would shall should can could may might must not no this that these those it its it's "+
		"he she they we you i me him her us them my your his our their there here who whom which what when where how why than too very just also about",
	"и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему "+
		"теперь когда даже ну ли если уже или ни быть был него до вас нибудь уж вам ведь там потом себя ничего ей может они тут где есть надо ней "+
		"для мы тебя их чем была сам чтоб без чего раз тоже них им ими себе под будет ж тогда кто этот того потому этого какой ним здесь этом "+
		"один почти мой тем чтобы нее сейчас были куда зачем при об эта это эти этих этой который которые которая которого также",
)

func wordSet(lists ...string) map[string]bool {
	m := make(map[string]bool)
	for _, list := range lists {
		for _, w := range strings.Fields(list) {
			m[w] = true
		}
	}
	return m
}
