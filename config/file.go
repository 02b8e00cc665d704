package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
)

// Types returns what a command-line parser must know to read a [Config]: its
// own types, the environment's prefix, and configuration files in TOML.
func Types() []kong.Option {
	return []kong.Option{
		kong.DefaultEnvars("FEEDMESH"),
		kong.Configuration(File),
		kong.TypeMapper(reflect.TypeFor[Secret](), kong.MapperFunc(readSecret)),
	}
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
	var values map[string]any
	if err := toml.NewDecoder(r).Decode(&values); err != nil {
		var at *toml.DecodeError
		if errors.As(err, &at) {
			row, column := at.Position()
			err = fmt.Errorf("line %d, column %d: %w", row, column, err)
		}
		return nil, err
	}
	f := file{}
	for name, value := range values {
		table, is := value.(map[string]any)
		if !is {
			f[name] = value
			continue
		}
		for key, value := range table {
			f[name+"-"+key] = value
		}
	}
	return f, nil
}

// A file is the settings of a configuration file by the names of their flags.
type file map[string]any

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
	var faults []error
	for name := range f {
		if !known[name] {
			faults = append(faults, fmt.Errorf("there is no setting %q; agent config lists them", name))
		}
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
	switch v := f[flag.Name].(type) {
	case nil:
		return nil, nil
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = fmt.Sprint(v[i])
		}
		return strings.Join(parts, ","), nil
	default:
		return fmt.Sprint(v), nil
	}
}
