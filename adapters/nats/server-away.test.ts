// A server that is away is waited for; one that refuses us, or a login that cannot be read, is for the start itself to find.
import { afterAll, expect, test } from "vitest";
import { type NatsServer, startNatsServer } from "../../testkit/nats-server.ts";
import { quietLog } from "../../testkit/quiet-log.ts";
import { natsServerAway } from "./server-away.ts";

let server: NatsServer | undefined;
afterAll(() => server?.stop());

test("32.7: away, there, and there but closed to us", async () => {
  const configuration = 'authorization { users = [ { user: "operations", password: "right" } ] }';
  server = await startNatsServer({ jetStream: false, configuration });
  const ask = (url: string, more: object = {}) =>
    natsServerAway({ url, services: ["operations"], log: quietLog, ...more });
  const port = new URL(server.url).port;
  expect(await ask(`nats://operations:right@127.0.0.1:${port}`)).toBeUndefined();
  expect(await ask(`nats://operations:wrong@127.0.0.1:${port}`)).toBeUndefined();
  expect(await ask(server.url, { credsFolder: "/nowhere" })).toBeUndefined();
  await server.stop();
  server = undefined;
  const away = await ask(`nats://operations:right@127.0.0.1:${port}`);
  expect(away).toContain(`No NATS server answers at nats://127.0.0.1:${port}`);
  expect(away).not.toContain("right");
});
