// What a unit of work to its known end does about collisions; lost answers are tested with halts and envelopes.
import { expect, test } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import type { Log } from "../../ports/log.ts";
import type { ServicePorts } from "./service.ts";
import { transactToKnownEnd } from "./unknown-outcome.ts";

const silence = (): undefined => undefined;
const log: Log = { debug: silence, info: silence, warn: silence, error: silence, with: () => log };

/** A store whose every unit of work collides so many times with others. */
function colliding(times: number, code: "STORE_CONFLICT" | "STORE_UNAVAILABLE" = "STORE_CONFLICT") {
  const seen = { begun: 0 };
  const store = {
    async transact(_name: string, work: (unit: never) => Promise<unknown>) {
      seen.begun += 1;
      if (seen.begun <= times) throw new Fault(code, "others were first", { retry: "now" });
      return work({} as never);
    },
  };
  return { seen, ports: { store, timers: {}, log } as unknown as Pick<ServicePorts, "store" | "timers" | "log"> };
}

test("what collided is begun again until it is through", async () => {
  const { seen, ports } = colliding(5);
  expect(await transactToKnownEnd(ports, "x", async () => "done")).toBe("done");
  expect(seen.begun).toBe(6);
});

test("it is not begun for ever, and nothing else is begun again", async () => {
  const endless = colliding(Number.POSITIVE_INFINITY);
  await expect(transactToKnownEnd(endless.ports, "x", async () => "")).rejects.toMatchObject({
    code: "STORE_CONFLICT",
  });
  expect(endless.seen.begun).toBe(20);
  const down = colliding(1, "STORE_UNAVAILABLE");
  await expect(transactToKnownEnd(down.ports, "x", async () => "")).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
  });
  expect(down.seen.begun).toBe(1);
});
