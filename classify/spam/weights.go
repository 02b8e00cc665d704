package spam

import (
	"fmt"
	"slices"
	"strings"
)

// A weight identifies a number of weights.txt.
type weight int

const (
	threshold weight = iota
	prior
	priorMessage
	titleShare
	longText
	capitals
	exclamations
	money
	phone
	premiumPhone
	shortCode
	tariff
	disguised
	mixedScripts
	hiddenSigns
	linkFarm
	messageLink
	messageDomain
	messageBare
	mismatched
	bareKeyword
	stuffing
	template
	flood
	learnedLeast
	learnedMost
	learnedShare
	learnedMessageCap
	learnedMessageShare
	learnedHamCap
	taughtHost
	taughtHostCap
	adultFlag
	adultShare
	weights // number of weights
)

// weightNames are the names used in weights.txt.
var weightNames = [weights]string{
	threshold: "threshold", prior: "prior", priorMessage: "prior-message",
	titleShare: "title-share", longText: "long-text",
	capitals: "capitals", exclamations: "exclamations", money: "money",
	phone: "phone", premiumPhone: "premium-phone", shortCode: "short-code", tariff: "tariff",
	disguised: "disguised", mixedScripts: "mixed-scripts", hiddenSigns: "hidden-signs",
	linkFarm: "link-farm", messageLink: "message-link", messageDomain: "message-domain", messageBare: "message-bare",
	mismatched: "mismatch", bareKeyword: "bare-keyword", stuffing: "stuffing", template: "template", flood: "flood",
	learnedLeast: "learned-least", learnedMost: "learned-most", learnedShare: "learned-share", learnedMessageCap: "learned-message-cap", learnedMessageShare: "learned-message-share", learnedHamCap: "learned-ham-cap", taughtHost: "taught-host", taughtHostCap: "taught-host-cap",
	adultFlag: "adult-flag", adultShare: "adult-share",
}

// limits are the allowed ranges of weights; the default is -20 to 20.
var limits = map[weight][2]float64{
	threshold: {0.01, 0.99}, titleShare: {0, 5}, longText: {20, 10_000},
	learnedLeast: {0, maxWeight}, learnedMost: {0, maxWeight}, learnedShare: {0, 1}, learnedMessageCap: {0, maxWeight}, learnedMessageShare: {0, 1}, learnedHamCap: {0, maxWeight}, taughtHostCap: {0, maxWeight},
	adultFlag: {0, maxWeight}, adultShare: {0, 1},
}

// weight parses a line of weights.txt: a name and a number. Missing weights keep the shipped value.
func (b *listParser) weight(line string) error {
	name, number, _ := strings.Cut(line, " ")
	w := weight(slices.Index(weightNames[:], name))
	if w < 0 {
		return fmt.Errorf("%q is not a supported weight", name)
	}
	if err := b.addUnique("weight " + name); err != nil {
		return err
	}
	limit, ok := limits[w]
	if !ok {
		limit = [2]float64{-maxWeight, maxWeight}
	}
	value, err := parseNumber(number, limit)
	if err != nil {
		return err
	}
	b.filter.weights[w] = value
	return nil
}
