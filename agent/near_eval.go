package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"feedmesh/classify/near"
	"feedmesh/classify/near/eval"
)

// A nearEvalCommand says how well near-duplicates are found.
type nearEvalCommand struct {
	Title       float64  `env:"-" placeholder:"SHARE" help:"Share of 4-grams from which on titles are the same, in place of the program's own."`
	Resemblance float64  `env:"-" placeholder:"SHARE" help:"Share of shingles from which on texts are the same."`
	Containment float64  `env:"-" placeholder:"SHARE" help:"Share of the shorter text that must be in the longer one."`
	JSON        bool     `env:"-" name:"json" help:"Print JSON."`
	Files       []string `arg:"" name:"file" type:"existingfile" help:"Labelled items, one JSON object a line; may be gzip."`
}

// Help implements kong's HelpProvider.
func (nearEvalCommand) Help() string {
	return `The items of a FILE have an id, a title, and what there is of body, url and feed.
Where they have a dup_group (and a relation: "original", or how the copy was made),
the copies are looked for:

    {"id": "1", "title": "Helm 4 is out", "body": "...", "dup_group": "a", "relation": "original"}

Where they have a story, and titles only, the titles are edited, and looked for among
other headlines of their stories. Thresholds are tuned on half of the groups or
stories, and all is measured on the other half; a hash of the label tells which.

    agent near eval copies.jsonl.gz headlines.jsonl.gz`
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

// A nearEvaluated is what is printed of a file.
type nearEvaluated struct {
	File   string        `json:"file"`
	Copies []eval.Copies `json:"copies,omitempty"`
	Titles []eval.Titles `json:"titles,omitempty"`
	Cost   eval.Cost     `json:"cost"`
}

// Run implements the command.
func (c *nearEvalCommand) Run(p *program) error {
	settings := c.settings()
	var all []nearEvaluated
	for _, name := range c.Files {
		result, err := evaluateNear(name, settings)
		if err != nil {
			return err
		}
		if all = append(all, result); c.JSON {
			continue
		}
		if err := result.print(p.page()); err != nil {
			return err
		}
	}
	if c.JSON {
		return p.printJSON(all)
	}
	return nil
}

// settings returns those that flags ask for.
func (c *nearEvalCommand) settings() near.Settings {
	s := near.Default()
	for _, flag := range []struct {
		share float64
		of    *float64
	}{{c.Title, &s.Title}, {c.Resemblance, &s.Resemblance}, {c.Containment, &s.Containment}} {
		if flag.share > 0 {
			*flag.of = flag.share
		}
	}
	return s
}

func evaluateNear(name string, settings near.Settings) (nearEvaluated, error) {
	result := nearEvaluated{File: filepath.Base(name)}
	file, err := os.Open(name)
	if err != nil {
		return result, wrong("can't read the items: %w", err)
	}
	defer file.Close()
	items, err := eval.Read(file)
	if err != nil {
		return result, wrong("%s: %w", name, err)
	}
	switch {
	case slices.ContainsFunc(items, func(i eval.Item) bool { return i.Story != "" }):
		result.Titles = eval.CompareTitles(items, eval.Methods(settings))
	case slices.ContainsFunc(items, func(i eval.Item) bool { return i.Group != i.ID }):
		placed, _ := eval.PlaceCopies(items, settings, true)
		result.Copies = append([]eval.Copies{placed}, eval.CompareCopies(items, eval.Methods(settings))...)
	default:
		return result, wrong("%s has no item with a dup_group or a story", name)
	}
	result.Cost = eval.Costs(items, settings)
	return result, nil
}

func (r nearEvaluated) print(pg *page) error {
	pg.printf("%s\n", r.File)
	var err error
	if r.Copies != nil {
		err = eval.PrintCopies(pg.w, r.Copies)
	} else {
		err = eval.PrintTitles(pg.w, r.Titles)
	}
	if err != nil {
		return err
	}
	if err := r.Cost.Print(pg.w); err != nil {
		return err
	}
	pg.printf("\n")
	return nil
}
