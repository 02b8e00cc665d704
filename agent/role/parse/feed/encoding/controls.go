package encoding

// WithoutControls returns s without the valid UTF-8 characters that XML forbids, or s itself if it contains
// none.
func WithoutControls[T string | []byte](s T) T {
	i := beforeControl(s)
	if i == len(s) {
		return s
	}
	kept := append(make([]byte, 0, len(s)), s[:i]...)
	for ; i < len(s); i++ {
		if !isControl(s[i]) {
			kept = append(kept, s[i])
		}
	}
	return T(kept)
}

// beforeControl returns the number of bytes before the first such character. It tests eight bytes at a time
// because most texts contain none.
//
// Source: S. E. Anderson, Bit Twiddling Hacks, "Determine if a word has a byte less than n".
func beforeControl[T string | []byte](s T) int {
	const ones = 0x0101010101010101
	for i := 0; i < len(s); {
		if rest := s[i:]; len(rest) >= 8 {
			word := uint64(rest[0]) | uint64(rest[1])<<8 | uint64(rest[2])<<16 | uint64(rest[3])<<24 |
				uint64(rest[4])<<32 | uint64(rest[5])<<40 | uint64(rest[6])<<48 | uint64(rest[7])<<56
			if (word-0x20*ones)&^word&highBits == 0 {
				i += 8
				continue
			}
		}
		if isControl(s[i]) {
			return i
		}
		i++
	}
	return len(s)
}

// highBits are the highest bits of eight bytes, which are zero in ASCII.
const highBits = 0x8080808080808080

func isControl(c byte) bool { return c < 0x20 && c != '\t' && c != '\n' && c != '\r' }
