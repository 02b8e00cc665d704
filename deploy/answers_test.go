package deploy_test

import "testing"

// Any node with role api may be asked the same again.
func TestTheAPIsShareWhatTheyAnswered(t *testing.T) {
	c := startCluster(t)
	for _, user := range []string{"all", "api"} { // the first declares the streams
		one, other := c.join(t, user).Answers(), c.join(t, user).Answers()
		_, revision, err := one.Claim(t.Context(), user, []byte("claim"))
		if err != nil {
			t.Fatal(err)
		}
		if revision, err = one.Replace(t.Context(), user, []byte("answer"), revision); err != nil {
			t.Fatal(err)
		}
		if kept, _, err := other.Claim(t.Context(), user, []byte("claim")); err != nil || string(kept) != "answer" {
			t.Errorf("%s: got %s, %v; want what another answered", user, kept, err)
		}
		if err := other.Drop(t.Context(), user, revision); err != nil {
			t.Error(err)
		}
	}
}
