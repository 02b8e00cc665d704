package config_test

import (
	"fmt"

	"feedmesh/config"
)

func ExampleConfig_Validate() {
	c := config.Default()
	c.Crawl.Parallel = 0
	c.Cluster.Window = 0
	fmt.Println(c.Validate())
	// Output:
	// crawl.parallel: 0 is not between 1 and 10000
	// cluster.window: 0s is less than 1h
}

func ExampleAddress() {
	store := config.Address("postgres://feedmesh:s3cret@db.example/feedmesh")
	fmt.Println(store)
	// Output: postgres://(hidden)@db.example/feedmesh
}
