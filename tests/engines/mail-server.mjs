// An SMTP server with an inbox for tests: mail-server.mjs CERTIFICATE KEY HTTP STARTTLS IMPLICIT PLAIN, the last four ports. GET / of the
// port HTTP returns the mails as JSON, as mailparser reads them. STARTTLS and IMPLICIT require the login of feedmesh; PLAIN
// has no encryption and needs no login. Some receivers are rejected: see rejected.
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { SMTPServer } from "smtp-server";
import { simpleParser } from "mailparser";

const [cert, key, ...ports] = process.argv.slice(2);
const [http, starttls, implicit, plain] = ports.map(Number);
const mails = [];
const rejected = {
  gone: [550, "5.1.1 <gone@EXAMPLE.org>: no mailbox of this name"],
  unknown: [550, "No such user here"],
  blocked: [550, "5.7.1 The sender is blocked, no such user matters"],
  busy: [450, "4.2.1 Try again in a minute"],
};

function problem([responseCode, text]) {
  return Object.assign(new Error(text), { responseCode });
}

function listen(port, options) {
  new SMTPServer({
    ...options, cert: readFileSync(cert), key: readFileSync(key), disableReverseLookup: true, closeTimeout: 100,
    onAuth({ username, password }, session, done) {
      if (username === "feedmesh" && password === "a secret of the user") return done(null, { user: username });
      done(problem([535, `5.7.8 wrong password ${password}`]));
    },
    onRcptTo({ address }, session, done) {
      const name = address.split("@")[0];
      if (name === "silent") return; // no response
      done(rejected[name] && problem(rejected[name]));
    },
    onData(stream, session, done) {
      const chunks = [];
      stream.on("data", (chunk) => chunks.push(chunk));
      stream.on("end", async () => {
        const raw = Buffer.concat(chunks);
        const mail = await simpleParser(raw, { skipImageLinks: true, skipTextToHtml: true });
        if (mail.subject.startsWith("Reject")) return done(problem([554, "5.6.0 content of " + session.envelope.rcptTo[0].address + " is rejected"]));
        mails.push({
          from: session.envelope.mailFrom.address, to: session.envelope.rcptTo.map((to) => to.address),
          secure: session.secure, user: session.user ?? "", size: raw.length, raw: raw.toString("latin1"),
          headers: mail.headerLines.map(({ key, line }) => [key, line]),
          sender: mail.from.text, receiver: mail.to.text, subject: mail.subject, text: mail.text, html: mail.html, messageId: mail.messageId,
        });
        done();
      });
    },
  }).on("error", () => {}).listen(port, "127.0.0.1");
}

listen(starttls, {});
listen(implicit, { secure: true });
listen(plain, { authOptional: true, hideSTARTTLS: true });
createServer((request, response) => response.end(JSON.stringify(mails))).listen(http, "127.0.0.1");
