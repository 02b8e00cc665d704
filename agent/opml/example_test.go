package opml_test

import (
	"fmt"
	"os"
	"strings"

	"feedmesh/agent/opml"
)

func ExampleRead() {
	list := `<opml version="2.0"><body>
<outline text="Go"><outline text="The Go Blog" xmlUrl="https://go.dev/blog/feed.atom"/></outline>
</body></opml>`
	feeds, err := opml.Read(strings.NewReader(list))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range feeds {
		fmt.Println(f.Title, f.URL, f.Tags)
	}
	// Output: The Go Blog https://go.dev/blog/feed.atom [Go]
}

func ExampleWrite() {
	feeds := []opml.Feed{{URL: "https://go.dev/blog/feed.atom", Title: "The Go Blog", Tags: []string{"Go"}}}
	if err := opml.Write(os.Stdout, "My feeds", feeds); err != nil {
		fmt.Println(err)
	}
	// Output:
	// <?xml version="1.0" encoding="UTF-8"?>
	// <opml version="2.0">
	//   <head>
	//     <title>My feeds</title>
	//   </head>
	//   <body>
	//     <outline text="Go">
	//       <outline text="The Go Blog" title="The Go Blog" type="rss" xmlUrl="https://go.dev/blog/feed.atom"></outline>
	//     </outline>
	//   </body>
	// </opml>
}
