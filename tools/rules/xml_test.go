package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"feedmesh/classify/rule"
	"feedmesh/tools/command/commandtest"
)

func TestFromXML_KeepsMeaning(t *testing.T) {
	archive, err := fromXML(strings.NewReader(`<?xml version="1.0"?>
<!-- how the source has it -->
<Rules xmlns="urn:x">
  <rule category="Frontend" topics="CSS, css_selectors, css" weight="2">
    <any field="title">
      <stem>css</stem> <stem>databas</stem> <phrase>cascading
        style sheets</phrase> <prefix>flexbo</prefix>
    </any>
    <none> <exact>CSS Zen Garden</exact> <host>GitHub.com</host> </none>
  </rule>
  <rule category="devops" topic="kubernetes" feed-tag="Jobs &amp; more">
    <atleast n="2"><word>k8s</word><word FIELD="url">helm</word><loose>node pool</loose></atleast>
    <fact>versioned</fact>
  </rule>
  <rule category="devops"><word>docker</word></rule>
  <rule topic="release-notes" score="0.5" feed="f1">
    <near within="3" field="title"><word>release</word><any><prefix>note*</prefix><exact>Notes</exact></any></near>
    <lang>en</lang>
  </rule>
  <rule fact="versioned"><regexp field="title">v\d+/x</regexp></rule>
</Rules>`))
	want := `-- frontend.rules --
category frontend when (title:css | title:databas* | title:"cascading style sheets" | title:flexbo*) & !('CSS Zen Garden' | host:github.com) score 2
-- topics.rules --
topic css when (title:css | title:databas* | title:"cascading style sheets" | title:flexbo*) & !('CSS Zen Garden' | host:github.com) score 2
topic css-selectors when (title:css | title:databas* | title:"cascading style sheets" | title:flexbo*) & !('CSS Zen Garden' | host:github.com) score 2
for feed:f1
topic release-notes when title:release near/3 (title:note* | title:'Notes') & lang:en score 0.5
-- devops.rules --
for feed-tag:"Jobs & more"
category devops/topic:kubernetes when 2 of (k8s, url:helm, "node pool"~) & fact:versioned
for all
category devops when docker
-- facts.rules --
fact versioned when title:/v\d+\/x/
`
	if err != nil || string(archive) != want {
		t.Errorf("got error %v and\n%s\nwant\n%s", err, archive, want)
	}
	for _, empty := range []string{"<rules/>", "<rules></rules>\n"} {
		if archive, err := fromXML(strings.NewReader(empty)); err != nil || len(archive) != 0 {
			t.Errorf("%s: got %q and error %v, want no rules", empty, archive, err)
		}
	}
}

func TestFromXML_OtherCharsets(t *testing.T) {
	text := append([]byte(`<?xml version="1.0" encoding="windows-1251"?><rules><rule category="a"><word>`), 0xe2, 0xe7, 0xeb, 0xee, 0xec)
	archive, err := fromXML(bytes.NewReader(append(text, `</word></rule></rules>`...)))
	if want := "-- a.rules --\ncategory a when взлом\n"; err != nil || string(archive) != want {
		t.Errorf("got %q and error %v, want %q", archive, err, want)
	}
}

func TestFromXML_Diagnostics(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", `1:1: there are no rules`},
		{"<!-- none -->", `1:14: there are no rules`},
		{"\n<html></html>", `2:1: the document must begin with <rules>, not <html>`},
		{"<rules>\n <word>x</word></rules>", `2:2: <word> is not allowed here`},
		{"<rules version='2'/>", `1:1: <rules> has no attributes: remove "version"`},
		{"<rules>\nfoo</rules>", `1:8: "foo" is outside of a rule`},
		{"<rules>\n<rule category='a'>", `2:20: invalid XML`},
		{"<rules>\n<rule category=a>", `2:17: invalid XML`},
		{"<rules>\n<rule category='a'><word>x</wrd></rule></rules>", `2:33: invalid XML`},
		{"<rules>&evil;</rules>", `1:14: invalid XML`},
		{"<!DOCTYPE rules [<!ENTITY a 'aaaa'>]><rules/>", `1:1: directives such as <!DOCTYPE> are not supported`},
		{"<?xml version='1.0' encoding='none'?><rules/>", `1:1: invalid XML`},
		{"<rules><rule><word>x</word></rule></rules>", `1:8: the rule has no conclusion`},
		{"<rules><rule category='a b/c'><word>x</word></rule></rules>", `1:8: "a-b/c" is not a valid category`},
		{"<rules><rule category='a' topics='b, наука'><word>x</word></rule></rules>", `1:8: "наука" is not a valid topic`},
		{"<rules><rule category='a' kind='b'><word>x</word></rule></rules>", `1:8: <rule> does not have the attribute "kind"`},
		{"<rules><rule category='a' topic='b' topics='c'><word>x</word></rule></rules>", `1:8: <rule> has topics twice`},
		{"<rules><rule category='a' weight='much'><word>x</word></rule></rules>", `1:8: "much" is not a weight`},
		{"<rules><rule fact='a' weight='2'><word>x</word></rule></rules>", `1:8: a fact has no weight`},
		{"<rules><rule fact='a' category='b'><word>x</word></rule></rules>", `1:8: a rule concludes a fact, or a category and topics`},
		{"<rules><rule category='a' feed='b' feed-tag='c'><word>x</word></rule></rules>", `1:8: a rule applies to a feed-tag or to a feed, not both`},
		{"<rules><rule category='a'></rule></rules>", `1:8: the rule has no condition`},
		{"<rules><rule category='a'>foo<word>x</word></rule></rules>", `1:8: "foo" is text directly in a rule`},
		{"<rules><rule category='a'>\n<any/></rule></rules>", `2:1: <any> is empty`},
		{"<rules><rule category='a'>\n<any>foo<word>x</word></any></rule></rules>", `2:1: "foo" is text directly in <any>`},
		{"<rules><rule category='a'>\n<some><word>x</word></some></rule></rules>", `2:1: <some> is not supported`},
		{"<rules><rule category='a'>\n<word>x<b>y</b></word></rule></rules>", `2:8: <b> is not allowed in <word>, which contains text only`},
		{"<rules><rule category='a'>\n<word field='body2'>x</word></rule></rules>", `2:1: "body2" is not a field`},
		{"<rules><rule category='a'>\n<any field='title'>\n<word field='body'>x</word></any></rule></rules>", `3:1: <word> of body cannot be used within the field title`},
		{"<rules><rule category='a'>\n<any field='title'>\n<host>x.y</host></any></rule></rules>", `3:1: <host> cannot be used within the field title`},
		{"<rules><rule category='a'>\n<word/></rule></rules>", `2:1: the term is empty`},
		{"<rules><rule category='a'>\n<stem>the</stem></rule></rules>", `2:1: "the" contains stop words only, which are not indexed`},
		{"<rules><rule category='a'>\n<fact/></rule></rules>", `2:1: <fact> is empty`},
		{"<rules><rule category='a'>\n<fact>b</fact></rule></rules>", `2:1: no rule concludes fact b`},
		{"<rules><rule fact='a'>\n<fact>a</fact></rule></rules>", `1:8: rules depend on one another`},
		{"<rules><rule category='a'>\n<prefix>kube\"</prefix></rule></rules>", `2:1: "kube\""* is not the beginning of one word`},
		{"<rules><rule category='a'>\n<regexp>x</regexp></rule></rules>", `2:1: a regular expression needs a field`},
		{"<rules><rule category='a'>\n<regexp field='title'>[</regexp></rule></rules>", `2:1: invalid regular expression`},
		{"<rules><rule category='a'>\n<none><word>x</word></none></rule></rules>", `1:8: the condition can hold without any match`},
		{"<rules><rule category='a'>\n<atleast><word>x</word></atleast></rule></rules>", `2:1: a number is missing: <atleast n="2">`},
		{"<rules><rule category='a'>\n<atleast n='3'><word>x</word></atleast></rule></rules>", `2:1: the list has 1 conditions`},
		{"<rules><rule category='a'>\n<near within='3'><word>x</word></near></rule></rules>", `2:1: <near> has 1 conditions, not 2`},
		{"<rules><rule category='a'>\n<near within='300'><word>x</word><word>y</word></near></rule></rules>", `2:1: the distance is too large`},
		{"<rules><rule category='a'>\n<any n='3'><word>x</word></any></rule></rules>", `2:1: <any> does not have the attribute "n"`},
		{"<rules><rule category='a'>" + strings.Repeat("<any>", 60) + "<word>x</word>" + strings.Repeat("</any>", 60) + "</rule></rules>", `1:8: the rule has more than 4000 elements, or 50 nested ones`},
		{"<rules><rule category='a'>" + strings.Repeat("<word>x</word>", 2_001) + "</rule></rules>", `1:8: the rule has more than 2000 terms`},
		{"<rules><rule category='a'>" + strings.Repeat("<word>x</word>", 5_000) + "</rule></rules>", `1:8: the rule has more than 4000 elements, or 50 nested ones`},
		{"<rules>" + strings.Repeat("<rule category='a'><word>x</word></rule>", 20_001) + "</rules>", `1:800008: there are more than 20000 rules`},
	} {
		archive, err := fromXML(strings.NewReader(test.text))
		if err == nil || !strings.HasPrefix(err.Error(), "import.xml:"+test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s:\ngot  %s and error %v\nwant import.xml:%s", test.text, archive, err, test.want)
		}
	}
	if _, err := fromXML(strings.NewReader("<rules>" + strings.Repeat(" ", maxSize))); err == nil || err.Error() != "the rules have more than 4 MB" {
		t.Errorf("got error %v, want error the rules have more than 4 MB", err)
	}
	if _, err := fromXML(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got error %v, want that of the reader", err)
	}
}

func TestFromXML_ReportsAllDiagnostics(t *testing.T) {
	_, err := fromXML(strings.NewReader("<rules>\n<rule category='A/B'><word>of</word></rule>\n<x><y/></x>\n<rule category='a'><z/></rule>\n<rule category='b'><word>x</word></rule></rules>"))
	var faults rule.Diagnostics
	if !errors.As(err, &faults) || len(faults) != 4 {
		t.Errorf("got error %v, want four faults", err)
	}
}

func FuzzFromXML(f *testing.F) {
	f.Add([]byte(`<rules><rule category="a" topics="b, c" weight="2"><any field="title"><stem>css</stem><phrase>x y</phrase></any><none><exact>Z</exact></none></rule></rules>`))
	f.Add([]byte(`<rules><rule fact="a" feed-tag="J"><atleast n="2"><word>k8s</word><prefix>helm</prefix><loose>a1 b1</loose></atleast></rule></rules>`))
	f.Add([]byte(`<rules><rule topic="a"><near within="3"><word>release</word><word>b1</word></near><lang>en</lang><host>x.y</host><regexp field="url">a/b</regexp></rule></rules>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		archive, err := fromXML(bytes.NewReader(data))
		if err != nil {
			return
		}
		set, err := rule.Parse(archive)
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range strings.Split(string(archiveOf(set)), "\n") {
			if want := strings.Split(string(archive), "\n")[i]; text != want {
				t.Fatalf("got %q when parsed again, want %q", text, want)
			}
		}
	})
}

func TestRulesConvert_XMLToText(t *testing.T) {
	file := commandtest.Write(t, "old.xml", `<rules><rule category="frontend" topics="css" weight="2"><any field="title"><stem>css</stem><phrase>web font</phrase></any></rule></rules>`)
	commandtest.Do(t, new(rulesCommand), "convert", file).Check(t, 0, "category frontend/topic:css when title:css | title:\"web font\" score 2", "")
	bad := commandtest.Write(t, "bad.xml", "<rules>\n<rule category=\"a\"><stam>css</stam></rule>\n</rules>")
	commandtest.Do(t, new(rulesCommand), "convert", bad).Check(t, 2, "", "import.xml:2:")
}
