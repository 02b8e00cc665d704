package report

import (
	"flag"
	"fmt"
)

// Flags sets a part's flags from its arguments, which must be flags only.
func Flags(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("%q is neither an argument of %s nor a part", flags.Arg(0), flags.Name())
	}
	return nil
}
