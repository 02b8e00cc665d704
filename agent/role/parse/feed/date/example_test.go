package date_test

import (
	"fmt"
	"time"

	"feedmesh/agent/role/parse/feed/date"
)

func ExampleParse() {
	for _, s := range []string{
		"Wed, 04 Mar 2026 05:06:07 +0100",
		"2026-03-04T05:06:07Z",
		"4. März 2026",
		"20 listopad 2026",
		"03/04/2026",
	} {
		if t, ok := date.Parse(s, "hr"); ok {
			fmt.Printf("%s: %s\n", s, t.Format(time.RFC3339))
		} else {
			fmt.Printf("%s: ambiguous or invalid\n", s)
		}
	}
	// Output:
	// Wed, 04 Mar 2026 05:06:07 +0100: 2026-03-04T04:06:07Z
	// 2026-03-04T05:06:07Z: 2026-03-04T05:06:07Z
	// 4. März 2026: 2026-03-04T00:00:00Z
	// 20 listopad 2026: 2026-10-20T00:00:00Z
	// 03/04/2026: ambiguous or invalid
}

func ExampleParseSeconds() {
	seconds, _ := date.ParseSeconds(1772600767)
	milliseconds, _ := date.ParseSeconds(1772600767000)
	fmt.Println(seconds.Equal(milliseconds), seconds.Format(time.DateTime))
	_, ok := date.ParseSeconds(20260304)
	fmt.Println(ok)
	// Output:
	// true 2026-03-04 05:06:07
	// false
}
