// Near compares the detection of near-duplicates on labelled items with published methods:
//
//	go run ./tools/near eval copies.jsonl.gz headlines.jsonl.gz
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"feedmesh/classify/near"
	"feedmesh/tools/command"
	"feedmesh/tools/near/eval"
)

func main() {
	command.Main("near", "Evaluate the detection of near-duplicates.", new(nearCommand))
}

// A nearCommand groups the commands about near-duplicates.
type nearCommand struct {
	Eval nearEvalCommand `cmd:"" help:"Evaluate near-duplicate detection, by this and by published methods."`
}

// A nearEvalCommand measures near-duplicate detection.
type nearEvalCommand struct {
	Title       float64  `placeholder:"SHARE" help:"Minimum share of common 4-grams for equal titles; by default the built-in threshold."`
	Resemblance float64  `placeholder:"SHARE" help:"Minimum share of common shingles for equal texts."`
	Containment float64  `placeholder:"SHARE" help:"Minimum share of the shorter text that the longer one contains."`
	JSON        bool     `name:"json" help:"Print JSON."`
	Files       []string `arg:"" name:"file" type:"existingfile" help:"Labelled items, one JSON object per line; may be gzip."`
}

// Help implements kong's HelpProvider.
func (nearEvalCommand) Help() string {
	return `The items of a FILE have an id, a title, and optionally body, url and feed.
If they have a dup_group (and a relation: "original", or the kind of copy),
the detection of copies is measured:

    {"id": "1", "title": "Helm 4 is out", "body": "...", "dup_group": "a", "relation": "original"}

If they have a story, and titles only, edited titles are searched among
other headlines of their stories. If they also have a source, a site that lists posts of others,
a story is an address, and further posts of it are searched by their titles. Thresholds are tuned on half of the groups or
stories, and results are measured on the other half; a hash of the label selects the half.

    go run ./tools/near eval copies.jsonl.gz headlines.jsonl.gz`
}

// Validate is called by kong.
func (c *nearEvalCommand) Validate() error {
	for name, share := range map[string]float64{"title": c.Title, "resemblance": c.Resemblance, "containment": c.Containment} {
		if share < 0 || share > 1 {
			return fmt.Errorf("--%s: %v is not between 0 and 1", name, share)
		}
	}
	return nil
}

// A nearReport is the result of one file.
type nearReport struct {
	File    string         `json:"file"`
	Copies  []eval.Copies  `json:"copies,omitempty"`
	Titles  []eval.Titles  `json:"titles,omitempty"`
	Reposts []eval.Reposts `json:"reposts,omitempty"`
	Cost    eval.Cost      `json:"cost"`
}

// Run implements the command.
func (c *nearEvalCommand) Run(o *command.Output) error {
	settings := c.settings()
	var all []nearReport
	for _, name := range c.Files {
		result, err := evaluateNear(name, settings)
		if err != nil {
			return err
		}
		if all = append(all, result); c.JSON {
			continue
		}
		if err := result.print(o.Out); err != nil {
			return err
		}
	}
	if c.JSON {
		return o.JSON(all)
	}
	return nil
}

// settings returns the default thresholds with those of the flags applied.
func (c *nearEvalCommand) settings() near.Settings {
	s := near.Default()
	for _, flag := range []struct {
		share float64
		of    *float64
	}{{c.Title, &s.TitleJaccard}, {c.Resemblance, &s.Resemblance}, {c.Containment, &s.Containment}} {
		if flag.share > 0 {
			*flag.of = flag.share
		}
	}
	return s
}

func evaluateNear(name string, settings near.Settings) (nearReport, error) {
	result := nearReport{File: filepath.Base(name)}
	file, err := os.Open(name)
	if err != nil {
		return result, command.Usage("read items: %w", err)
	}
	defer file.Close()
	items, err := eval.Read(file)
	if err != nil {
		return result, command.Usage("%s: %w", name, err)
	}
	switch {
	case slices.ContainsFunc(items, func(i eval.Item) bool { return i.Story != "" }):
		result.Titles = eval.CompareTitles(items, eval.Methods(settings))
		if slices.ContainsFunc(items, func(i eval.Item) bool { return i.Reposted }) {
			result.Reposts = eval.PlaceReposts(items, settings)
		}
	case slices.ContainsFunc(items, func(i eval.Item) bool { return i.Group != i.ID }):
		placed, _ := eval.PlaceCopies(items, settings, true)
		result.Copies = append([]eval.Copies{placed}, eval.CompareCopies(items, eval.Methods(settings))...)
	default:
		return result, command.Usage("%s has no item with a dup_group or a story", name)
	}
	result.Cost = eval.Costs(items, settings)
	return result, nil
}

func (r nearReport) print(w io.Writer) error {
	fmt.Fprintln(w, r.File)
	var err error
	if r.Copies != nil {
		err = eval.PrintCopies(w, r.Copies)
	} else {
		err = eval.PrintTitles(w, r.Titles)
	}
	if err != nil {
		return err
	}
	if err := eval.PrintReposts(w, r.Reposts); err != nil {
		return err
	}
	if err := r.Cost.Print(w); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}
