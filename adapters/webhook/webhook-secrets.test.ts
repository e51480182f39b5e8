// The secret of a fund's webhook: checked, kept as a hash for a moment, rotated with an overlap, and found nowhere else.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Identity, NamedAction, Outcome } from "../../ports/identity.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { RotatedSecret, WebhookSecrets } from "../../ports/webhook.ts";
import { makeFileFixture } from "../../testkit/secrets-file/folders.ts";
import { systemRandom } from "../system/random.ts";
import { type FundSecrets, fundSecrets } from "./fund-secrets.ts";
import { webhookSecrets } from "./rotate-secret.ts";

const folder = "secret/portcullis";
const duty = { kind: "operator", actor: "operator:duty", subject: "x|duty" } as unknown as Identity;
const random = systemRandom();

let fixture: Awaited<ReturnType<typeof makeFileFixture>>;
let kept: Secrets;
let passedMs: number;
let reads: string[];
let fails: boolean;
let published: { readonly subject: string; readonly payload: object }[];
let named: NamedAction[];
let checks: FundSecrets;
let rotations: WebhookSecrets;

const begin = parse("2026-11-15T13:30:00Z");
const clock = { now: () => plusMilliseconds(begin, passedMs) };

beforeEach(async () => {
  fixture = await makeFileFixture();
  kept = await fixture.open();
  [passedMs, reads, fails, published, named] = [0, [], false, [], []];
  const secrets: Pick<Secrets, "get" | "put"> = {
    get: async (path) => {
      reads.push(path);
      if (fails) throw new Error("the store is away");
      return kept.get(path);
    },
    put: (path, value, options) => kept.put(path, value, options),
  };
  checks = fundSecrets({ secrets, clock, stopwatch: () => passedMs * 1_000, random, folder });
  const unit = {
    stepUps: {
      redeem: async (shown: { readonly named: NamedAction; readonly proof: string | undefined }) => {
        named.push(shown.named);
        return shown.proof === "good" ? undefined : { code: "STEP_UP_REQUIRED", reason: "A proof is needed." };
      },
    },
    events: {
      publish: async ({ name }: { readonly name: string }, payload: object) => {
        published.push({ subject: name, payload });
      },
    },
  };
  const store = { transact: (_name: string, work: (given: never) => unknown) => work(unit as never) } as never;
  rotations = webhookSecrets({ secrets, store, clock, random, folder, changed: (fundId) => checks.forget(fundId) });
});
afterEach(() => fixture.close());

async function rotate(overlapS = 900, proof = "good"): Promise<RotatedSecret> {
  const outcome: Outcome<RotatedSecret> = await rotations.rotate(
    duty,
    { fundId: "alpha", overlapS, reason: "new" },
    proof,
  );
  if (!outcome.ok) throw new Error(outcome.denial.code);
  return outcome.value;
}

describe("a secret", () => {
  it("is right for its own fund alone; there is none for a fund without one, an unknown fund, or a strange name", async () => {
    await kept.put(`${folder}/tradingview/alpha`, "the-right-one");
    expect(await checks.isRight("alpha", "the-right-one")).toBe(true);
    for (const [fundId, given] of [
      ["alpha", "the-right-onE"],
      ["alpha", ""],
      ["beta", "the-right-one"],
      ["", "the-right-one"],
      ["../tradingview/alpha", "the-right-one"],
      ["alpha/x", ""],
    ] as const) {
      expect([fundId, given, await checks.isRight(fundId, given)]).toEqual([fundId, given, false]);
    }
  });

  it("is remembered for five seconds and no longer", async () => {
    await kept.put(`${folder}/tradingview/alpha`, "one");
    expect(await checks.isRight("alpha", "one")).toBe(true);
    await kept.put(`${folder}/tradingview/alpha`, "two");
    passedMs = 4_999;
    expect(await checks.isRight("alpha", "one")).toBe(true);
    passedMs = 5_000;
    expect(await checks.isRight("alpha", "one")).toBe(false);
  });

  it("that was just written elsewhere works, without a read of the store for every guess", async () => {
    await kept.put(`${folder}/tradingview/alpha`, "one");
    expect(await checks.isRight("alpha", "wrong")).toBe(false);
    reads.length = 0;
    for (let guess = 0; guess < 50; guess += 1) await checks.isRight("alpha", `wrong-${guess}`);
    expect(reads).toEqual([]);
    await kept.put(`${folder}/tradingview/alpha`, "two");
    passedMs = 250;
    expect(await checks.isRight("alpha", "two")).toBe(true);
  });

  it("is neither right nor wrong while the store is away", async () => {
    await kept.put(`${folder}/tradingview/alpha`, "one");
    expect(await checks.isRight("alpha", "one")).toBe(true);
    fails = true;
    expect(await checks.isRight("alpha", "one")).toBe(true);
    passedMs = 5_000;
    await expect(checks.isRight("alpha", "one")).rejects.toThrow("away");
    fails = false;
    expect(await checks.isRight("alpha", "one")).toBe(true);
  });
});

describe("a rotation", () => {
  it("makes the first one, plain text of its own path", async () => {
    const first = await rotate();
    expect(first).toMatchObject({ fundId: "alpha", version: 1, previousValidUntil: undefined });
    expect(first.secret).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect((await kept.get(`${folder}/tradingview/alpha`))?.value).toBe(first.secret);
    expect(await checks.isRight("alpha", first.secret)).toBe(true);
    expect(await rotations.stateOf("alpha")).toEqual({
      fundId: "alpha",
      version: 1,
      rotatedAt: begin,
      previousValidUntil: undefined,
    });
    expect(await rotations.stateOf("beta")).toMatchObject({ version: 0, rotatedAt: undefined });
  });

  it("keeps the one before good for the overlap, then the new one alone", async () => {
    const first = await rotate();
    expect(await checks.isRight("alpha", first.secret)).toBe(true);
    const second = await rotate(900);
    expect(second).toMatchObject({ version: 2, previousValidUntil: plusMilliseconds(begin, 900_000) });
    const goodAt = async (ms: number) => {
      passedMs = ms;
      return [await checks.isRight("alpha", first.secret), await checks.isRight("alpha", second.secret)];
    };
    expect(await goodAt(0)).toEqual([true, true]);
    expect(await goodAt(899_999)).toEqual([true, true]);
    // The end holds to the millisecond, also for what was read before it.
    expect(await goodAt(900_000)).toEqual([false, true]);
  });

  it("again within the overlap keeps all of them for as long as they were promised; without an overlap none", async () => {
    const [first, second, third] = [await rotate(), await rotate(600), await rotate(900)];
    passedMs = 599_999;
    for (const { secret } of [first, second, third]) expect(await checks.isRight("alpha", secret)).toBe(true);
    passedMs = 600_000;
    expect(await checks.isRight("alpha", first.secret)).toBe(false);
    expect(await checks.isRight("alpha", second.secret)).toBe(true);
    const last = await rotate(0);
    expect(last.previousValidUntil).toBeUndefined();
    for (const { secret } of [first, second, third]) expect(await checks.isRight("alpha", secret)).toBe(false);
    expect(await checks.isRight("alpha", last.secret)).toBe(true);
  });

  it("needs a proof for this fund and overlap, and changes nothing without", async () => {
    const outcome = await rotations.rotate(duty, { fundId: "alpha", overlapS: 60, reason: "x" }, undefined);
    expect(outcome).toMatchObject({ ok: false, denial: { code: "STEP_UP_REQUIRED" } });
    expect(named).toEqual([{ action: "RotateWebhookSecret", parameters: { fund_id: "alpha", overlap_s: 60 } }]);
    expect(await kept.list(folder)).toEqual([]);
    expect(published).toMatchObject([{ payload: { allowed: false, code: "STEP_UP_REQUIRED", target: "alpha" } }]);
  });

  it("is recorded without the secret or anything computed from it", async () => {
    const { secret } = await rotate();
    expect(published).toMatchObject([
      {
        payload: {
          operator: "operator:duty",
          verb: "RotateWebhookSecret",
          target: "alpha",
          allowed: true,
          reason: "new",
        },
      },
    ]);
    expect(JSON.stringify(published)).not.toContain(secret);
  });
});
