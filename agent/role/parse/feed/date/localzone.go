package date

import "strings"

// localZones are the meanings of names of several zones by country, in capitals, or language. If the
// country is known, it decides alone. Workers share the maps, which are read-only.
//
// Source: the IANA time zone database.
var localZones = map[string]map[string]zone{
	"IST": merge(in(zone{5*60 + 30, ruleFixed}, "IN hi bn ta te mr gu kn ml pa or as"),
		in(zone{2 * 60, ruleIsrael}, "IL he iw"), in(zone{60, ruleSummerOnly}, "IE ga")),
	"GST": in(zone{4 * 60, ruleFixed}, "AE OM ar"),
	"AST": merge(in(zone{3 * 60, ruleFixed}, "SA KW QA BH IQ YE ar"), in(zone{-4 * 60, ruleFixed}, "CA PR DO TT BB BM VI CW")),
	"NST": merge(in(zone{5*60 + 45, ruleFixed}, "NP ne"), in(zone{-(3*60 + 30), ruleFixed}, "CA")),
	"BST": in(zone{6 * 60, ruleFixed}, "BD bn"),
	"AMT": merge(in(zone{-4 * 60, ruleFixed}, "BR"), in(zone{4 * 60, ruleFixed}, "AM hy")),
	"SST": merge(in(zone{8 * 60, ruleFixed}, "SG"), in(zone{-11 * 60, ruleFixed}, "AS")),
	"ECT": in(zone{-5 * 60, ruleFixed}, "EC"),
	"WST": in(zone{8 * 60, ruleFixed}, "AU"),
	"PST": in(zone{8 * 60, ruleFixed}, "PH fil tl"),
	"BOT": in(zone{-4 * 60, ruleFixed}, "BO"),
}

// in returns a zone for each of the places, separated by spaces.
func in(z zone, places string) map[string]zone {
	all := make(map[string]zone)
	for _, place := range strings.Fields(places) {
		all[place] = z
	}
	return all
}

func merge(maps ...map[string]zone) map[string]zone {
	all := make(map[string]zone)
	for _, m := range maps {
		for place, z := range m {
			all[place] = z
		}
	}
	return all
}

// localZone returns the zone that a name in capitals means in a language, such as "hi", or in a country.
func localZone(name, lang, country string) (z zone, ok bool) {
	place := country
	if place == "" {
		place = lang
	}
	z, ok = localZones[name][place]
	return z, ok
}

// countryOf returns the country of a language tag in capitals, or "".
func countryOf(tag string) string {
	parts := strings.FieldsFunc(tag, func(r rune) bool { return r == '-' || r == '_' })
	for _, part := range parts[min(1, len(parts)):] {
		if len(part) == 2 {
			return strings.ToUpper(part)
		}
	}
	return ""
}
