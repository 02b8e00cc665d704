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

// Types returns what a command-line parser must know to read a [Config]: its
// own types, the environment's prefix, and configuration files in TOML.
func Types() []kong.Option {
	return []kong.Option{
		kong.DefaultEnvars("FEEDMESH"),
		kong.Configuration(File),
		types(),
	}
}

func types() kong.Option {
	return kong.TypeMapper(reflect.TypeFor[Secret](), kong.MapperFunc(readSecret))
}

// readSecret reads a secret, or with @ before it the file that holds it.
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

// File reads a configuration file: TOML, with the names of the flags, those of
// a section ("crawl-timeout") also in a table of that name ("[crawl] timeout").
func File(r io.Reader) (kong.Resolver, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // Windows editors begin files so
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

// A file is the settings of a configuration file by the names of their flags,
// and the lines they are on.
type file struct {
	values map[string]any
	lines  map[string]int
}

// addValues adds what is in a table. A name may be there in one form only.
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

// addLines adds where names stand in a file without faults.
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

// line returns where a setting stands: itself, or the table it is in.
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

// Validate refuses settings that there are not: a mistyped name that did
// nothing would be worse.
func (f file) Validate(app *kong.Application) error {
	known := map[string]bool{}
	for _, command := range app.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, flag := range group {
				known[flag.Name] = true
			}
		}
	}
	var unknown []string
	for name := range f.values {
		if !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.SortFunc(unknown, func(a, b string) int { return cmp.Or(f.line(a)-f.line(b), strings.Compare(a, b)) })
	var faults []error
	for _, name := range unknown {
		faults = append(faults, fmt.Errorf("there is no setting %q (line %d); agent config lists them", name, f.line(name)))
	}
	return errors.Join(faults...)
}

// Resolve returns the file's value for a flag, or nil. The environment goes
// before it.
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
				return nil, fmt.Errorf("a list of lists or tables is no value (line %d)", f.line(flag.Name))
			}
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ","), nil
	default:
		return fmt.Sprint(v), nil
	}
}
