package main

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"feedmesh/config"
)

// settings are those of a node, without the method by which kong would check
// them: it would say the wrong name, and could not be told to go on.
type settings config.Config

// A settingsCommand prints the effective settings.
type settingsCommand struct {
	Settings settings `embed:""`
}

// Help implements kong's HelpProvider.
func (settingsCommand) Help() string {
	return `What is printed is a file for --config:

    agent config > feedmesh.toml

Check a file before a node starts with it:

    agent config --config feedmesh.toml > /dev/null`
}

// Run implements the command.
func (c *settingsCommand) Run(p *program, k *kong.Context) error {
	sections := sectionsOf(reflect.TypeFor[config.Config]())
	pg, section := p.page(), ""
	for _, flag := range k.Selected().Flags {
		name := flag.Name
		for _, s := range sections {
			if rest, is := strings.CutPrefix(name, s+"-"); is {
				name = rest
				if section != s {
					section = s
					pg.printf("[%s]\n\n", s)
				}
			}
		}
		pg.printf("# %s\n# %s\n", flag.Help, strings.Join(flag.Envs, ", "))
		pg.printf("%s\n\n", setting(name, flag.Target))
	}
	return faults(config.Config(c.Settings))
}

// sectionsOf returns the names of the groups of settings, "crawl" and so on.
func sectionsOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		if prefix := t.Field(i).Tag.Get("prefix"); prefix != "" {
			names = append(names, strings.TrimSuffix(prefix, "-"))
		}
	}
	return names
}

// setting returns a setting as a line of TOML. What has a secret becomes a
// comment: what is printed instead of the secret must not be taken for it.
func setting(name string, value reflect.Value) string {
	var v any
	comment := ""
	switch x := value.Interface().(type) {
	case config.Secret:
		if x != "" {
			return "# " + name + " is set, and hidden"
		}
		v = ""
	case config.Address:
		if v = x.String(); v != string(x) {
			comment = "# "
		}
	case []config.Address:
		shown := make([]string, len(x))
		for i, address := range x {
			if shown[i] = address.String(); shown[i] != string(address) {
				comment = "# "
			}
		}
		v = shown
	case fmt.Stringer:
		v = x.String()
	default:
		v = x
	}
	line, err := toml.Marshal(map[string]any{name: v})
	if err != nil {
		return "# " + name + " can't be written: " + err.Error()
	}
	return comment + strings.TrimSpace(string(line))
}
