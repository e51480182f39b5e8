// The routes about the audit chain: which procedure each asks with which message, what it tells, and what becomes of a broken chain.
import { describe, expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import type { HttpAnswer, Route } from "../../../ports/http.ts";
import { ask, type Behaviour, duty, forwardedRoute, machine, testParts } from "../../../testkit/gateway/parts.ts";
import { auditAppend, auditCheckpoint, auditEntries, auditProof, auditStatus, auditTile, auditTrail } from "./audit.ts";

const auditAnewCosign = forwardedRoute("cosignAuditAnew");
const auditAnew = forwardedRoute("beginAuditAnew");
const auditBundleHead = forwardedRoute("getAuditBundleHead");
const auditConsistency = forwardedRoute("getAuditConsistency");
const auditErasure = forwardedRoute("eraseAuditSubject");
const auditInspect = forwardedRoute("inspectAudit");
const auditInspectionBegin = forwardedRoute("beginAuditInspection");
const auditKeyRevoke = forwardedRoute("revokeAuditKey");
const auditKeyRotate = forwardedRoute("rotateAuditKey");
const auditRun = forwardedRoute("watchAuditRun");
const auditVerificationBegin = forwardedRoute("beginAuditVerification");
const auditVerify = forwardedRoute("verifyAudit");

type Parts = ReturnType<typeof testParts>["parts"];
type Make = (parts: Parts) => Route;

function fixture(make: Make, behaviour: Behaviour = {}) {
  const { parts, calls } = testParts(behaviour);
  return { route: make(parts), calls };
}

/** The same with a service that throws this. */
function failing(make: Make, thrown: unknown): Route {
  const { parts } = testParts();
  return make({ ...parts, services: { call: () => Promise.reject(thrown) } });
}

/** A route whose answer is text, which has no schema to go through. */
async function askText(route: Route, params?: unknown): Promise<HttpAnswer> {
  expect(route.answers).toEqual({ 200: "text" });
  return route.handle({
    requestId: "r",
    identity: duty,
    bearer: () => "the-callers-token",
    remoteAddress: "127.0.0.1",
    headers: {},
    params: params === undefined ? undefined : route.params?.safeParse(params).data,
    query: {},
    body: undefined,
  });
}

const options = { bearer: "the-callers-token", requestId: "r", timeoutMs: 10_000 };
const entry = {
  sequence: 7,
  timestamp: "2026-11-15T13:30:00.000000Z",
  actor: "service:feed",
  action: "order.decided",
  subject_id: "o-1",
  data: { quantity: "10", subject_previous: 3, nothing: null },
  prev_hash: "ab".repeat(32),
  hash: "cd".repeat(32),
};

describe("getAuditTrail", () => {
  it("asks for one subject with the caller's token, and tells its entries as an array", async () => {
    const first = { ...entry, data: undefined };
    const { route, calls } = fixture(auditTrail, {
      procedures: { "Operations/GetAuditTrail": { entries: [first, entry] } },
    });
    const answer = await ask(route, { query: { subject_id: "o-1" } });
    expect(answer).toEqual({ status: 200, body: [{ ...entry, data: {} }, entry] });
    const asked = { subject_id: "o-1", from_sequence: 0, count_max: 1_000 };
    expect(calls).toEqual([["Operations/GetAuditTrail", asked, options]]);
  });

  it("tells where the next page is, and how many were before it", async () => {
    const procedures = { "Operations/GetAuditTrail": { entries: [entry, entry], next_sequence: 40 } };
    const { route } = fixture(auditTrail, { procedures });
    const linkOf = async (query: object) => (await ask(route, { query: { subject_id: "a b", ...query } })).headers;
    const next = (rest: string) => ({
      link: `</v1/operations/audit?subject_id=a+b&from_sequence=40&${rest}>; rel="next"`,
    });
    expect(await linkOf({ count_max: "2" })).toEqual(next("count_max=2&count_before=2"));
    expect(await linkOf({ from_sequence: "9", count_max: "2", count_before: "5" })).toEqual(
      next("count_max=2&count_before=7"),
    );
    // Nobody counted what was before, so nothing is said of it.
    expect(await linkOf({ from_sequence: "9" })).toEqual(next("count_max=1000"));
  });

  it.each([{}, { subject_id: "" }, { subject_id: "x".repeat(257) }, { subject: "o-1" }])(
    "refuses %o",
    async (query) => {
      const { route, calls } = fixture(auditTrail);
      expect(await ask(route, { query })).toMatchObject({ status: 400 });
      expect(calls).toEqual([]);
    },
  );
});

describe("appendAudit", () => {
  const appended = { procedures: { "Operations/AppendAudit": entry } };
  const body = { action: "order.decided", subject_id: "o-1", data: { quantity: "10" } };

  it("appends in the name of whoever calls, and answers with the entry", async () => {
    const { route, calls } = fixture(auditAppend, appended);
    expect(await ask(route, { identity: machine, body })).toEqual({ status: 201, body: entry });
    expect(calls[0]).toEqual(["Operations/AppendAudit", { actor: "service:feed", ...body }, options]);
    await ask(route, { identity: machine, body: { action: "a", subject_id: "s" } });
    expect(calls[1]?.[1]).toEqual({ actor: "service:feed", action: "a", subject_id: "s", data: {} });
    await ask(route, { identity: machine, body: { ...body, idempotency_key: "k-1" } });
    expect(calls[2]?.[1]).toEqual({ actor: "service:feed", ...body, idempotency_key: "k-1" });
  });

  const deep = (levels: number): object => (levels === 1 ? {} : { in: deep(levels - 1) });

  it.each([
    ["an actor of the caller's own choice", { ...body, actor: "operator:somebody" }],
    ["no action", { ...body, action: "" }],
    ["an empty key", { ...body, idempotency_key: "" }],
    ["an action that is too long", { ...body, action: "a".repeat(257) }],
    ["no subject", { action: "a" }],
    ["data that is a list", { ...body, data: [1] }],
    ["data that is deeper than an entry may be", { ...body, data: deep(34) }],
  ])("refuses %s", async (_name, wrong) => {
    const { route, calls } = fixture(auditAppend, appended);
    expect(await ask(route, { identity: machine, body: wrong })).toMatchObject({ status: 400 });
    expect(calls).toEqual([]);
  });

  it("tells a key that made another entry as a conflict", async () => {
    const denial = { code: "AUDIT_KEY_CONFLICT", reason: "The idempotency_key made entry 5." } as const;
    const { route } = fixture(auditAppend, { denial });
    expect(await ask(route, { identity: machine, body })).toMatchObject({
      status: 409,
      body: { code: "AUDIT_KEY_CONFLICT", detail: denial.reason },
    });
  });

  it("takes data as deep as an entry may be, and leaves the rest to the service", async () => {
    const { route, calls } = fixture(auditAppend, appended);
    expect(await ask(route, { identity: machine, body: { ...body, data: deep(32) } })).toMatchObject({ status: 201 });
    expect(calls).toHaveLength(1);
  });
});

describe("verifyAudit", () => {
  const clean = { entry_count: 12, gap_count: 0, trust_level: "L1", unanchored_count: 3, covered_size: 9 };

  it("tells a whole chain, and has more time than others", async () => {
    const { route, calls } = fixture(auditVerify, { procedures: { "Operations/VerifyAudit": clean } });
    expect(await ask(route)).toEqual({ status: 200, body: clean });
    await ask(route, { query: { from_sequence: "5" } });
    expect(calls.map((call) => call[1])).toEqual([{ from_sequence: 0 }, { from_sequence: 5 }]);
    expect(calls[0]?.[2]).toEqual({ ...options, timeoutMs: 25_000 });
    for (const from_sequence of ["-1", "1.5", "all", "9007199254740993", " 5", "1e1", "0x10", "+5", "05"]) {
      expect(await ask(route, { query: { from_sequence } }), from_sequence).toMatchObject({ status: 400 });
    }
  });

  const facts = { code: "HASH_MISMATCH", sequence: 5, expected: "ab".repeat(32), actual: "cd".repeat(32) };
  const broken = (given: Fault["facts"]) =>
    new Fault("CHAIN_INTEGRITY", "Entry 5 is not what its hash says.", { retry: "never", facts: given });

  it("is a problem with the place and both values when the chain is broken", async () => {
    expect(await ask(failing(auditVerify, broken(facts)))).toEqual({
      status: 409,
      body: {
        code: "CHAIN_INTEGRITY",
        detail: "Entry 5 is not what its hash says.",
        chain_integrity_error: facts,
      },
    });
    // Whatever carries facts as text.
    const asText = await ask(failing(auditVerify, broken({ ...facts, sequence: "5" })));
    expect(asText.body).toMatchObject({ chain_integrity_error: { sequence: 5 } });
  });

  it("is still that problem when the facts were lost on the way", async () => {
    const answer = await ask(failing(auditVerify, broken({})));
    expect(answer.body).toEqual({ code: "CHAIN_INTEGRITY", detail: "Entry 5 is not what its hash says." });
  });

  it.each([
    ["the trail", auditTrail, { query: { subject_id: "o-1" } }],
    ["a page", auditEntries, {}],
    ["a bundle", auditBundleHead, {}],
    ["an inspection", auditInspect, { body: {} }],
  ] as const)("%s says so in the same way", async (_name, make, asked) => {
    expect(await ask(failing(make, broken(facts)), asked)).toMatchObject({ body: { chain_integrity_error: facts } });
  });

  it("leaves other faults alone, and tells denials", async () => {
    await expect(ask(fixture(auditVerify).route)).rejects.toMatchObject({ code: "SERVICE_UNAVAILABLE" });
    await expect(ask(failing(auditVerify, new Error("ours")))).rejects.toThrow("ours");
    const { route } = fixture(auditVerify, { denial: { code: "REASON_MISSING", reason: "Say why." } });
    expect(await ask(route)).toMatchObject({ body: { code: "REASON_MISSING", detail: "Say why." } });
  });
});

describe("readAudit", () => {
  const texts = ['{"a":"\u00e9\u2028"}', "\ufeff{}"];
  const page = (size: number) => ({ texts: texts.map((text) => new TextEncoder().encode(text)), size });

  it("tells the exact texts, and the next page in the Link header", async () => {
    const { route, calls } = fixture(auditEntries, { procedures: { "AuditDesk/ReadAudit": page(9) } });
    const answer = await ask(route, { query: { from_sequence: "4", count_max: "2" } });
    expect(answer.body).toEqual({ texts, size: 9 });
    expect(answer.headers).toEqual({
      link: '</v1/operations/audit/entries?from_sequence=6&count_max=2>; rel="next"',
    });
    expect(calls).toEqual([["AuditDesk/ReadAudit", { from_sequence: 4, count_max: 2 }, options]]);
  });

  it("has no next page at the end, and leaves the count to the service when none is given", async () => {
    const { route, calls } = fixture(auditEntries, { procedures: { "AuditDesk/ReadAudit": page(2) } });
    expect((await ask(route)).headers).toBeUndefined();
    expect(calls[0]?.[1]).toEqual({ from_sequence: 0, count_max: 0 });
    const beyond = fixture(auditEntries, { procedures: { "AuditDesk/ReadAudit": { texts: [], size: 9 } } }).route;
    expect(await ask(beyond, { query: { from_sequence: "3" } })).toEqual({ status: 200, body: { texts: [], size: 9 } });
    for (const count_max of ["0", "1001", "1.5"]) {
      expect(await ask(route, { query: { count_max } }), count_max).toMatchObject({ status: 400 });
    }
  });

  it("calls an entry that is no text a broken chain", async () => {
    const bytes = { texts: [new TextEncoder().encode("{}"), new Uint8Array([0xff, 0xfe])], size: 9 };
    const { route } = fixture(auditEntries, { procedures: { "AuditDesk/ReadAudit": bytes } });
    const answer = await ask(route, { query: { from_sequence: "4" } });
    expect(answer.body).toMatchObject({
      code: "CHAIN_INTEGRITY",
      chain_integrity_error: { code: "ENTRY_MALFORMED", sequence: 5, expected: "UTF-8" },
    });
    expect(answer.headers).toBeUndefined();
  });
});

describe("proof, bundle head, status, inspection, checkpoint", () => {
  it("hands out a proof as it is", async () => {
    const file = "c2sp.org/tlog-proof@v1\nindex 7\n\norigin\n8\nroot\n\n\u2014 origin sig\n";
    const { route, calls } = fixture(auditProof, { procedures: { "AuditDesk/GetAuditProof": { file } } });
    expect(await askText(route, { sequence: "7" })).toEqual({ status: 200, body: file });
    expect(calls).toEqual([["AuditDesk/GetAuditProof", { sequence: 7 }, options]]);
    expect(await ask(route, { params: { sequence: "seven" } })).toMatchObject({ status: 400 });
    const denied = fixture(auditProof, { denial: { code: "REASON_MISSING", reason: "No." } }).route;
    expect(await askText(denied, { sequence: "7" })).toMatchObject({ body: { code: "REASON_MISSING" } });
  });

  it("proves that the log only grew, up to the newest checkpoint when no second size is given", async () => {
    const sizes = {
      first_size: 3,
      first_root: "Zmlyc3Q=",
      second_size: 8,
      second_root: "c2Vjb25k",
      proof: ["aGFzaA=="],
    };
    const signed = { ...sizes, checkpoint: "origin\n8\nc2Vjb25k\n\n\u2014 origin sig\n" };
    const { route, calls } = fixture(auditConsistency, { procedures: { "AuditDesk/GetAuditConsistency": signed } });
    expect(await ask(route, { query: { first_size: "3" } })).toEqual({ status: 200, body: signed });
    await ask(route, { query: { first_size: "3", second_size: "8" } });
    expect(calls.map((call) => call[1])).toEqual([
      { first_size: 3, second_size: 0 },
      { first_size: 3, second_size: 8 },
    ]);
    for (const query of [{}, { first_size: "-1" }, { first_size: "3", second_size: "0" }]) {
      expect(await ask(route, { query })).toMatchObject({ status: 400 });
    }
    const unsigned = { procedures: { "AuditDesk/GetAuditConsistency": { ...sizes, checkpoint: "" } } };
    expect((await ask(fixture(auditConsistency, unsigned).route, { query: { first_size: "3" } })).body).toEqual(sizes);
  });

  it("begins a bundle", async () => {
    const head = { head: "portcullis-audit-bundle/v1\n{}\n", from_sequence: 5, count: 3 };
    const { route, calls } = fixture(auditBundleHead, { procedures: { "AuditDesk/GetAuditBundleHead": head } });
    expect(await ask(route, { query: { from_sequence: "5", count: "3" } })).toEqual({ status: 200, body: head });
    await ask(route);
    expect(calls.map((call) => call[1])).toEqual([
      { from_sequence: 5, count: 3 },
      { from_sequence: 0, count: 0 },
    ]);
    expect(await ask(route, { query: { count: "0" } })).toMatchObject({ status: 400 });
  });

  const status = {
    origin: "portcullis/audit/x",
    size: 9,
    hash: "ab".repeat(32),
    checkpoint_size: 8,
    trust: "operator-trusted",
    witnesses_needed: 0,
    witnesses: [],
    keys: ["k+1+x"],
    witnessed_size: 0,
    witness_complaints: [],
    broken: false,
  };
  const signs = { vkey: "k+1+x", key_id: "1", from_size: 0, revoked: false };
  const file = { name: "file a", size: 8, behind_s: 0 };

  it("tells the status without what there never was", async () => {
    const texts = { checkpoint: "", verified_at: "", verified: "", complaint: "" };
    const never = { ...status, ...texts, key_terms: [{ ...signs, to_size: 0 }], anchors: [{ ...file, complaint: "" }] };
    const once = {
      ...status,
      checkpoint: "note\n",
      verified_at: entry.timestamp,
      verified: "L1, 9 entries",
      key_terms: [{ ...signs, to_size: 5 }],
      anchors: [{ ...file, complaint: "away" }],
      complaint: "broken",
    };
    for (const [given, reported] of [
      [never, { ...status, key_terms: [signs], anchors: [file] }],
      [once, once],
    ]) {
      const { route } = fixture(auditStatus, { procedures: { "AuditDesk/GetAuditStatus": given } });
      expect(await ask(route)).toEqual({ status: 200, body: reported });
    }
  });

  it("inspects, and rebuilds only when asked to", async () => {
    const found = {
      entry_count: 9,
      trust_level: "L1",
      unanchored_count: 1,
      findings: ["A tile differs."],
      rebuilt: [],
      covered_size: 8,
    };
    const { route, calls } = fixture(auditInspect, { procedures: { "AuditDesk/InspectAudit": found } });
    expect(await ask(route, { body: {} })).toEqual({ status: 200, body: found });
    await ask(route, { body: { rebuild: true } });
    expect(calls.map((call) => call[1])).toEqual([{ rebuild: false }, { rebuild: true }]);
    expect(calls[0]?.[2]).toMatchObject({ timeoutMs: 25_000 });
    expect(await ask(route, { body: { rebuild: "yes" } })).toMatchObject({ status: 400 });
  });

  it("hands out the newest checkpoint, which nobody may keep", async () => {
    const note = "origin\n8\nroot\n\n\u2014 origin sig\n";
    const { route, calls } = fixture(auditCheckpoint, {
      procedures: { "AuditDesk/GetAuditTile": { content: new TextEncoder().encode(note) } },
    });
    expect(await askText(route)).toEqual({ status: 200, body: note, headers: { "cache-control": "no-store" } });
    expect(calls).toEqual([["AuditDesk/GetAuditTile", { path: "checkpoint" }, options]]);
  });
});

describe("runs", () => {
  const run = { run_id: "0f-1", done: false, next_sequence: 3, size: 9 };
  const verification = { entry_count: 9, trust_level: "L1", unanchored_count: 1, covered_size: 8 };

  it("begin a verification or an inspection, and are reported while they go on", async () => {
    const begun = { ...run, verification: undefined, inspection: undefined };
    const verify = fixture(auditVerificationBegin, { procedures: { "AuditDesk/BeginAuditVerification": begun } });
    expect(await ask(verify.route, { body: { from_sequence: 3 } })).toEqual({ status: 201, body: run });
    expect(verify.calls[0]).toEqual(["AuditDesk/BeginAuditVerification", { from_sequence: 3 }, options]);
    expect(await ask(verify.route, { body: { from_sequence: -1 } })).toMatchObject({ status: 400 });
    const inspect = fixture(auditInspectionBegin, { procedures: { "AuditDesk/BeginAuditInspection": begun } });
    expect(await ask(inspect.route, { body: { rebuild: true } })).toEqual({ status: 201, body: run });
    expect(inspect.calls[0]?.[1]).toEqual({ rebuild: true });
  });

  it("tell their end: a verdict without gaps, or a broken chain with its place", async () => {
    const ended = { ...run, done: true, verification: { ...verification, gap_count: 0 }, inspection: undefined };
    const { route } = fixture(auditRun, { procedures: { "AuditDesk/WatchAuditRun": ended } });
    const params = { run_id: "0f-1" };
    const reported = { ...run, done: true, verification: { ...verification, gap_count: 0 } };
    expect(await ask(route, { params })).toEqual({ status: 200, body: reported });
    const facts = { code: "LINK_MISMATCH", sequence: 5, expected: "a", actual: "b" };
    const broken = failing(auditRun, new Fault("CHAIN_INTEGRITY", "Broken.", { retry: "never", facts }));
    expect(await ask(broken, { params })).toMatchObject({ status: 409, body: { chain_integrity_error: facts } });
    expect(await ask(route, { params: { run_id: "../x" } })).toMatchObject({ status: 400 });
  });
});

describe("keys", () => {
  const change = { sequence: 41, key: "k+2+B", old_key: "k+1+A", trusted_size: 42 };

  it("are rotated and revoked with the reason and the proof as they came; whether they suffice is the service's to say", async () => {
    const rotate = fixture(auditKeyRotate, { procedures: { "AuditDesk/RotateAuditKey": change } });
    expect(await ask(rotate.route, { body: { reason: "yearly", step_up_proof: "psu_x" } })).toEqual({
      status: 200,
      body: change,
    });
    await ask(rotate.route, { body: {} });
    expect(rotate.calls.map((call) => call[1])).toEqual([
      { reason: "yearly", step_up_proof: "psu_x" },
      { reason: "", step_up_proof: "" },
    ]);
    const revoke = fixture(auditKeyRevoke, { procedures: { "AuditDesk/RevokeAuditKey": change } });
    await ask(revoke.route, { params: { key_id: "1a2b3c4d" }, body: { reason: "leaked", step_up_proof: "psu_x" } });
    expect(revoke.calls[0]?.[1]).toEqual({ key_id: "1a2b3c4d", reason: "leaked", step_up_proof: "psu_x" });
    expect(await ask(revoke.route, { params: { key_id: "1a2b" }, body: {} })).toMatchObject({ status: 400 });
    const denial = { code: "STEP_UP_REQUIRED", reason: "Prove it." } as const;
    expect(await ask(fixture(auditKeyRotate, { denial }).route, { body: {} })).toMatchObject({
      status: 403,
      body: { code: "STEP_UP_REQUIRED" },
    });
  });
});

describe("eraseAuditSubject", () => {
  it("sends the person, the reason and the proof as they came", async () => {
    const done = { subject_id: "operator:ada", sequences: [50] };
    const { route, calls } = fixture(auditErasure, { procedures: { "AuditDesk/EraseAuditSubject": done } });
    const body = { subject_id: "operator:ada", reason: "leaver", step_up_proof: "psu_x", confirmation: "ERASE" };
    expect(await ask(route, { body })).toEqual({ status: 200, body: done });
    expect(calls[0]?.[1]).toEqual(body);
    expect(await ask(route, { body: { reason: "leaver" } })).toMatchObject({ status: 400 });
  });
});

describe("beginAuditAnew and cosignAuditAnew", () => {
  const pending = {
    request_id: "anew-1",
    pending: true,
    expires_at: "2026-11-15T09:30:00.000000Z",
    closed_log: 1,
    closed_origin: "audit/x",
    log: 0,
    origin: "",
    key: "",
    sequence: 0,
  };

  it("22.3: send the word, the reason and the proof as they came", async () => {
    const asking = fixture(auditAnew, { procedures: { "AuditDesk/BeginAuditAnew": pending } });
    const body = { reason: "broken", step_up_proof: "psu_x", confirmation: "ANEW" };
    expect(await ask(asking.route, { body })).toEqual({ status: 200, body: pending });
    expect(asking.calls[0]?.[1]).toEqual(body);
    expect(await ask(asking.route, { body: { request_id: "anew-1" } })).toMatchObject({ status: 400 });
    const signing = fixture(auditAnewCosign, { procedures: { "AuditDesk/CosignAuditAnew": pending } });
    const signed = { step_up_proof: "psu_x", confirmation: "ANEW" };
    expect(await ask(signing.route, { params: { request_id: "anew-1" }, body: signed })).toMatchObject({ status: 200 });
    expect(signing.calls[0]?.[1]).toEqual({ request_id: "anew-1", ...signed });
  });
});

describe("getAuditTile", () => {
  const content = new Uint8Array([0, 255, 10, 128]);
  const tile = { procedures: { "AuditDesk/GetAuditTile": { content } } };
  const get = (route: Route, path: string) => {
    const params = route.params?.safeParse({ path });
    if (params?.success !== true) return undefined;
    return route.handle({
      requestId: "r",
      identity: duty,
      bearer: () => "t",
      remoteAddress: "127.0.0.1",
      headers: {},
      params: params.data,
      query: undefined,
      body: undefined,
    });
  };

  it.each([
    ["0/x001/067", "private, max-age=31536000, immutable"],
    ["entries/000", "private, max-age=31536000, immutable"],
    ["1/000.p/12", "no-store"],
  ])("hands out %s as it is, to be kept when it is full", async (path, cacheControl) => {
    const { route, calls } = fixture(auditTile, tile);
    expect(await get(route, path)).toEqual({ status: 200, body: content, headers: { "cache-control": cacheControl } });
    expect(calls[0]?.[1]).toEqual({ path: `tile/${path}` });
  });

  it.each(["", "0", "../checkpoint", "0/1", "0/000/", "0/000.p/0", "100/000", "0/x01/000"])("refuses %s", (path) => {
    expect(get(fixture(auditTile, tile).route, path)).toBeUndefined();
  });

  it("lets nobody keep a refusal", async () => {
    const { route } = fixture(auditTile, { denial: { code: "REASON_MISSING", reason: "No." } });
    expect(await get(route, "0/000")).toMatchObject({ headers: { "cache-control": "no-store" } });
  });
});
