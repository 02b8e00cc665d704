package deploy_test

import "testing"

// Repeated requests may reach any node with the role api.
func TestResponses_SharedByAPINodes(t *testing.T) {
	c := startCluster(t)
	for _, user := range []string{"all", "api"} { // the first declares the streams
		one, other := c.join(t, user).Responses(), c.join(t, user).Responses()
		_, revision, err := one.Claim(t.Context(), user, []byte("claim"))
		if err != nil {
			t.Fatal(err)
		}
		if revision, err = one.Replace(t.Context(), user, []byte("answer"), revision); err != nil {
			t.Fatal(err)
		}
		if kept, _, err := other.Claim(t.Context(), user, []byte("claim")); err != nil || string(kept) != "answer" {
			t.Errorf("%s: got %s, %v; want the stored response", user, kept, err)
		}
		if err := other.Delete(t.Context(), user, revision); err != nil {
			t.Error(err)
		}
	}
}
