// The keys of somebody else's issuer: away at the start, away later, wrong about itself, or asked for keys that it does not have.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { quietLog } from "../../../testkit/quiet-log.ts";
import { fixtureKey, publishKeys } from "../../../testkit/verifier-fixtures.ts";
import { systemTimers } from "../../system/timers.ts";
import { type ExternalKeys, type ExternalKeysOptions, openExternalKeys } from "./external-keys.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function published(port = 0) {
  const issuer = await publishKeys(port);
  ends.push(issuer.stop);
  return issuer;
}

/** Moves only when it is pushed, so that a slow machine does not end a pause. */
function handClock() {
  let at = fromMicroseconds(1_800_000_000_000_000);
  return {
    now: () => at,
    push: (ms: number) => {
      at = plusMilliseconds(at, ms);
    },
  };
}

function opened(issuer: string, options: Partial<ExternalKeysOptions> = {}) {
  const clock = handClock();
  const timers = systemTimers();
  const keys = openExternalKeys({ clock, timers, log: quietLog, issuer, ...options });
  ends.push(async () => {
    await keys.close();
    timers.release();
  });
  return { keys, clock };
}

/** Runs the garbage collector now; whoever relies on something that nobody holds is found out. */
function collector(): () => void {
  setFlagsFromString("--expose-gc");
  return runInNewContext("gc") as () => void;
}

const codeOf = (keys: ExternalKeys, kid: string): Promise<string> =>
  keys.keyFor({ alg: "ES256", kid }).then(
    () => "found",
    (thrown: unknown) => (thrown instanceof Fault ? thrown.code : (thrown as Error).name),
  );

/** An issuer that takes every question and answers none. */
async function silent(): Promise<string> {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("keys of an external issuer", () => {
  it("4: an issuer that is silent holds nobody up for long", async () => {
    // The question itself goes on for longer than this test may take.
    const { keys } = opened(await silent(), { waitMsMax: 100, timeoutMs: 600_000 });
    expect(await Promise.all([codeOf(keys, "a"), codeOf(keys, "b")])).toEqual([
      "IDENTITY_UNAVAILABLE",
      "IDENTITY_UNAVAILABLE",
    ]);
  });

  it("4: a question that got no answer ends in time, whatever was collected meanwhile", {
    timeout: 20_000,
  }, async () => {
    const collect = collector();
    const { keys } = opened(await silent(), { timeoutMs: 500 });
    const collecting = setInterval(collect, 20);
    try {
      await expect.poll(() => keys.health().complaint).toContain("no answer in time");
    } finally {
      clearInterval(collecting);
    }
  });

  it("5: a key that is too short to be trusted is left out, and that is said once", async () => {
    const issuer = await published();
    const key = await fixtureKey("ES256");
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 1_024 });
    const weak = { ...publicKey.export({ format: "jwk" }), kid: "weak", alg: "RS256", use: "sig" };
    issuer.keys.push(weak, key.publicJwk);
    const said: string[] = [];
    const log = { ...quietLog, warn: (message: string) => void said.push(message) };
    const { keys, clock } = opened(issuer.issuer, { log });
    expect(await codeOf(keys, key.kid)).toBe("found");
    const weakly = () => keys.keyFor({ alg: "RS256", kid: "weak" });
    await expect(weakly()).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
    issuer.keys.push((await fixtureKey("ES256")).publicJwk);
    clock.push(6_000);
    await expect(weakly()).rejects.toMatchObject({ code: "ERR_JWKS_NO_MATCHING_KEY" });
    expect(said).toHaveLength(1);
  });

  it("1: an issuer that is away at the start is IDENTITY_UNAVAILABLE, said by health, and used once it is there", async () => {
    const issuer = await publishKeys();
    const port = Number(new URL(issuer.issuer).port);
    await issuer.stop();
    const { keys, clock } = opened(issuer.issuer);
    expect(await codeOf(keys, "k")).toBe("IDENTITY_UNAVAILABLE");
    expect(keys.health()).toMatchObject({ status: "failing", complaint: expect.stringContaining("ECONNREFUSED") });
    expect(keys.mark()).toBeUndefined();
    const back = await published(port);
    const key = await fixtureKey("ES256");
    back.keys.push(key.publicJwk);
    // The pause after a failure holds for everybody who asks.
    expect([await codeOf(keys, key.kid), back.asked]).toEqual(["IDENTITY_UNAVAILABLE", []]);
    clock.push(60_000);
    expect(await codeOf(keys, key.kid)).toBe("found");
    expect(keys.health()).toEqual({ status: "ok" });
  });

  it("3: keys that were fetched stay good while the issuer is away, for a day", async () => {
    const issuer = await published();
    const key = await fixtureKey("ES256");
    issuer.keys.push(key.publicJwk);
    const { keys, clock } = opened(issuer.issuer);
    expect(await codeOf(keys, key.kid)).toBe("found");
    await issuer.stop();
    clock.push(3_600_000);
    expect([await codeOf(keys, key.kid), keys.health()]).toEqual(["found", { status: "ok" }]);
    // Whether a key is new or made up only the issuer can tell.
    expect(await codeOf(keys, "unheard-of")).toBe("IDENTITY_UNAVAILABLE");
    clock.push(86_400_000);
    expect([await codeOf(keys, key.kid), keys.mark()]).toEqual(["IDENTITY_UNAVAILABLE", undefined]);
  });

  it("2: key ids that nobody knows make one request per cooldown", async () => {
    const issuer = await published();
    const { keys, clock } = opened(issuer.issuer);
    await codeOf(keys, "first");
    const requests = () => issuer.asked.filter((path) => path === "/jwks").length;
    const before = requests();
    for (let n = 0; n < 50; n += 1) expect(await codeOf(keys, `garbage-${n}`)).toBe("JWKSNoMatchingKey");
    expect(requests()).toBe(before);
    clock.push(6_000);
    await Promise.all(Array.from({ length: 50 }, (_, n) => codeOf(keys, `garbage-${n}`)));
    expect(requests()).toBe(before + 1);
  });

  it("2: the mark changes with the published keys and only with them", async () => {
    const issuer = await published();
    const [one, two] = [await fixtureKey("ES256"), await fixtureKey("ES256")];
    issuer.keys.push(one.publicJwk);
    const { keys, clock } = opened(issuer.issuer);
    await codeOf(keys, one.kid);
    const mark = keys.mark();
    clock.push(6_000);
    expect([await codeOf(keys, "other"), keys.mark()]).toEqual(["JWKSNoMatchingKey", mark]);
    issuer.keys.push(two.publicJwk);
    clock.push(6_000);
    await codeOf(keys, two.kid);
    expect(keys.mark()).not.toBe(mark);
  });

  it("1: an issuer that names itself differently, or sends elsewhere for its keys, is not believed", async () => {
    const key = await fixtureKey("ES256");
    for (const changes of [
      { issuer: "https://elsewhere.example" },
      { issuer: undefined },
      { jwks_uri: "http://keys.example/jwks" },
      { jwks_uri: "file:///etc/passwd" },
      { jwks_uri: undefined },
      { jwks_uri: 7 },
    ]) {
      const issuer = await published();
      issuer.keys.push(key.publicJwk);
      Object.assign(issuer.changes, changes);
      const { keys } = opened(issuer.issuer);
      expect(await codeOf(keys, key.kid), JSON.stringify(changes)).toBe("IDENTITY_UNAVAILABLE");
      expect(issuer.asked).not.toContain("/jwks");
    }
    const issuer = await published();
    issuer.keys.push(...Array.from({ length: 20_000 }, () => ({ ...key.publicJwk })));
    const { keys } = opened(issuer.issuer);
    expect(await codeOf(keys, key.kid)).toBe("IDENTITY_UNAVAILABLE");
    expect(keys.health().complaint).toContain("bytes");
  });
});
