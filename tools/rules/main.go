// Rules converts rules that another system has in XML to the text of rules:
//
//	go run ./tools/rules convert old.xml > own.rules
package main

import (
	"errors"
	"os"

	"feedmesh/classify/rule"
	"feedmesh/tools/command"
)

func main() {
	command.Main("rules", "Convert rules of other systems.", new(rulesCommand))
}

// A rulesCommand groups the commands about rules.
type rulesCommand struct {
	Convert convertCommand `cmd:"" help:"Convert rules from XML to text."`
}

// A convertCommand converts rules from XML to text.
type convertCommand struct {
	File string `arg:"" help:"File with the rules in XML; - for standard input."`
}

// Help implements kong's HelpProvider.
func (convertCommand) Help() string {
	return `Convert another system's rules on stems from XML to text for agent rules set:

    go run ./tools/rules convert old.xml > own.rules

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
func (c *convertCommand) Run(o *command.Output) error {
	in := os.Stdin
	if c.File != "-" {
		file, err := os.Open(c.File)
		if err != nil {
			return command.Usage("read rules: %w", err)
		}
		defer file.Close()
		in = file
	}
	archive, err := fromXML(in)
	if errors.As(err, new(rule.Diagnostics)) {
		return command.Usage("%w", err)
	}
	if err != nil {
		return err
	}
	_, err = o.Out.Write(archive)
	return err
}
