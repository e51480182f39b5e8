// The line on the charting webhook: quiet where no fund takes alerts, and with what to do where alerts cannot come in or a secret is old.
import { expect, it } from "vitest";
import { fromUnixMs } from "../../../contracts/src/instant.ts";
import type { Context } from "../verbs/verb.ts";
import { webhookCheck } from "./webhook.ts";

const fund = (fund_id: string, version: number, rotated_at?: string) => ({
  fund_id,
  mode: "PAPER",
  version,
  rotated_at,
});
const now = fromUnixMs(Date.parse("2026-11-15T13:30:00Z"));
const reachable = { source_addresses: ["52.89.214.238"], trusted_proxies: ["10.0.0.7"], host: "127.0.0.1" };
const lineOf = async (status: object) => {
  const client = async () => ({ getWebhookStatus: async () => ({ ...reachable, ...status }) });
  return (await webhookCheck({ client, clock: { now: () => now } } as unknown as Context))[0];
};
const fresh = [fund("alpha", 1, "2026-11-01T00:00:00.000000Z")];

it.each([
  [
    "no fund has a secret",
    { funds: [fund("alpha", 0), fund("beta", 0)], trusted_proxies: [] },
    "ok",
    /no fund takes alerts; no secret: alpha, beta/,
  ],
  ["all is well", { funds: [...fresh, fund("beta", 0)] }, "ok", /alpha takes alerts; no secret: beta/],
  ["written elsewhere", { funds: [fund("alpha", 3)] }, "ok", /alpha takes alerts/],
  ["an old secret", { funds: [fund("alpha", 1, "2026-08-01T00:00:00.000000Z")] }, "warn", /older than 90 days: alpha/],
  ["nobody is listed", { funds: fresh, source_addresses: [] }, "warn", /source_addresses is empty/],
  ["nobody can come in", { funds: fresh, trusted_proxies: [] }, "warn", /listens on 127.0.0.1 alone/],
  [
    "sent from this machine",
    { funds: fresh, trusted_proxies: [], source_addresses: ["127.0.0.1"] },
    "ok",
    /alpha takes/,
  ],
  [
    "a proxy that is not trusted",
    { funds: fresh, untrusted_proxy: { address: "10.0.0.9", last_seen_at: "2026-11-15T13:29:00.000000Z" } },
    "warn",
    /through 10\.0\.0\.9.*not trusted/,
  ],
])("%s", async (_what, status, state, words) => {
  const line = await lineOf(status);
  expect([line?.state, line?.advice !== undefined]).toEqual([state, state === "warn"]);
  expect(line?.detail).toMatch(words);
});
