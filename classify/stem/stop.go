package stem

import "strings"

// StopWords returns the words of a language that carry no subject, folded as in [Words]; nil if there is no
// list. The caller must not change it.
func StopWords(lang string) map[string]bool { return stops[lang] }

var stops = func() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for lang, list := range stopLists {
		words := make(map[string]bool)
		for _, w := range strings.Fields(list) {
			words[fold(w)] = true
		}
		all[lang] = words
	}
	return all
}()

// cyrillicWritten lists the languages of stopLists in Cyrillic letters.
var cyrillicWritten = map[string]bool{"ru": true, "uk": true}

// longestElision is the length in bytes of the longest word in elisions.
const longestElision = 8

// elisions are words that merge with the next word in writing.
var elisions = func() map[string]map[string]bool {
	all := make(map[string]map[string]bool)
	for lang, list := range map[string]string{
		"fr": "l d j m t s n c qu jusqu lorsqu puisqu quoiqu",
		"it": "l d c un all dall dell nell sull coll quell quest",
	} {
		all[lang] = make(map[string]bool)
		for _, w := range strings.Fields(list) {
			all[lang][w] = true
		}
	}
	return all
}()

// stopLists omit words that are also names in IT, such as C and R.
var stopLists = map[string]string{
	"en": `a an the and or but nor so if then else of in on at by for from to into onto with within as is are was were be been being am
		do does did has have had having will would shall should can could may might must no not this that these those it its it's
		he she they we you i me him her us them my your his our their there here who whom which what when where how why than too very just also about
		don't doesn't didn't isn't aren't wasn't weren't won't wouldn't can't couldn't shouldn't haven't hasn't hadn't
		i'm i've i'll i'd you're you've you'll you'd he's he'll she's she'll we're we've we'll we'd they're they've they'll that's there's what's let's`,
	"ru": `и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще нет о из ему
		теперь когда даже ну ли если уже или ни быть был него до вас нибудь уж вам ведь там потом себя ничего ей может они тут где есть надо ней
		для мы тебя их чем была сам чтоб без чего раз тоже них им ими себе под будет ж тогда кто этот того потому этого какой ним здесь этом
		один почти мой тем чтобы нее сейчас были куда зачем при об эта это эти этих этой который которые которая которого также`,
	"uk": `і й та в у во не що він на я з зі із як а то все вона так його але та ти до же ви за б би по тільки її мені було ось від мене ще ні про йому
		тепер коли навіть ну чи якщо вже або бути був нього вас вам адже там потім себе нічого їй може вони тут де є треба для ми тебе їх ніж була сам
		щоб без чого теж них їм собі під буде тоді хто цей того тому цього який ним цьому майже мій при ця це ці цих цієї яка яке які також`,
	"de": `der die das den dem des ein eine einen einem einer eines und oder aber doch sondern denn weil wenn als ob dass daß so wie in im an am auf aus bei beim
		bis durch für gegen mit nach ohne seit über um unter von vom vor zu zum zur zwischen ist sind war waren wird werden wurde wurden sein hat haben hatte hatten
		bin bist kann können konnte muss müssen soll sollen will wollen nicht kein keine keinen keiner auch noch nur schon sehr mehr ich du er sie es wir ihr mich dich
		sich uns euch mir dir ihm ihn ihnen mein meine dein deine sein seine seinen seiner ihre ihren ihrem ihrer unser unsere dieser diese dieses diesem diesen
		jeder jede jedes man wer was wo wann warum da dann hier dort nun also damit dabei dafür`,
	"fr": `le la les un une des du de au aux et ou mais donc or ni car si que qui quoi dont où ce cet cette ces se sa son ses leur leurs mon ma mes ton ta tes
		notre nos votre vos je tu il elle on nous vous ils elles me te lui eux y en dans sur sous avec sans pour par vers chez entre ne pas plus moins très trop
		est sont était étaient être été suis es sommes êtes sera seront ai as a ont avons avez avait avaient avoir eu fait à comme quand aussi même tout tous toute toutes`,
	"es": `el la los las lo un una unos unas de del a al y e o u ni pero sino si no que qué quien quién cual cuál cuando cuándo donde dónde como cómo
		en con sin por para sobre entre hasta desde contra durante ante tras su sus mi mis tu tus nuestro nuestra nuestros nuestras se me te nos os le les
		yo él ella ello ellos ellas usted ustedes nosotros este esta esto estos estas ese esa eso esos esas es son era eran ser fue fueron sido está están
		estaba ha han he hay había haber más muy ya también porque todo toda todos todas`,
	"it": `il lo la i gli le un uno una di del dello della dei degli delle a al allo alla ai agli alle da dal dallo dalla dai dagli dalle in nel nello nella nei
		negli nelle su sul sullo sulla sui sugli sulle con per tra fra e ed o od ma se che chi cui non né si ci vi ne mi ti lo li mio mia tuo tua suo sua suoi sue
		nostro nostra vostro loro io tu lui lei noi voi essi questo questa questi queste quello quella quelli quelle è sono era erano essere stato stata sia ha hanno
		ho abbiamo aveva avere come quando dove perché anche più molto già tutto tutti`,
	"pt": `o a os as um uma uns umas de do da dos das em no na nos nas num numa por pelo pela pelos pelas para com sem sob sobre entre até desde e ou mas se que
		quem qual quais quando onde como não nem eu tu ele ela nós vós eles elas você vocês me te lhe lhes meu minha seu sua seus suas nosso nossa este esta estes
		estas esse essa isso isto aquele aquela é são era eram ser foi foram sido está estão estava ter tem têm há à ao aos às mais muito já também porque`,
	"nl": `de het een en of maar want dus als dan dat die dit deze in op aan bij met van voor naar uit over onder tot door om te tegen tussen zonder is zijn was waren
		wordt worden werd werden heeft hebben had hadden kan kunnen zal zou moet moeten niet geen ook nog al meer er hier daar ik jij je u hij zij ze wij we jullie
		mij me hem haar ons hun mijn jouw zijn onze wie wat waar wanneer hoe waarom zo`,
	"sv": `och eller men att som om när då för på i av till från med utan under över vid mot mellan efter en ett den det de är var vara varit blir blev har hade ha
		kan kunde ska skulle vill inte ej jag du han hon vi ni dem mig dig sig oss er min mitt mina din ditt dina sin sitt sina hans hennes deras vår vårt våra
		denna detta dessa vad vem vilken vilket vilka hur varför där här nu så än även också mycket mer man`,
	"no": `og eller men at å som om når da for på i av til fra med uten under over ved mot mellom etter en ei et den det de er var være vært blir ble har hadde ha
		kan kunne skal skulle vil ville ikke jeg du han hun vi dere dem meg deg seg oss min mitt mine din ditt dine sin sitt sine hans hennes deres vår vårt våre
		denne dette disse hva hvem hvilken hvilket hvilke hvordan hvorfor der her nå så enn også mye mer man ikkje eg frå ho`,
	"da": `og eller men at som om når da for på i af til fra med uden under over ved mod mellem efter en et den det de er var være været bliver blev har havde have
		kan kunne skal skulle vil ville ikke jeg du han hun vi dem mig dig sig os min mit mine din dit dine sin sit sine hans hendes deres vores
		denne dette disse hvad hvem hvilken hvilket hvilke hvordan hvorfor der her nu så end også meget mere man`,
	"fi": `ja tai mutta että jos kun koska kuin niin on ovat oli olivat olla ollut ole ei eivät en et emme ette se ne tämä nämä tuo nuo hän he minä sinä me te
		sen sitä siinä siitä siihen tämän tätä tässä joka jotka jonka jota mikä mitä mutta myös vain vielä jo nyt sekä eli kanssa mukaan`,
	"hu": `a az egy és vagy de hogy ha mint mert nem is csak már még meg el ki be fel le ez azt ezt ezek azok aki ami amely akik melyek van vannak volt voltak lesz
		lenne lehet kell én te ő mi ti ők ön neki nekem nekik itt ott így úgy most majd akkor amikor hol miért minden nagyon több után szerint között`,
	"ro": `un o unui unei al a ai ale cel cea cei cele și sau dar iar ori că să dacă de din la în pe cu pentru prin după până între fără spre este e sunt era erau fi
		fost are au am avea avut va vor nu mai foarte și eu tu el ea noi voi ei ele lui își se îi le acest această acești aceste acel acea care ce cine cum când unde`,
	"tr": `ve veya ya da de ama fakat ancak ile için gibi kadar daha çok en bir bu şu o bunu bunun ben sen biz siz onlar ki mi mı mu mü ne nasıl neden niçin hem her
		hiç ise değil var yok olan olarak oldu olur göre sonra önce diye çünkü eğer`,
	"pl": `i a w z we ze na do od dla po za o u przy przez pod nad między bez oraz lub albo ale lecz że żeby aby gdy jeśli jak jako niż czy nie tak to ten ta te ci tego
		tej tych temu tym jest są był była było były być będzie będą ma mają się ja ty on ona ono my wy oni one mnie mi go jej jego ich im co kto który która które
		których gdzie kiedy już jeszcze tylko także też bardzo`,
	"cs": `a i v ve z ze na do od pro po za o u při přes pod nad mezi bez nebo ale že aby když jestli jak jako než zda ne ano to ten ta ty toho té těch tomu tím je jsou
		byl byla bylo byli být bude budou má mají se si já ty on ona ono my vy oni mě mi ho jí jeho jejich co kdo který která které kde kdy již už ještě jen také též velmi`,
}
