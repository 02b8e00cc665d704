package node

import (
	"net/netip"
	"slices"
	"testing"
)

func TestOwnListeners_AllForms(t *testing.T) {
	got := ownListeners("127.0.0.1:8080", ":8081", "0.0.0.0:6222", "[::1]:80", "", "127.0.0.1:0", "no address")
	want := []netip.AddrPort{
		netip.MustParseAddrPort("127.0.0.1:8080"), netip.MustParseAddrPort("[::]:8081"),
		netip.MustParseAddrPort("0.0.0.0:6222"), netip.MustParseAddrPort("[::1]:80"),
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
