// The commands about the log's keys: refused without a reason or a proof, on record either way, and done in the name of whoever proved it.
import { describe, expect, it } from "vitest";
import { format, fromMicroseconds, plusMilliseconds } from "../../../../contracts/src/instant.ts";
import type { Identity } from "../../../../ports/identity.ts";
import type { RpcCall } from "../../../../ports/rpc.ts";
import type { Store } from "../../../../ports/store.ts";
import { keyHandlers } from "./key-queries.ts";

const at = fromMicroseconds(1_700_000_000_000_000);
const identity: Identity = {
  kind: "operator",
  actor: "operator:duty",
  name: "duty",
  subject: "x|duty",
  issuer: "x",
  roles: ["admin"],
  tokenId: "t",
  issuedAt: at,
  expiresAt: plusMilliseconds(at, 1_000),
};
const call: RpcCall = {
  requestId: "r",
  identity,
  isGone: () => false,
  signal: new AbortController().signal,
  requestBytes: new Uint8Array(0),
};
const done = { sequence: 41, key: "k+2+B", oldKey: "k+1+A", trustedSize: 42 };

function queries(right: string) {
  const reported: string[] = [];
  const store = {
    transact: async (_name: string, work: (unit: unknown) => Promise<unknown>) =>
      work({
        events: { publish: async (_subject: unknown, payload: object) => void reported.push(JSON.stringify(payload)) },
      }),
  } as unknown as Store;
  const handlers = keyHandlers({
    store,
    clock: { now: () => at },
    stepUps: {
      async redeem(_identity, named, proof) {
        reported.push(`redeem ${named.action} ${JSON.stringify(named.parameters)} ${proof}`);
        return proof === right ? undefined : { code: "STEP_UP_WRONG", reason: "Get a new one." };
      },
    },
    async rotateKey(actor) {
      reported.push(`rotate ${actor}`);
      return done;
    },
    async revokeKey(actor, keyId) {
      reported.push(`revoke ${actor} ${keyId}`);
      return done;
    },
  });
  const ask = (method: string, request: object): Promise<unknown> =>
    handlers[method]?.(request as never, call) ?? Promise.reject(new Error(method));
  return { ask, reported };
}

const record = (verb: string, target: string, more: object) =>
  JSON.stringify({ operator: "operator:duty", verb, target, ...more, at: format(at) });

describe("RotateAuditKey and RevokeAuditKey", () => {
  it("put the reason on record, then change the key in the caller's name", async () => {
    const { ask, reported } = queries("psu_x");
    const answer = { sequence: 41, key: "k+2+B", old_key: "k+1+A", trusted_size: 42 };
    expect(await ask("RotateAuditKey", { reason: "yearly\n", step_up_proof: "psu_x" })).toEqual(answer);
    expect(reported).toEqual([
      "redeem RotateAuditKey {} psu_x",
      record("RotateAuditKey", "audit", { allowed: true, reason: "yearly" }),
      "rotate operator:duty",
    ]);
    reported.length = 0;
    await ask("RevokeAuditKey", { key_id: "1a2b3c4d", reason: "leaked", step_up_proof: "psu_x" });
    expect(reported).toEqual([
      'redeem RevokeAuditKey {"key_id":"1a2b3c4d"} psu_x',
      record("RevokeAuditKey", "audit:1a2b3c4d", { allowed: true, reason: "leaked" }),
      "revoke operator:duty 1a2b3c4d",
    ]);
  });

  it("are refused without a reason, before the proof is used up, and with a wrong proof; both are on record", async () => {
    const { ask, reported } = queries("psu_x");
    expect(await ask("RotateAuditKey", { reason: " \t", step_up_proof: "psu_x" })).toMatchObject({
      denial: { code: "REASON_MISSING" },
    });
    expect(reported).toHaveLength(1);
    expect(reported[0]).toContain('"allowed":false,"code":"REASON_MISSING"');
    expect(await ask("RevokeAuditKey", { key_id: "1a2b3c4d", reason: "r", step_up_proof: "" })).toMatchObject({
      denial: { code: "STEP_UP_WRONG" },
    });
    expect(reported.slice(1)).toEqual([
      'redeem RevokeAuditKey {"key_id":"1a2b3c4d"} undefined',
      expect.stringContaining('"allowed":false,"code":"STEP_UP_WRONG"'),
    ]);
    expect(() => ask("RevokeAuditKey", { key_id: "all", reason: "r", step_up_proof: "psu_x" })).toThrow("eight hex");
  });
});
