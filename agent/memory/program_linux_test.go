package memory

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFilePages_OnlyUnmodified(t *testing.T) {
	t.Parallel()
	const smaps = `00400000-0209e000 r-xp 00000000 fe:00 10010770                           /usr/bin/my agent
Size:              29304 kB
Rss:               25516 kB
Anonymous:             0 kB
0209e000-03ddc000 r--p 01c9e000 fe:00 10010770                           /usr/bin/my agent
Rss:               29012 kB
Anonymous:             0 kB
03ddc000-03dde000 r--p 039dc000 fe:00 10010770                           /usr/bin/my agent
Rss:                   8 kB
Anonymous:             4 kB
03dde000-04272000 rw-p 039de000 fe:00 10010770                           /usr/bin/my agent
Rss:                3468 kB
Anonymous:             0 kB
15f22c000000-15f23ec00000 rw-p 00000000 00:00 0 
Anonymous:             0 kB
7fd4eaa00000-7fd4eb098000 r--s 00000000 fe:00 12200363                   /data/index/store/000000000019.zap
Anonymous:             0 kB
7fffffff0000-7fffffff1000 r-xp 00000000 00:00 0                          [vdso]
Anonymous:             0 kB
`
	want := []addressRange{{0x400000, 0x1c9e000}, {0x209e000, 0x1d3e000}}
	if got := filePages("/usr/bin/my agent", smaps); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Not parallel: other tests would load the pages again.
func TestReleaseCode_ReducesFilePages(t *testing.T) {
	before := fileMemory(t)
	releaseCode()
	if after := fileMemory(t); after >= before {
		t.Errorf("got %d kB of file pages before and %d kB after, want fewer", before, after)
	}
}

// fileMemory returns the resident file pages of this process in kB. The kernel counts those of a file in tmpfs
// as shared memory.
func fileMemory(t *testing.T) (size int) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"RssFile:", "RssShmem:"} {
		_, after, _ := strings.Cut(string(status), kind)
		value, _, _ := strings.Cut(after, " kB")
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil {
			t.Fatal(err)
		}
		size += n
	}
	return size
}
