// What a request over gRPC may hold is counted on its bytes, with the bounds that HTTP has; halts are never refused for it, and what is within arrives as
// it was sent.
import { describe, expect, it } from "vitest";
import { requestBounds } from "../../../contracts/src/generated/bounds.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { prng } from "../../../testkit/virtual/prng.ts";
import { codecOf } from "../definitions.ts";
import { withinBounds } from "./within-bounds.ts";

const encoded = (name: string, message: unknown): Uint8Array => codecOf(`svc.v1.${name}`).encode(message).finish();
const many = <One>(count: number, one: (index: number) => One): One[] =>
  Array.from({ length: count }, (_, index) => one(index));
const members = (count: number): Record<string, number> =>
  Object.fromEntries(many(count, (index) => [`k${index}`, index]));

const envelope = (more: object) => ({
  fund_id: "alpha",
  version: 2,
  allowed_brokers: [],
  allowed_order_types: [],
  allowed_asset_classes: [],
  sector_limits_pct: {},
  ...more,
});
const audit = (data: object) => ({ actor: "a", action: "b", subject_id: "c", data });
const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

function complaintAbout(name: string, message: unknown): string | undefined {
  const bytes = encoded(name, message);
  try {
    expect(withinBounds(`svc.v1.${name}`, bytes)).toBe(bytes);
    return undefined;
  } catch (thrown) {
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", retry: "never" });
    return (thrown as Error).message;
  }
}

describe("a request", () => {
  it.each([
    ["a list", "ResumeRequest", { reason: "r", halt_ids: many(10_000, String) }, undefined],
    [
      "a longer list",
      "ResumeRequest",
      { reason: "r", halt_ids: many(10_001, String) },
      "halt_ids: expected at most 10000 entries, and it has more.",
    ],
    ["a map", "RiskEnvelope", envelope({ sector_limits_pct: members(1_000) }), undefined],
    [
      "a larger map",
      "RiskEnvelope",
      envelope({ sector_limits_pct: members(1_001) }),
      "sector_limits_pct: expected at most 1000 members, and it has more.",
    ],
    [
      "one inside another",
      "DiffEnvelopesRequest",
      { fund_id: "a", proposed: envelope({ sector_limits_pct: members(40_000) }) },
      "proposed.sector_limits_pct: expected at most 1000 members, and it has more.",
    ],
    [
      "a list in a list",
      "AcceptBlockRequest",
      { block_id: "b", reason: "r", gaps: [{ block_id: "b", missing: many(201, String) }], more_block_ids: [] },
      "gaps.missing: expected at most 200 entries, and it has more.",
    ],
    ["free data", "AppendAuditRequest", audit({ a: { b: many(997, String) }, c: null }), undefined],
    [
      "more free data",
      "AppendAuditRequest",
      audit({ a: { b: many(999, String) }, c: null }),
      "data: expected at most 1000 values, and it has more.",
    ],
    [
      "members of free data",
      "AppendAuditRequest",
      audit(members(50_000)),
      "data: expected at most 1000 values, and it has more.",
    ],
    [
      "long free data",
      "AppendAuditRequest",
      audit({ a: "\u00e4".repeat(65_536) }),
      "data: expected at most 65536 characters in its texts and names, and it has more.",
    ],
    ["free data as long as may be", "AppendAuditRequest", audit({ a: "\u00e4".repeat(65_535) }), undefined],
    ["deep free data", "AppendAuditRequest", audit(deep(70)), "data: expected at most 64 levels, and it has more."],
    ["a text", "CancelOrderRequest", { order_id: "o", reason: "\u{1f600}".repeat(5_000) }, undefined],
    [
      "a longer text",
      "CancelOrderRequest",
      { order_id: "o", reason: "\u{1f600}".repeat(5_001) },
      "reason: expected at most 10000 characters, and 10002 were sent.",
    ],
    ["no bound at all", "Order", { order_id: "o".repeat(10_000) }, undefined],
  ])("with %s", (_name, type, message, complaint) => {
    expect(complaintAbout(type, message)).toBe(complaint);
  });

  it("that is a halt goes on without the evidence that is too much, and with everything else", () => {
    const halt = { severity: 3, fund_id: "alpha", reason: "r".repeat(100_000), requested_by: "m" };
    const bytes = encoded("HaltRequest", { ...halt, evidence: members(1_001), confirmation: "HALT" });
    const taken = withinBounds("svc.v1.HaltRequest", bytes);
    expect(taken).toEqual(Buffer.from(encoded("HaltRequest", { ...halt, confirmation: "HALT" })));
    const few = encoded("HaltRequest", { ...halt, evidence: members(1_000) });
    expect(withinBounds("svc.v1.HaltRequest", few)).toBe(few);
  });

  const seed = 46;
  it(`of bytes that are no message is left to whoever decodes it (seed ${seed})`, () => {
    const throwing = prng(seed);
    const names = Object.keys(requestBounds);
    for (let count = inputCount(2_000); count > 0; count -= 1) {
      const name = names[throwing.below(names.length)] ?? "";
      const bytes = Uint8Array.from({ length: throwing.below(60) }, () => throwing.below(256));
      expect(withinBounds(`svc.v1.${name}`, bytes)).toBe(bytes);
    }
  });
});
