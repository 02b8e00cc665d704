package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Types returns the options with which kong parses a [Config]: custom types, the environment's prefix, and
// configuration files in TOML.
func Types() []kong.Option {
	return []kong.Option{
		kong.DefaultEnvars("FEEDMESH"),
		kong.Configuration(File),
		typeMapper(),
	}
}

// Sections returns the names of the groups of settings, in their order, such as "crawl". A name prefixes the flags
// of its group, and is the name of its table in a configuration file.
func Sections() []string {
	var names []string
	settings := reflect.TypeFor[Config]()
	for i := range settings.NumField() {
		name := strings.TrimSuffix(settings.Field(i).Tag.Get("prefix"), "-")
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func typeMapper() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[Secret](), kong.MapperFunc(readSecret))
}

// readSecret decodes a secret; a value with a leading @ names a file with the secret.
func readSecret(ctx *kong.DecodeContext, target reflect.Value) error {
	var s string
	if err := ctx.Scan.PopValueInto("secret", &s); err != nil {
		return err
	}
	if path, is := strings.CutPrefix(s, "@"); is {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		s = strings.TrimSpace(string(data))
	}
	target.SetString(s)
	return nil
}

// File parses a configuration file in TOML. Keys are the names of the flags; those of a section
// ("crawl-timeout") may also be in a table ("[crawl] timeout").
func File(r io.Reader) (kong.Resolver, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // UTF-8 byte order mark of Windows editors
	var values map[string]any
	if err := toml.Unmarshal(data, &values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			err = fmt.Errorf("line %d, column %d: %w", row, column, err)
		}
		return nil, err
	}
	f := file{values: map[string]any{}, lines: map[string]int{}}
	if err := f.addLines(data); err != nil {
		return nil, err
	}
	return f, f.addValues("", values)
}

// A file contains the settings of a configuration file and their lines, by flag name.
type file struct {
	values map[string]any
	lines  map[string]int
}

// addValues adds the values of a table. A setting in both forms is an error.
func (f file) addValues(prefix string, values map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		name := prefix + key
		if table, is := values[key].(map[string]any); is {
			if err := f.addValues(name+"-", table); err != nil {
				return err
			}
			continue
		}
		if _, is := f.values[name]; is {
			return fmt.Errorf("%s is set twice (line %d)", name, f.line(name))
		}
		f.values[name] = values[key]
	}
	return nil
}

// addLines records the lines of all keys. The file must be valid TOML.
func (f file) addLines(data []byte) error {
	var p unstable.Parser
	p.Reset(data)
	section := ""
	for p.NextExpression() {
		e := p.Expression()
		name, line := "", 0
		for key := e.Key(); key.Next(); {
			name += "-" + string(key.Node().Data)
			line = p.Shape(key.Node().Raw).Start.Line
		}
		if e.Kind == unstable.KeyValue {
			name = section + name
		} else {
			section = name
		}
		f.lines[strings.TrimPrefix(name, "-")] = line
	}
	return p.Error()
}

// line returns the line of a setting, or of the table that contains it.
func (f file) line(name string) int {
	for {
		if line, is := f.lines[name]; is {
			return line
		}
		end := strings.LastIndex(name, "-")
		if end < 0 {
			return 0
		}
		name = name[:end]
	}
}

// Validate rejects unregistered settings, so that a mistyped name is not silently ignored.
func (f file) Validate(app *kong.Application) error {
	registered := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				registered[flag.Name] = true
			}
		}
	}
	var unknown []string
	for name := range f.values {
		if !registered[name] {
			unknown = append(unknown, name)
		}
	}
	slices.SortFunc(unknown, func(a, b string) int { return cmp.Or(f.line(a)-f.line(b), strings.Compare(a, b)) })
	var errs []error
	for _, name := range unknown {
		errs = append(errs, fmt.Errorf("unknown setting %q (line %d); agent config lists all settings", name, f.line(name)))
	}
	return errors.Join(errs...)
}

// Resolve returns the file's value for a flag, or nil. The environment overrides the file.
func (f file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, set := os.LookupEnv(env); set {
			return nil, nil
		}
	}
	switch v := f.values[flag.Name].(type) {
	case nil:
		return nil, nil
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			switch v[i].(type) {
			case map[string]any, []any:
				return nil, fmt.Errorf("invalid value: a list of lists or tables (line %d)", f.line(flag.Name))
			}
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ","), nil
	default:
		return fmt.Sprint(v), nil
	}
}
