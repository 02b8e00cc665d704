package main

import (
	"bytes"
	"context"
	"errors"

	"feedmesh/classify/rule"
)

// A rulesConvertCommand converts rules from XML to text.
type rulesConvertCommand struct {
	File string `arg:"" help:"File with the rules in XML; - for standard input."`
}

// Help implements kong's HelpProvider.
func (rulesConvertCommand) Help() string {
	return `Convert another system's rules on stems from XML to text for agent rules set:

    agent rules convert old.xml > own.rules

    <rules>
      <rule category="frontend" topics="css, fonts" weight="2">
        <any field="title"><stem>css</stem> <phrase>web font</phrase></any>
        <none><word>printing</word></none>
      </rule>
    </rules>

Elements of a rule: any, all, none, atleast n="2", near within="5"; stem, word, phrase,
loose, prefix, exact, regexp, host, lang, fact.`
}

// Run implements the command.
func (c *rulesConvertCommand) Run(_ context.Context, p *program) error {
	text, err := p.readRules(c.File)
	if err != nil {
		return err
	}
	archive, err := rule.FromXML(bytes.NewReader(text))
	if faults := (rule.Diagnostics)(nil); errors.As(err, &faults) {
		for _, f := range faults {
			p.notice("%v", f)
		}
		return exitError{errReported, exitUsage}
	}
	if err != nil {
		return err
	}
	_, err = p.out.Write(archive)
	return err
}
