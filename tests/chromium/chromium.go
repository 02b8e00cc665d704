// Package chromium starts the distribution's Chromium for tests, without network access beyond this machine.
// [Open] returns a browser that ends with its test.
package chromium

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// Open starts a browser that ends with the test, or after a timeout of patience. The context belongs to its
// first tab. Without Chromium the test is skipped.
func Open(t testing.TB, timeout time.Duration) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), timeout)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewExecAllocator(ctx,
		chromedp.ExecPath(program(t)), chromedp.UserDataDir(t.TempDir()), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-site-isolation-trials", true), chromedp.Flag("disable-features", "IsolateOrigins,site-per-process"),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"),
	)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	return ctx
}

// program returns the path of Chromium.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("SKIPPED, NOT TESTED: there is no chromium, chromium-browser or google-chrome here")
	return ""
}
