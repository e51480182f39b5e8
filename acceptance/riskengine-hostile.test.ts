// Hostile gRPC clients against the running platform: whatever they send and however they send it, the risk engine goes on, approves nothing
// that is not an order, keeps its memory, and answers an honest client beside them. The full count is in the long form.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { brokenFrames, crowd, neverReading, rapidResets, type Target } from "../testkit/hostile/connections.ts";
import { openHonest } from "../testkit/hostile/honest.ts";
import { encodeOrder, goodOrder } from "../testkit/hostile/messages.ts";
import { hostileRounds, parkedCount, residentMb } from "../testkit/hostile/rounds.ts";
import { eventually } from "../testkit/platform.ts";
import { openRiskClient, type RiskClient } from "../testkit/risk/client.ts";
import { sharedPlatform } from "../testkit/shared/shared-platform.ts";
import { prng } from "../testkit/virtual/prng.ts";

const seed = Number(process.env["PORTCULLIS_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
/** What all of this may add to the risk engine's memory, most of it garbage that nobody had to collect yet. */
const growthMbMax = 250;

/** Its processes get by with a small heap, and it is asked about the paper funds alone: approvals that nobody uses leave nothing. */
const shared = sharedPlatform({ funds: 0 });
let client: RiskClient;
let engine: number;
let residentMbBefore: number;

beforeAll(async () => {
  process.stderr.write(`seed ${seed}\n`);
  client = await openRiskClient(shared.platform);
  engine = enginePid();
  residentMbBefore = residentMb(engine);
}, 120_000);

afterAll(async () => {
  client?.close();
});

function enginePid(): number {
  return shared.platform.runFile().processes["riskengine"] ?? 0;
}

function target(): Target {
  return { address: shared.platform.runFile().addresses["riskengine"] ?? "", token: client.serviceToken };
}

/** Somebody who does nothing wrong is answered all the while, and so is somebody who comes afterwards. */
async function besideHonest(name: string, work: () => Promise<unknown>): Promise<void> {
  const honest = await openHonest(shared.platform, `${seed}-${name}`);
  try {
    await work();
  } finally {
    const { asked, approved, unanswered } = await honest.stop();
    expect(unanswered).toEqual([]);
    expect(approved).toBeGreaterThan(0);
    expect(asked).toBeGreaterThan(1);
  }
  const later = await openHonest(shared.platform, `${seed}-${name}-later`);
  expect(await later.stop()).toMatchObject({ unanswered: [] });
}

describe(`hostile clients, seed ${seed}`, { timeout: 120_000 }, () => {
  test("hundreds of messages of every kind: nothing that is no order is approved, and nothing fails inside", async () => {
    const verdict = await hostileRounds({ platform: shared.platform, seed, messageCount: 400, giantRounds: 1 });
    expect(verdict.violations).toEqual([]);
    expect(verdict.sent).toBeGreaterThanOrEqual(400);
    // Among the hostile there are good ones, so the gates were really asked.
    expect(verdict.approvals).toBeGreaterThan(5);
    expect(verdict.honest.unanswered).toEqual([]);
    expect(verdict.honest.approved).toBeGreaterThan(0);
  });

  test("bytes after an order's end cannot speak for the record that it is kept in", async () => {
    const reported = RiskDecision.encode({
      ...RiskDecision.decode(new Uint8Array()),
      approved: true,
      order_id: "forged",
      decision_id: "forged",
      fund_id: "alpha",
    }).finish();
    const order = encodeOrder(goodOrder(`${seed}-forged`, { quantity: "1000000" }));
    const decisionField = Buffer.concat([Buffer.from([0x12, reported.length]), reported]);
    for (const end of [0x00, 0x0c, 0x4c]) {
      const bytes = Buffer.concat([order, Buffer.from([end]), decisionField, Buffer.from([end])]);
      expect(await client.checkBytes(bytes)).toMatchObject({ status: "INVALID_ARGUMENT", answer: undefined });
    }
    expect((await client.checkBytes(order)).answer).toMatchObject({ approved: false, code: "NOTIONAL_ABOVE_MAX" });
  });

  test("an order of many bytes is refused before it is kept", async () => {
    const thesis = "t".repeat(70_000);
    const { status, code, details } = await client.tryCheck(goodOrder(`${seed}-long`, { thesis }));
    expect([status, code]).toEqual(["RESOURCE_EXHAUSTED", "MESSAGE_TOO_LARGE"]);
    expect(details).toContain("65536");
    // The longest that the fields allow is still an order.
    const { answer } = await client.tryCheck(goodOrder(`${seed}-longest`, { thesis: "\u20ac".repeat(4_096) }));
    expect(answer?.rejecting_gate).not.toBe("schema");
  });

  test("a stream that goes bad after good orders ends, and the good ones are answered or can be asked again", async () => {
    await besideHonest("stream", async () => {
      const own = prng(seed).fork("streams");
      for (let round = 0; round < 20; round += 1) {
        const stream = client.stream();
        const orders = Array.from({ length: 5 }, (_, at) => goodOrder(`${seed}-stream-${round}-${at}`));
        for (const order of orders) stream.send(order);
        stream.sendBytes(Buffer.from([0x0a, 0xff, ...own.bytes(20)]));
        for (const order of orders) stream.send({ ...order, order_id: `${order.order_id}-after` });
        const { code } = await stream.ended;
        expect(code).toBe(3);
        const known = new Set(orders.map(({ order_id }) => order_id));
        expect(stream.answers.filter(({ order_id }) => !known.has(order_id))).toEqual([]);
        const [first] = orders;
        if (first === undefined) continue;
        const again = await client.check(first);
        // Decided before the end, or never: both are good as long as it is not decided twice.
        expect(again.code === "DUPLICATE_KEY" ? again.original?.order_id : again.order_id).toBe(first.order_id);
      }
    });
  });

  test("a stream that ends without a word is answered with nothing", async () => {
    const stream = client.stream();
    stream.end();
    expect((await stream.ended).code).toBe(0);
    expect(stream.answers).toEqual([]);
  });

  test("streams that take no answers, calls that are reset at once, frames that make no sense, and a crowd", async () => {
    const own = prng(seed);
    await besideHonest("unread", () => neverReading(target(), `${seed}`, 2_000));
    await besideHonest("resets", () => rapidResets(target(), `${seed}`, 2_000));
    await besideHonest("frames", () => brokenFrames(target(), own.fork("frames"), 60));
    await besideHonest("crowd", () => crowd(target(), own.fork("crowd"), 200, 1_000));
  });

  test("after all that it is the same process, healthy, of bounded memory, and its record can be read", async () => {
    // A machine that was busy with all that may take a moment.
    await eventually("the platform is healthy", async () => (await shared.platform.health()) === 200);
    expect(enginePid()).toBe(engine);
    expect(residentMb(engine) - residentMbBefore).toBeLessThan(growthMbMax);
    expect((await client.rejections("alpha")).status).toBe("OK");
    expect(await parkedCount(shared.platform)).toBe(0);
    expect(shared.platform.stdout()).not.toContain("RPC failed");
  });
});
