// A halt is latched within a second while a viewer has a million decisions verified and others ask for moments and pages of that past, one question after the other. The
// same is measured before anybody asks, so that the machine's own slowness shows.
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addressOfSocket, openPool } from "../adapters/postgres/connection.ts";
import { ownerRoleName } from "../adapters/postgres/embedded/cluster.ts";
import type { DecisionsVerdict } from "../contracts/src/generated/svc/v1/replay.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";
import { bearerOf, operatorUrl } from "../testkit/login.ts";
import { eventually, type Platform, startPlatform } from "../testkit/platform.ts";
import { quietLog } from "../testkit/quiet-log.ts";
import { momentIn, type RecordedPast, recordPast } from "../testkit/replay/recorded-past.ts";
import { openRiskClient } from "../testkit/risk/client.ts";
import { prng } from "../testkit/virtual/prng.ts";

const decisions = Number(process.env["REPLAY_DECISIONS"] ?? 1_000_000);
const haltMsMax = 1_000;
/** Each is halted once; nothing is let go meanwhile. */
const scopes = ["alpha-momentum", "alpha-meanrev", "beta-trend", "gamma-income", "beta", "gamma", "alpha", ""];
const calmScopes = 2;
const timeout = 3_600_000;

let platform: Platform;
let owner: pg.Pool;
let past: RecordedPast;

beforeAll(async () => {
  platform = startPlatform();
  await platform.ready();
  const { host, port } = platform.runFile().database;
  const target = addressOfSocket(host, port, ownerRoleName).owner;
  owner = openPool(target, { log: quietLog, applicationName: "replay halts", sizeMax: 2 });
  const client = await openRiskClient(platform);
  try {
    const say = (line: string): void => void process.stderr.write(`${line}\n`);
    past = await recordPast(owner, client, { entries: decisions, of: "denials", days: 7 }, say);
  } finally {
    client.close();
  }
}, timeout);

afterAll(async () => {
  await owner?.end();
  await platform?.end();
}, 120_000);

async function ask(
  who: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly document: unknown }> {
  const answer = await fetchOnNewConnection(`${operatorUrl(platform)}${path}`, {
    headers: { ...(await headersOf(who)), "content-type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(60_000),
  });
  return { status: answer.status, document: await answer.json() };
}

const known = new Map<string, { readonly at: number; readonly headers: Readonly<Record<string, string>> }>();

/** Tokens are short-lived. */
async function headersOf(who: string): Promise<Readonly<Record<string, string>>> {
  const before = known.get(who);
  if (before !== undefined && Date.now() - before.at < 120_000) return before.headers;
  const headers = await bearerOf(platform, who);
  known.set(who, { at: Date.now(), headers });
  return headers;
}

/** Milliseconds until it is answered, which is when every engine has it. */
async function halt(scope: string): Promise<number> {
  await headersOf("duty");
  const began = Date.now();
  const { status, document } = await ask("duty", "/v1/halts", {
    ...(scope !== "" && { id: scope }),
    reason: "while the past is looked at",
    confirmation: "HALT",
  });
  const tookMs = Date.now() - began;
  expect([status, document]).toEqual([201, expect.objectContaining({ acknowledged: true })]);
  return tookMs;
}

test("a halt is latched within a second while a million decisions are verified and the past is asked for", {
  timeout,
}, async () => {
  const calm: number[] = [];
  for (const scope of scopes.slice(0, calmScopes)) calm.push(await halt(scope));
  let isOver = false;
  const sum = { decisions: 0, same: 0, different: 0, skipped: 0 };
  const verifying = (async () => {
    for (let from = past.from; from < past.to && !isOver; ) {
      const { status, document } = await ask("viewer", "/v1/replay/verify", {
        fund_id: past.fundId,
        from,
        to: past.to,
      });
      expect([status, document]).toEqual([200, expect.anything()]);
      const verdict = document as DecisionsVerdict;
      for (const name of ["decisions", "same", "different", "skipped"] as const) sum[name] += Number(verdict[name]);
      if (verdict.through <= from) break;
      from = verdict.through;
    }
  })();
  const rolls = prng(47);
  let answered = 0;
  const looking = Promise.all(
    ["duty", "relief"].map(async (who) => {
      while (!isOver) {
        const at = momentIn(past, rolls);
        for (const path of [
          `moment?fund_id=${past.fundId}&at=${at}`,
          `timeline?fund_id=${past.fundId}&from=${at}&to=${past.to}&count_max=500`,
        ]) {
          const { status } = await ask(who, `/v1/replay/${path}`);
          expect([200, 429]).toContain(status);
          if (status === 200) answered += 1;
        }
      }
    }),
  );
  const under: number[] = [];
  try {
    for (const [index, scope] of scopes.slice(calmScopes).entries()) {
      await eventually(
        "they are at it",
        () => sum.decisions > (index * decisions) / 20 || answered > 20 * (index + 1),
        600_000,
      );
      under.push(await halt(scope));
      process.stderr.write(
        `halted in ${under.at(-1)} ms with ${sum.decisions} judged and ${answered} answers; calm ${calm} ms\n`,
      );
    }
    await verifying;
  } finally {
    isOver = true;
    await Promise.allSettled([verifying, looking]);
  }
  await looking;
  process.stderr.write(`${JSON.stringify({ ...sum, answered, calm, under })}\n`);
  expect(sum).toMatchObject({ decisions: past.decisions, different: 0 });
  expect(sum.same).toBe(past.decisions);
  expect(Math.max(...under)).toBeLessThan(Math.max(haltMsMax, 4 * Math.max(...calm)));
});
