// An OpenID provider for tests: oidc-provider.mjs PORT REDIRECT-URI. Any login is accepted. The part of it after a colon is
// the name: with the prefix email- a verified address, with unverified- another, with sub- there is none; else the
// preferred_username.
import Provider from "oidc-provider";

const [port, redirect] = process.argv.slice(2);
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "feedmesh", client_secret: "a secret of the client", redirect_uris: [redirect] }],
  cookies: { keys: ["a key of tests"] },
  claims: { openid: ["sub"], profile: ["preferred_username"], email: ["email", "email_verified"] },
  findAccount: (_, id) => ({ accountId: id, claims: () => {
    const name = id.slice(id.indexOf(":") + 1);
    if (id.startsWith("sub-")) return { sub: id };
    if (id.startsWith("email-")) return { sub: id, email: name, email_verified: true };
    if (id.startsWith("unverified-")) return { sub: id, email: name, email_verified: false };
    return { sub: id, preferred_username: name };
  } }),
});
provider.listen(Number(port), "127.0.0.1", () => console.log("listening"));
