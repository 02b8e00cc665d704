// Subscribes to a feed at a WebSub hub with the library pubsubhubbub, prints "subscribed", then each feed that the hub sends, as a
// line of JSON. With a line of standard input it unsubscribes, and prints "unsubscribed". Arguments: topic, hub, port of the callback.
import { createHmac } from "node:crypto";
import { createServer } from "pubsubhubbub";

const [topic, hub, port] = process.argv.slice(2);
const subscriber = createServer({ callbackUrl: `http://127.0.0.1:${port}/push?of=test`, secret: "a secret", leaseSeconds: 3600 });
const fail = (err) => {
  console.error(err);
  process.exit(1);
};
subscriber.on("error", fail);
subscriber.on("denied", fail);
subscriber.on("subscribe", ({ topic, lease }) => console.log("subscribed", topic, Math.round((lease * 1000 - Date.now()) / 1000)));
subscriber.on("unsubscribe", () => console.log("unsubscribed"));
subscriber.on("feed", ({ topic, feed, headers }) => console.log(JSON.stringify({ topic, feed: feed.toString(), type: headers["content-type"] })));
subscriber.on("listen", () => {
  subscriber.subscribe(topic, hub, (err) => err && fail(err));
  // The library sends a secret derived from the topic, but verifies with that of its options (1.0.2).
  subscriber.secret = createHmac("sha1", subscriber.secret).update(topic).digest("hex");
});
process.stdin.on("data", () => subscriber.unsubscribe(topic, hub, (err) => err && fail(err)));
process.stdin.on("end", () => process.exit());
subscriber.listen(Number(port), "127.0.0.1");
