// The remote procedures: who is recorded, what is refused, and how a broken log is reported.
import { describe, expect, it } from "vitest";
import { auditActions, ownActions, unreadActions } from "../../../../contracts/src/audit-actions.ts";
import type { AuditEntry, AuditTrail } from "../../../../contracts/src/generated/svc/v1/audit.ts";
import type { Identity } from "../../../../ports/identity.ts";
import type { RpcCall } from "../../../../ports/rpc.ts";
import { auditFixture, rewriteAndRechain } from "../../../../testkit/audit/service-fixture.ts";

const call = {
  requestId: "r-1",
  identity: { kind: "service", actor: "service:oms", name: "oms", roles: ["service"] } as unknown as Identity,
  isGone: () => false,
  signal: new AbortController().signal,
  requestBytes: new Uint8Array(10),
} satisfies RpcCall;

async function procedures(seed: number) {
  const fixture = auditFixture({ seed });
  const { audit } = await fixture.start();
  const ask = (name: string, request: object, by: RpcCall = call): Promise<unknown> => {
    const handler = audit.rpcHandlers[name];
    if (handler === undefined) throw new Error(`no ${name}`);
    return fixture.finish(handler(request as never, by));
  };
  return { fixture, audit, ask };
}

const request = { actor: "", action: "note.made", subject_id: "order-1", data: { text: "hello", count: 3 } };

describe("AppendAudit", () => {
  it("records the caller as proved, and a name in the request as a claim", async () => {
    const { ask } = await procedures(61);
    const first = (await ask("AppendAudit", request)) as AuditEntry;
    expect(first).toMatchObject({
      sequence: 1,
      actor: "service:oms",
      action: "note.made",
      data: { text: "hello", count: 3, subject_previous: null },
    });
    expect(first.hash).toMatch(/^[0-9a-f]{64}$/);
    const second = (await ask("AppendAudit", { ...request, actor: "operator:ada" })) as AuditEntry;
    expect(second).toMatchObject({
      actor: "service:oms",
      prev_hash: first.hash,
      data: { claimed_actor: "operator:ada", subject_previous: 1 },
    });
    const trail = (await ask("GetAuditTrail", { subject_id: "order-1" })) as AuditTrail;
    expect(trail.entries).toEqual([first, second]);
  });

  it("answers a key that was used before with the entry it made, refuses it for another content, and keeps callers apart", async () => {
    const { ask, fixture } = await procedures(60);
    const keyed = { ...request, idempotency_key: 'k "1"' };
    const first = (await ask("AppendAudit", keyed)) as AuditEntry;
    expect(await ask("AppendAudit", keyed)).toEqual(first);
    const others = [{ data: {} }, { subject_id: "order-2" }, { action: "note.changed" }, { actor: "operator:ada" }];
    for (const other of others) {
      const reason = expect.stringContaining('The idempotency_key "k \\"1\\"" made entry 1, with another content');
      expect(await ask("AppendAudit", { ...keyed, ...other })).toEqual({
        denial: { code: "AUDIT_KEY_CONFLICT", reason },
      });
    }
    const treasury = {
      ...call,
      identity: { kind: "service", actor: "service:treasury", name: "treasury" } as Identity,
    };
    expect(await ask("AppendAudit", keyed, treasury)).toMatchObject({ sequence: 2, actor: "service:treasury" });
    expect(await ask("AppendAudit", { ...keyed, idempotency_key: "k-2" })).toMatchObject({ sequence: 3 });
    for (const key of ["", "k".repeat(201)]) {
      const asked = ask("AppendAudit", { ...keyed, idempotency_key: key });
      await expect(asked).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(fixture.disk.head.size).toBe(4);
  });

  it("22.8: takes any JSON object and gives back what was sent", async () => {
    const { ask, audit, fixture } = await procedures(67);
    const data = {
      price: 0.1,
      rates: [1.5, -2.25e-9, 1e21, 1.7976931348623157e308, 5e-324, 9_007_199_254_740_991],
      text: { "": "", '\u20ac "x"': [null, true, {}, []] },
    };
    expect(await ask("AppendAudit", { ...request, data })).toMatchObject({ sequence: 1, data });
    expect(await ask("AppendAudit", { ...request, data: { zero: -0 } })).toMatchObject({ data: { zero: 0 } });
    const text = Buffer.from(fixture.disk.rows[1]?.text ?? []).toString("utf8");
    expect(text).toContain('"price":0.1,"rates":[1.5,-2.25e-9,1e+21,1.7976931348623157e+308,5e-324,9007199254740991]');
    const sentence = "data.id: a whole number beyond 9007199254740991 (2^53 - 1) may have lost digits: send it as text";
    const asked = ask("AppendAudit", { ...request, data: { id: 2 ** 53 + 2 } });
    await expect(asked).rejects.toMatchObject({ message: expect.stringContaining(sentence) });
    await fixture.finish(audit.flush());
    expect(await ask("VerifyAudit", { from_sequence: 0 })).toMatchObject({ trust_level: "L1", entry_count: 3 });
    const keyed = { ...request, data: { x: 0.5 }, idempotency_key: "k" };
    const first = await ask("AppendAudit", keyed);
    expect(await ask("AppendAudit", { ...keyed, data: { x: 5e-1 } })).toEqual(first);
    expect(await ask("AppendAudit", { ...keyed, data: { x: 0.25 } })).toMatchObject({
      denial: { code: "AUDIT_KEY_CONFLICT" },
    });
  });

  it("refuses what is no entry or not the caller's to write", async () => {
    const { ask } = await procedures(62);
    const wrong = [{ data: { x: 2 ** 53 } }, { data: { x: Number.NaN } }, { action: "" }, { subject_id: "" }];
    for (const each of wrong) {
      await expect(ask("AppendAudit", { ...request, ...each })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    const large = { ...call, requestBytes: new Uint8Array(100_001) };
    await expect(ask("AppendAudit", request, large)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    await expect(ask("GetAuditTrail", { subject_id: "" })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});

describe("AppendAudit by somebody who wants to be taken for the platform", () => {
  it("22.8: takes any printable action, and texts without what cannot be seen", async () => {
    const { ask, fixture } = await procedures(64);
    const actions: readonly (readonly [string, string])[] = [
      ["note.made\u200b", "cannot be seen (U+200B)"],
      ["note\u0000made", "cannot be seen (U+0000)"],
      ["note.made\n", "cannot be seen (U+000A)"],
      ["note\u007fmade", "cannot be seen (U+007F)"],
      ["note\u0085made", "cannot be seen (U+0085)"],
      ["note\u2028made", "cannot be seen (U+2028)"],
      ["note\u00a0made", "cannot be seen (U+00A0)"],
      ["\u202eetadpu", "cannot be seen (U+202E)"],
      ["note\ud83d", "not printable (U+D83D)"],
      ["note \ue000", "not printable (U+E000)"],
      ["note \u0378", "not printable (U+0378)"],
      ["note \uffff", "not printable (U+FFFF)"],
      ["re\u0301sume\u0301 sent", "(NFC)"],
      [" note", "begins or ends with a space"],
      ["note ", "begins or ends with a space"],
      [" ", "begins or ends with a space"],
      ["", "1 to 128 characters"],
      ["n".repeat(129), "1 to 128 characters"],
      ["\ud83d\ude00".repeat(129), "1 to 128 characters"],
    ];
    for (const [action, sentence] of actions) {
      const message = expect.stringContaining(sentence);
      const asked = ask("AppendAudit", { ...request, action });
      await expect(asked, JSON.stringify(action)).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message });
    }
    const unseen = [
      "\u0000",
      "\n",
      "\u200b",
      "\u202e",
      "\u00ad",
      "\ufe0f",
      "\u2028",
      "\u3164",
      "\u00a0",
      "\u2800",
      "\ufeff",
    ];
    for (const character of unseen) {
      for (const field of ["subject_id", "actor"]) {
        const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
        const asked = ask("AppendAudit", { ...request, [field]: `operator:${character}ada` });
        const message = expect.stringContaining(`${field} has a character that cannot be seen (U+${code})`);
        await expect(asked, code).rejects.toMatchObject({ code: "INVALID_ARGUMENT", message });
      }
    }
    for (const wrong of [{ subject_id: " o-1" }, { subject_id: "o-1 " }, { actor: "a".repeat(257) }]) {
      await expect(ask("AppendAudit", { ...request, ...wrong })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(fixture.disk.head.size).toBe(1);
    for (const action of [
      "note",
      "order.placed",
      "fill.split",
      "desk-book.closed_early",
      "a1.b2",
      `n${"o".repeat(127)}`,
      "Note.Made",
      '1. note \u2014 "quoted", 100 % \\o/',
      "Gr\u00f6\u00dfe ge\u00e4ndert",
      "\u6ce8\u6587\u306e\u53d6\u6d88",
      "\ud83d\ude00".repeat(128),
      "Key account called",
      "halted",
    ]) {
      expect(
        await ask("AppendAudit", { ...request, action, subject_id: "Gr\u00f6\u00dfe 1 \ud83d\ude00" }),
      ).toMatchObject({ action });
    }
  });

  it("is denied every name of the platform's, its families, and what only looks like one", async () => {
    const { ask, fixture } = await procedures(65);
    const names = Object.values(auditActions).flatMap((rule) => ("actions" in rule ? rule.actions : []));
    expect(names.length).toBeGreaterThan(30);
    const others = [
      "order_decided",
      "order-decided",
      "operator.promoted",
      "chain",
      "key.lost",
      "event.seen",
      "signing.done",
      "Order.Decided",
      "ORDER DECIDED",
      "order\u2024decided",
      "\u043erder.decided",
      "\uff4f\uff52\uff44\uff45\uff52.decided",
      "\u00f6rder..decided!",
      "0rder.decided",
      "H\u00e4lt: lifted by nobody",
      "\u041d\u0410LT/x",
      "a1arm.raised",
    ];
    for (const action of [...names, ...Object.keys(ownActions), ...Object.keys(unreadActions), ...others]) {
      const answer = await ask("AppendAudit", { ...request, action });
      const reason = expect.stringContaining(`The action ${action} is or reads as the platform's own`);
      expect(answer).toEqual({ denial: { code: "AUDIT_NAME_RESERVED", reason } });
    }
    expect(fixture.disk.head.size).toBe(1);
  });

  it("is denied the members of data that the platform writes, and nothing that looks sealed", async () => {
    const { ask, fixture } = await procedures(66);
    const members = [
      "subject_previous",
      "claimed_actor",
      "claimed_source",
      "at",
      "event_id",
      "payload",
      "source",
      "subject",
    ];
    for (const member of members) {
      const answer = await ask("AppendAudit", { ...request, data: { [member]: "operator:ada" } });
      const reason = `The platform writes ${member} into the data: name it otherwise.`;
      expect(answer).toEqual({ denial: { code: "AUDIT_NAME_RESERVED", reason } });
    }
    const sealed = { list: [{ remote_address: { sealed: "AAAA", subject_key: "k" } }] };
    await expect(ask("AppendAudit", { ...request, data: sealed })).rejects.toThrow(/sealed and subject_key/);
    expect(fixture.disk.head.size).toBe(1);
    const deeper = { note: { at: "1", payload: {}, claimed_actor: "x" }, reason: "r" };
    expect(await ask("AppendAudit", { ...request, data: deeper })).toMatchObject({ data: deeper });
  });
});

describe("VerifyAudit", () => {
  it("answers count, level and tail, and a broken log with the fields of the ChainIntegrityError", async () => {
    const { fixture, audit, ask } = await procedures(63);
    for (let n = 0; n < 5; n += 1) await ask("AppendAudit", request);
    expect(await ask("VerifyAudit", { from_sequence: 0 })).toEqual({
      entry_count: 6,
      trust_level: "L0",
      unanchored_count: 6,
      covered_size: 0,
      gap_count: 0,
    });
    await fixture.finish(audit.flush());
    expect(await ask("VerifyAudit", { from_sequence: 2 })).toEqual({
      entry_count: 4,
      trust_level: "L1",
      unanchored_count: 0,
      covered_size: 6,
      gap_count: 0,
    });
    await expect(ask("VerifyAudit", { from_sequence: 7 })).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
    rewriteAndRechain(fixture.disk, 3, { text: "other" });
    await expect(ask("VerifyAudit", { from_sequence: 0 })).rejects.toMatchObject({
      code: "CHAIN_INTEGRITY",
      facts: { code: "ROOT_MISMATCH", sequence: 6, expected: expect.any(String), actual: expect.any(String) },
    });
  });
});
