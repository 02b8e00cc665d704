package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"time"

	"feedmesh/agent/simulate"
)

// address returns the i-th address of this machine, all of them loopback ones.
func address(i int) string { return fmt.Sprintf("127.1.%d.%d", i/250, 1+i%250) }

// serveFarm serves the feeds on as many addresses as this system has of them.
func serveFarm(ctx context.Context, port string, feeds, items, hosts int) error {
	farm := simulate.NewFarm(feeds, items, time.Now().Add(-time.Hour))
	mux := http.NewServeMux()
	mux.Handle("/feed/", farm)
	mux.HandleFunc("POST /publish", func(http.ResponseWriter, *http.Request) { farm.Publish() })
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) {
		requests, _ := farm.Count()
		fmt.Fprint(w, requests)
	})
	server := &http.Server{Handler: mux}
	for i := range hosts {
		l, err := net.Listen("tcp", net.JoinHostPort(address(i), port))
		if err != nil {
			return err
		}
		go server.Serve(l)
	}
	<-ctx.Done()
	return server.Close()
}

// A remoteFarm is the process that serves the feeds.
type remoteFarm struct {
	cmd  *exec.Cmd
	base string
	urls []string
}

func startFarm(ctx context.Context, feeds, items, hosts int) (*remoteFarm, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address(0), "0"))
	if err != nil {
		return nil, fmt.Errorf("this system has no address %s; the benchmark needs Linux: %w", address(0), err)
	}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	l.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	f := &remoteFarm{base: "http://" + net.JoinHostPort(address(0), port)}
	f.cmd = exec.CommandContext(ctx, self, "-serve", port, "-feeds", strconv.Itoa(feeds), "-items", strconv.Itoa(items), "-hosts", strconv.Itoa(hosts))
	f.cmd.Stderr = os.Stderr
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	for i := range feeds {
		f.urls = append(f.urls, fmt.Sprintf("http://%s/feed/%d", net.JoinHostPort(address(i%hosts), port), i))
	}
	for range 100 {
		if _, err = f.count(); err == nil {
			return f, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.stop()
	return nil, fmt.Errorf("the farm does not serve: %w", err)
}

func (f *remoteFarm) stop() {
	f.cmd.Process.Kill()
	f.cmd.Wait()
}

// count returns how many requests for feeds came.
func (f *remoteFarm) count() (int, error) {
	response, err := http.Get(f.base + "/count")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(string(body))
}

// publish has every feed publish one more entry.
func (f *remoteFarm) publish() error {
	response, err := http.Post(f.base+"/publish", "", nil)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}
