// A server that cannot be reached is reported with the variable that names it, because that is where a newcomer has to look.
import { expect, it } from "vitest";
import { quietLog } from "../../testkit/quiet-log.ts";
import { connectNats } from "../nats/connect.ts";
import { addressFromUrl } from "../postgres/connection.ts";
import { migrate } from "../postgres/migrate.ts";

// Port 1 is nobody's on a loopback that no other machine reaches.
it("names PORTCULLIS_DATABASE_URL", async () => {
  const { owner } = addressFromUrl("postgres://me@127.0.0.1:1/books", undefined);
  await expect(migrate(owner, [], quietLog)).rejects.toThrow(
    /The database books at 127\.0\.0\.1:1 cannot be reached as me: .*\. Check PORTCULLIS_DATABASE_URL\.$/,
  );
});

it("names PORTCULLIS_DATABASE_URL only with an if where the embedded server may be meant", async () => {
  const { owner } = addressFromUrl("postgres://me@127.0.0.1:1/books", undefined);
  await expect(migrate({ ...owner, host: "/nowhere" }, [], quietLog)).rejects.toThrow(
    /Check PORTCULLIS_DATABASE_URL, if it is set\.$/,
  );
});

it("names PORTCULLIS_BUS_URL", async () => {
  await expect(connectNats({ url: "nats://127.0.0.1:1", name: "test", log: quietLog })).rejects.toThrow(
    /No NATS server at nats:\/\/127\.0\.0\.1:1 accepts us: .*\. Check PORTCULLIS_BUS_URL\.$/,
  );
});
