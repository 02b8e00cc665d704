package command

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"feedmesh/config"
)

// settings is [config.Config] without its Validate method, so that kong does not call it: `agent config` must
// print invalid settings too.
type settings config.Config

// A settingsCommand prints the effective settings.
type settingsCommand struct {
	Settings settings `embed:""`
}

// Help implements kong's HelpProvider.
func (settingsCommand) Help() string {
	return `The output is a settings file for --config:

    agent config > feedmesh.toml

Check a settings file before starting a node with it:

    agent config --config feedmesh.toml > /dev/null`
}

// Run implements the command.
func (c *settingsCommand) Run(p *program, k *kong.Context) error {
	sections := config.Sections()
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
	return validate(config.Config(c.Settings))
}

// setting formats a setting as a line of TOML. Values with secrets are commented out, so that the hidden form
// is not read back as the value.
func setting(name string, value reflect.Value) string {
	var v any
	comment := ""
	switch x := value.Interface().(type) {
	case config.Secret:
		if x != "" {
			return "# " + name + " is set (hidden)"
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
		return "# " + name + " cannot be formatted: " + err.Error()
	}
	return comment + strings.TrimSpace(string(line))
}
