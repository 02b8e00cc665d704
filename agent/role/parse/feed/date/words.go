package date

// dayHalf is am, pm or unspecified.
type dayHalf uint8

const (
	anyHalf dayHalf = iota
	beforeNoon
	afterNoon
)

// fillers are words without effect in dates: prepositions and articles, endings of ordinal numbers, words for
// hour, year and publishing.
const fillers = `
at on the of st nd rd th hrs hours posted published last updated date
um den der am uhr le à heure heures er el la las a de del hs hora horas às as do dia em alle ore il
om uur op kl klokken d klo kello ve v hod hodin dne roku r o godz g saat günü ora orele les l pukul
º ª feira
г года год в р року рік о об у п στις`

// halves are the words for am and pm, matched with or without points.
var halves = map[dayHalf]string{
	beforeNoon: "am πμ 오전 上午 午前",
	afterNoon:  "pm μμ 오후 下午 午後",
}
