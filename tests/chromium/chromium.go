// Package chromium runs the distribution's Chromium for tests, without network access beyond this machine. A
// test program starts one process: [Open] returns a tab in a browser context of its own, which shares neither
// cookies nor caches nor settings with others, and [Close] ends the process.
package chromium

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Open returns the context of a tab that is closed at the end of the test, or after a timeout. Without
// Chromium the test is skipped.
func Open(t testing.TB, timeout time.Duration) context.Context {
	t.Helper()
	path := Program(t)
	browser, err := started(path)
	if err != nil {
		t.Fatalf("start the browser: %v", err)
	}
	ctx, stop := context.WithTimeout(browser, timeout)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(stop)
	return ctx
}

var (
	mu      sync.Mutex
	current context.Context // of the process; nil: not started
	end     func()
)

// started returns the context of the process, which the first call starts.
func started(path string) (context.Context, error) {
	mu.Lock()
	defer mu.Unlock()
	if current != nil {
		return current, nil
	}
	dir, err := os.MkdirTemp("", "feedmesh-chromium")
	if err != nil {
		return nil, err
	}
	allocated, stopAllocator := chromedp.NewExecAllocator(context.Background(),
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-site-isolation-trials", true), chromedp.Flag("disable-features", "IsolateOrigins,site-per-process"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost"),
	)
	ctx, stop := chromedp.NewContext(allocated)
	remove := func() {
		_ = chromedp.Cancel(ctx) // the process may have ended
		stop()
		stopAllocator()
		_ = os.RemoveAll(dir) // below the system's temporary folder
	}
	if err := chromedp.Do(ctx); err != nil {
		remove()
		return nil, err
	}
	current, end = ctx, remove
	return current, nil
}

// Close ends the process, if it was started: a test program calls it after its tests.
func Close() {
	mu.Lock()
	defer mu.Unlock()
	if current != nil {
		end()
		current = nil
	}
}

// Program returns the path of Chromium. It skips the test if there is none.
func Program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED, NOT TESTED: there is no chromium, chromium-browser or google-chrome here")
	return ""
}
