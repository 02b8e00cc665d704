package members

import (
	"errors"
	"fmt"
	"time"

	"feedmesh/classify/view"
	"feedmesh/classify/view/network"
	"feedmesh/storage"
)

// A compiled value is the views of the store, ready to be evaluated. It does not change.
type compiled struct {
	network   *network.Network
	views     []definition // each follows those that it reads
	numbers   map[int64]int
	names     map[string]int
	isLeftOut map[int64]bool
	problems  map[string]error // of views that are left out, by name

	// Numbers of the views of which members are looked up by story or by original.
	byStory, byOriginal []int64
	isJoined            map[int64]bool // another view depends on the stories of its members
}

// A definition is a view with the record that defines it.
type definition struct {
	view.View
	stored storage.View
}

// byNumber returns the view with a number, nil for none.
func (c *compiled) byNumber(number int64) *definition {
	if i, is := c.numbers[number]; is {
		return &c.views[i]
	}
	return nil
}

// byName returns the view with a name, which exists.
func (c *compiled) byName(name string) view.View { return c.views[c.names[name]].View }

// compile returns the views that can be evaluated: unreadable ones and those that read such are left out.
func compile(stored []storage.View, now time.Time, sample []*network.Document) (*compiled, error) {
	c := &compiled{numbers: map[int64]int{}, names: map[string]int{}, isLeftOut: map[int64]bool{}, problems: map[string]error{}, isJoined: map[int64]bool{}}
	records := map[string]storage.View{}
	var readable []view.View
	for _, record := range stored {
		records[record.Name] = record
		v, err := view.Parse(record.Definition)
		if err == nil && v.Name != record.Name {
			err = fmt.Errorf("its definition is that of view %s", v.Name)
		}
		if err != nil {
			c.problems[record.Name] = err
			continue
		}
		readable = append(readable, v)
	}
	sorted, problems := orderable(readable)
	for name, err := range problems {
		c.problems[name] = err
	}
	for name := range c.problems {
		c.isLeftOut[records[name].Number] = true
	}
	var err error
	if c.network, err = network.Compile(sorted, now, sample); err != nil {
		return nil, err
	}
	for i, v := range sorted {
		record := records[v.Name]
		c.views = append(c.views, definition{v, record})
		c.numbers[record.Number], c.names[v.Name] = i, i
	}
	c.findRelations()
	return c, nil
}

// orderable returns the views in the order of [view.Order], without those that read themselves or missing ones.
func orderable(views []view.View) (sorted []view.View, problems map[string]error) {
	problems = map[string]error{}
	for {
		sorted, err := view.Order(views)
		if err == nil {
			return sorted, problems
		}
		out := map[string]bool{}
		var missing *view.MissingError
		var cycle *view.CycleError
		switch {
		case errors.As(err, &missing):
			out[missing.View] = true
		case errors.As(err, &cycle):
			for _, name := range cycle.Chain {
				out[name] = true
			}
		}
		kept := views[:0:0]
		for _, v := range views {
			if out[v.Name] {
				problems[v.Name] = err
			} else {
				kept = append(kept, v)
			}
		}
		views = kept
	}
}

func (c *compiled) findRelations() {
	for _, v := range c.views {
		if v.Join != nil {
			c.isJoined[c.views[c.names[v.Join.View]].stored.Number] = true
		}
	}
	for _, v := range c.views {
		number := v.stored.Number
		if v.Once == view.PerStory || c.isJoined[number] {
			c.byStory = append(c.byStory, number)
		}
		if v.Once == view.PerDuplicate {
			c.byOriginal = append(c.byOriginal, number)
		}
	}
}
