package near

// mix spreads the bits of x. It is the finalizer of MurmurHash3 and stable, so derived values may be stored.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// hash returns a hash of s that is equal on all machines: FNV-1a, mixed.
func hash[S string | []byte](s S) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}
