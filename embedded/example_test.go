package embedded_test

import (
	"fmt"
	"log/slog"
	"os"
	"time"

	"feedmesh/embedded"
)

// A single server opens no port; clients connect within the process.
func ExampleStart() {
	dir, err := os.MkdirTemp("", "nats")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	server, err := embedded.Start(embedded.Options{Dir: dir, MaxFile: 1 << 30, MaxMessage: 1 << 20, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()
	conn, err := server.Connect()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	sub, err := conn.SubscribeSync("greetings")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := conn.Publish("greetings", []byte("hello")); err != nil {
		fmt.Println(err)
		return
	}
	msg, err := sub.NextMsg(5 * time.Second)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(msg.Data), server.Healthy())
	// Output: hello <nil>
}
