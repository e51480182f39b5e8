// The verbs of the audit chain against a server that answers as asked: what is sent, what is shown, what is written, and how it ends.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rechained } from "../../../testkit/audit/bundle-edits.ts";
import { sampleLog } from "../../../testkit/audit/sample-log.ts";
import {
  type FakeAnswer,
  type FakeServer,
  problem,
  runFake,
  startFakeServer,
  virtualTime,
} from "../../../testkit/ctl/fakes.ts";
import { inputCount } from "../../../testkit/full-count.ts";
import { type BundleHeader, checkBundle } from "./bundle-check.ts";

let home = "";
let server: FakeServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-audit-"));
  server = await startFakeServer();
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

/** What a terminal would obey. */
const steering = /\p{Cf}|(?!\n)\p{Cc}/u;
const nowMs = Date.parse("2026-11-15T13:30:00Z");
const run = (line: string, more: { signal?: AbortSignal; time?: ReturnType<typeof virtualTime> } = {}) =>
  runFake(`operations audit ${line}`.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...(more.time ?? virtualTime(nowMs)),
    ...(more.signal === undefined ? {} : { signal: more.signal }),
    folder: home,
  });

const place = "/v1/operations/audit";
const entry = (sequence: number) => ({
  action: "order.decided",
  actor: "service:riskengine",
  data: { note: "\u001b[31mred \u202e", n: sequence },
  hash: "ab".repeat(32),
  prev_hash: "cd".repeat(32),
  sequence,
  subject_id: "o-1",
  timestamp: "2026-11-15T13:29:00.000000Z",
});
const text = (sequence: number) => JSON.stringify(entry(sequence));

/** A log of this many entries; pages have at most `pageMax`, whatever was asked for. */
function serveLog(size: number, { pageMax = 1_000, textOf = text } = {}): void {
  const answer = (from: number, count: number) => {
    const length = Math.max(0, Math.min(count, pageMax, size - from));
    return { body: { texts: Array.from({ length }, (_, at) => textOf(from + at)), size } };
  };
  for (let from = 0; from <= size; from += 1) {
    for (const count of new Set([1, 500, ...Array.from({ length: Math.min(size, 60) }, (_, at) => at + 1)])) {
      server.on(`GET ${place}/entries?from_sequence=${from}&count_max=${count}`, answer(from, count));
    }
  }
}

const integrity = { code: "HASH_MISMATCH", sequence: 5, expected: "ab".repeat(32), actual: "cd".repeat(32) };
const broken: FakeAnswer = {
  status: 409,
  body: {
    ...(problem(409, "CHAIN_INTEGRITY", "Entry 5 is not what its hash says.").body as object),
    chain_integrity_error: integrity,
  },
};

/** A run of that kind: how far it is at each question, and then its end. */
function serveRun(kind: string, end: object, steps: readonly number[] = []): void {
  const left = [...steps];
  const run = { run_id: "r-1", done: false, next_sequence: 0, size: 10_000_000 };
  server.on(`GET ${place}/status`, { body: {} });
  server.on(`POST ${place}/${kind}`, { status: 201, body: run });
  server.on(`GET ${place}/runs/r-1`, () => {
    const next = left.shift();
    if (next !== undefined) return { body: { ...run, next_sequence: next } };
    return { body: { ...run, done: true, next_sequence: run.size, ...end } };
  });
}

/** One page of a trail, as the verb asks for it. */
const trailAt = (subjectId: string, from = 0, before = 0): string =>
  `GET ${place}?subject_id=${subjectId}&from_sequence=${from}&count_max=100&count_before=${before}`;

describe("show", () => {
  it("reads a long trail page by page, and tells how many it had before", async () => {
    const pages = [0, 100, 200].map((from) =>
      Array.from({ length: from < 200 ? 100 : 5 }, (_, at) => entry(from + at)),
    );
    pages.forEach((rows, at) => {
      server.on(trailAt("o-1", at * 100, at * 100), { body: rows });
    });
    expect(JSON.parse((await run("show --subject-id o-1 --format json")).stdout)).toEqual(pages.flat());
  });

  it("is a chronological table, CSV with the hashes, and JSON", async () => {
    const rows = [entry(3), { ...entry(7), data: { long: "x".repeat(500) } }];
    server.on(trailAt("o-1"), { body: rows });
    const table = await run("show --subject-id o-1");
    expect(table.exit).toBe(0);
    expect(table.stdout).toMatch(/^SEQUENCE +WHEN +ACTOR +ACTION +DATA\n3 .*order\.decided.*\n7 .*…$/m);
    expect(table.stdout).not.toMatch(steering);
    const csv = (await run("show --subject-id o-1 --format csv")).stdout.split("\n");
    expect(csv[0]).toBe("sequence,timestamp,actor,action,subject_id,data,prev_hash,hash");
    expect(csv[2]).toContain("x".repeat(500));
    expect(JSON.parse((await run("show --subject-id o-1 --format json")).stdout)).toEqual(rows);
  });

  it("says on stderr when it is not proven that nothing was left out", async () => {
    server.on(trailAt("o-3"), { body: [], headers: { "portcullis-completeness": "not-proven-yet" } });
    const done = await run("show --subject-id o-3");
    expect(done).toMatchObject({ exit: 0, stdout: "Nothing is on record about it.\n" });
    expect(done.stderr).toMatch(/^Not proven yet that this is complete/);
  });

  it("says that there is nothing, asks for the subject, and ends with 10 when the index is broken", async () => {
    server.on(trailAt("o-2"), { body: [] });
    expect(await run("show --subject-id o-2")).toMatchObject({ exit: 0, stdout: "Nothing is on record about it.\n" });
    expect(await run("show")).toMatchObject({ exit: 2, stdout: "" });
    server.on(trailAt("o-2"), broken);
    expect(await run("show --subject-id o-2")).toMatchObject({ exit: 10, stdout: "" });
  });
});

describe("verify", () => {
  const clean = { entry_count: 12, gap_count: 0, trust_level: "L1", unanchored_count: 3, covered_size: 9 };

  it("counts the entries of a whole chain and says on what it rests", async () => {
    serveRun("verifications", { verification: clean });
    const done = await run("verify");
    expect(done).toMatchObject({ exit: 0, stderr: "" });
    expect(done.stdout).toContain("The audit chain is whole: 12 entries from sequence 0 on, no gaps.");
    expect(done.stdout).toMatch(/^Trust level +L1 \(as our own signed checkpoints say\)$/m);
    expect(done.stdout).toMatch(/^Covered +the first 9 entries$/m);
    expect(done.stdout).toMatch(/^Unanchored +3 entries after/m);
    const json = await run("verify --from-sequence 5 --json");
    expect(JSON.parse(json.stdout)).toEqual({ verified: true, ...clean });
    expect(JSON.parse(server.calls(`POST ${place}/verifications`).at(-1)?.body ?? "")).toEqual({ from_sequence: 5 });
  });

  it("22.3: tells of logs that were closed, and verifies one of them by its number", async () => {
    serveRun("verifications", { verification: clean });
    const fault = { code: "TRUNCATED", sequence: 7, expected: "9 entries", actual: "7" };
    const closed = { log: 1, origin: "portcullis/audit/x", verified_size: 6, closed_at: entry(1).timestamp, fault };
    server.on(`GET ${place}/status`, { body: { log: 2, closed_logs: [closed] } });
    const done = await run("verify");
    expect(done.stdout).toMatch(
      /^Closed log +1 \(portcullis\/audit\/x\): TRUNCATED at 7, the first 6 entries held; closed /m,
    );
    expect(JSON.parse((await run("verify --json")).stdout)).toMatchObject({
      verified: true,
      closed_logs: [{ log: 1 }],
    });
    expect((await run("verify --log 1")).stdout).not.toContain("Closed log");
    expect(JSON.parse(server.calls(`POST ${place}/verifications`).at(-1)?.body ?? "")).toMatchObject({ log: 1 });
    expect((await run("verify --log 0")).exit).toBe(2);
  });

  it("of a long chain goes on asking, and says on stderr how far it is", async () => {
    serveRun("verifications", { verification: clean }, [2_500_000, 7_500_000]);
    const done = await run("verify --json");
    expect(done.exit).toBe(0);
    expect(done.stderr).toBe("2500000 of 10000000 entries (25 %), 0 s\n7500000 of 10000000 entries (75 %), 0 s\n");
    expect(JSON.parse(done.stdout)).toEqual({ verified: true, ...clean });
  });

  it("whose run the server has lost ends badly, and not as a verdict", async () => {
    serveRun("verifications", { verification: clean });
    server.on(`GET ${place}/runs/r-1`, problem(404, "NOT_FOUND", "There is no run any more. Begin again."));
    expect(await run("verify")).toMatchObject({ exit: 1, stdout: "", stderr: expect.stringContaining("Begin again") });
  });

  it("of a broken chain ends with 10, and has the sequence, the code, what was expected and what is there", async () => {
    serveRun("verifications", {});
    server.on(`GET ${place}/runs/r-1`, broken);
    const done = await run("verify");
    expect(done.exit).toBe(10);
    for (const line of [
      /^The audit chain is broken at sequence 5\.$/m,
      /^Sequence +5$/m,
      /^Code +HASH_MISMATCH$/m,
      /^Expected +(ab){32}$/m,
      /^Actual +(cd){32}$/m,
    ]) {
      expect(done.stdout).toMatch(line);
    }
    const json = await run("verify --json");
    expect(json.exit).toBe(10);
    expect(JSON.parse(json.stdout)).toMatchObject({ verified: false, chain_integrity_error: integrity });
  });

  it("ends with 10 also without the place, and otherwise as everything ends", async () => {
    const route = `POST ${place}/verifications`;
    server.on(route, problem(409, "CHAIN_INTEGRITY", "It is broken."));
    expect(await run("verify")).toMatchObject({ exit: 10, stdout: "It is broken.\n" });
    server.on(route, problem(503, "SERVICE_UNAVAILABLE", "Nobody."));
    expect(await run("verify")).toMatchObject({ exit: 9, stdout: "" });
    expect(await run("verify --from-sequence -1")).toMatchObject({ exit: 2, stdout: "" });
    expect(await run("verify --from-sequence all")).toMatchObject({ exit: 2, stdout: "" });
  });
});

describe("status and fsck", () => {
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
    witness_complaints: [] as string[],
    anchors: [],
    key_terms: [{ vkey: "k+1+x", key_id: "1", from_size: 0, revoked: false }],
  };

  it("says plainly who vouches", async () => {
    server.on(`GET ${place}/status`, { body: status });
    const alone = (await run("status")).stdout;
    for (const line of [
      /^Size +9 entries$/m,
      /^Checkpoint +covers 8 entries, 1 entry after it$/m,
      /^Trust +operator-trusted: whoever runs the platform and its database could write another history and sign it$/m,
      /^Witnesses +none$/m,
      /^Anchors +none$/m,
      /^Key +k\+1\+x \(signs from size 0 on\)$/m,
      /^Verified +not since this start$/m,
    ]) {
      expect(alone).toMatch(line);
    }
    const more = { witnesses: ["a", "b", "c"], witnesses_needed: 2, verified: "L2", verified_at: entry(1).timestamp };
    server.on(`GET ${place}/status`, { body: { ...status, ...more } });
    const watched = (await run("status")).stdout;
    expect(watched).toMatch(/^Witnesses +2 of a, b, c$/m);
    expect(watched).toMatch(/^Witnessed +nothing$/m);
    expect(watched).not.toContain("WRONG");
    const behind = { ...more, witnessed_size: 5, witness_complaints: ["The witness at b did not cosign: 403."] };
    server.on(`GET ${place}/status`, { body: { ...status, ...behind } });
    const late = (await run("status")).stdout;
    expect(late).toMatch(/^Witnessed +the first 5 entries, 3 entries behind the checkpoint$/m);
    expect(late).toMatch(/^WRONG +The witness at b did not cosign: 403\.$/m);
    expect(watched).toMatch(/^Verified +2026-11-15T13:29:00Z \(1 min ago\): L2$/m);
  });

  it("shows the anchors with their size and lag and what they add, old keys, and what is wrong", async () => {
    const anchors = [
      { name: "file /mnt/a.jsonl", size: 8, behind_s: 0 },
      { name: "database x at y:5432", size: 3, behind_s: 600, complaint: "It does not \u001b[2Janswer." },
      { name: "away", size: 0, behind_s: 0, complaint: "Nobody." },
    ];
    const key_terms = [
      { vkey: "k+1+x", key_id: "1", from_size: 0, to_size: 5, revoked: true },
      { vkey: "k+2+y", key_id: "2", from_size: 5, revoked: false },
    ];
    const trust = "operator-trusted, anchored in 2 places";
    server.on(`GET ${place}/status`, { body: { ...status, anchors, key_terms, trust, complaint: "No checkpoint." } });
    const { stdout } = await run("status");
    for (const line of [
      /^Trust +operator-trusted, anchored in 2 places: a history that was cut or rewritten is found .* unless/m,
      /^Anchor +file \/mnt\/a\.jsonl: 8 entries, up to date$/m,
      /^Anchor +database x at y:5432: 3 entries, behind for 10 min\. It does not ⟨U\+001B⟩\[2Janswer\.$/m,
      /^Anchor +away: 0 entries known\. Nobody\.$/m,
      /^Old key +k\+1\+x \(signed sizes 0 to 5, revoked\)$/m,
      /^Key +k\+2\+y \(signs from size 5 on\)$/m,
      /^WRONG +No checkpoint\.$/m,
    ]) {
      expect(stdout).toMatch(line);
    }
  });

  it("shows what is wrong with exit 10 when that is the log itself, and with 0 when it is something around it", async () => {
    for (const [broken, exit] of [
      [true, 10],
      [false, 0],
    ] as const) {
      server.on(`GET ${place}/status`, { body: { ...status, complaint: "It is wrong.", broken } });
      const done = await run("status");
      expect(done).toMatchObject({ exit, stdout: expect.stringMatching(/^WRONG +It is wrong\.$/m) });
      expect(JSON.parse((await run("status --json")).stdout)).toMatchObject({ broken, complaint: "It is wrong." });
    }
  });

  it("inspects, and ends with 10 when something differs, repaired or not", async () => {
    const route = `POST ${place}/inspections`;
    const found = {
      entry_count: 9,
      trust_level: "L1",
      unanchored_count: 1,
      findings: [] as string[],
      rebuilt: [],
      covered_size: 8,
    };
    serveRun("inspections", { inspection: found });
    const well = await run("fsck");
    expect(well).toMatchObject({
      exit: 0,
      stdout: expect.stringContaining("9 entries read, all as it should be"),
    });
    expect(JSON.parse(server.calls(route).at(-1)?.body ?? "")).toEqual({ rebuild: false });
    const differs = { ...found, findings: ["A tile \u001b[2Jdiffers."], rebuilt: ["tile/0/000"] };
    serveRun("inspections", { inspection: differs }, [5]);
    const repaired = await run("fsck --rebuild");
    expect(repaired.exit).toBe(10);
    expect(repaired.stdout).toMatch(/^finding {2}A tile ⟨U\+001B⟩\[2Jdiffers\.$/m);
    expect(repaired.stdout).toMatch(/^rebuilt {2}tile\/0\/000$/m);
    expect(JSON.parse(server.calls(route).at(-1)?.body ?? "")).toEqual({ rebuild: true });
    const lie = { ...integrity, code: "INDEX_MISMATCH" };
    serveRun("inspections", { inspection: { ...found, findings: ["a lie"], rebuilt: ["1 of 1 rows"], fault: lie } });
    const index = await run("fsck --rebuild");
    expect(index).toMatchObject({
      exit: 10,
      stdout: expect.stringMatching(/^finding {2}a lie\nrebuilt {2}1 of 1 rows$/m),
    });
    serveRun("inspections", { inspection: { ...found, findings: ["broken"], fault: integrity } });
    const done = await run("fsck");
    expect(done.exit).toBe(10);
    expect(done.stdout).toMatch(
      /at sequence 5\.\nSequence +5\nCode +HASH_MISMATCH\nExpected +(ab){32}\nActual +(cd){32}\n$/,
    );
  });
});

/** Whom the server takes the caller for. */
const serveIdentity = (...roles: readonly string[]): void =>
  server.on("GET /v1/auth/identity", {
    body: {
      actor: "operator:duty",
      kind: "operator",
      name: "duty",
      roles,
      issuer: "i",
      second_factor: null,
      issued_at: entry(1).timestamp,
      expires_at: entry(1).timestamp,
    },
  });

describe("whoever may not", () => {
  const forbidden = problem(403, "PERMISSION_DENIED", "It needs the role admin.");
  it.each([
    ["key rotate --reason yearly", "keys/rotate", { reason: "yearly" }],
    ["key revoke --key-id 1a1a1a1a --reason leaked", "keys/1a1a1a1a/revoke", { reason: "leaked" }],
    [
      "erase --subject-id operator:ada --reason x --confirm ERASE",
      "erasures",
      { subject_id: "operator:ada", reason: "x", confirmation: "ERASE" },
    ],
  ])("%s: is refused by the server before a code is asked for, and with 5", async (command, path, body) => {
    serveIdentity("viewer");
    server.on(`POST ${place}/${path}`, forbidden);
    for (const line of [command, `${command} --totp 123456`]) {
      const done = await run(line);
      expect(done).toMatchObject({ exit: 5, stdout: "", stderr: expect.stringContaining("It needs the role admin.") });
    }
    expect(server.calls("POST /v1/auth/step-up")).toEqual([]);
    expect(server.calls(`POST ${place}/${path}`).map((call) => JSON.parse(call.body) as unknown)).toEqual([body, body]);
    server.on(`POST ${place}/${path}`, problem(403, "STEP_UP_REQUIRED", "A proof is needed."));
    expect((await run(command)).exit).toBe(5);
    serveIdentity("admin");
    expect(await run(command)).toMatchObject({ exit: 2, stderr: expect.stringContaining("--totp") });
  });
});

describe("key", () => {
  const change = { sequence: 41, key: "log+2b2b2b2b+B", old_key: "log+1a1a1a1a+A", trusted_size: 42 };
  const proof = { status: 201, body: { proof: "psu_x", expires_at: entry(1).timestamp } };
  const bodyOf = (route: string) => JSON.parse(server.calls(route).at(-1)?.body ?? "{}") as object;

  it("rotate proves the second factor for exactly this, sends the reason, and says whom to tell", async () => {
    serveIdentity("viewer", "admin");
    server.on("POST /v1/auth/step-up", proof);
    server.on(`POST ${place}/keys/rotate`, { body: change });
    const done = await run("key rotate --reason yearly --totp 123456");
    expect(done.exit).toBe(0);
    expect(bodyOf("POST /v1/auth/step-up")).toEqual({ action: "RotateAuditKey", parameters: {}, totp: "123456" });
    expect(bodyOf(`POST ${place}/keys/rotate`)).toEqual({ reason: "yearly", step_up_proof: "psu_x" });
    expect(done.stdout).toMatch(/^New key +log\+2b2b2b2b\+B$/m);
    expect(done.stderr).toContain("--log 'log+2b2b2b2b+B'");
    expect(await run("key rotate --totp 123456")).toMatchObject({ exit: 2, stdout: "" });
  });

  it("revoke names the key in the proof, and takes nothing that is no id", async () => {
    serveIdentity("admin");
    server.on("POST /v1/auth/step-up", proof);
    server.on(`POST ${place}/keys/1a1a1a1a/revoke`, { body: change });
    const done = await run("key revoke --key-id 1A1A1A1A --reason leaked --totp 123456");
    expect(done.exit).toBe(0);
    expect(bodyOf("POST /v1/auth/step-up")).toMatchObject({ parameters: { key_id: "1a1a1a1a" } });
    expect(done.stdout).toMatch(/^Counts +up to size 42$/m);
    expect(await run("key revoke --key-id 1a --reason leaked --totp 123456")).toMatchObject({ exit: 2 });
    server.on(`POST ${place}/keys/1a1a1a1a/revoke`, problem(403, "STEP_UP_WRONG", "Get a new one."));
    expect((await run("key revoke --key-id 1a1a1a1a --reason leaked --totp 123456")).exit).toBe(5);
  });
});

describe("erase", () => {
  it("22.11: hands the word to the server, right or wrong, and a wrong one is exit 3 without a code", async () => {
    serveIdentity("admin");
    const route = `POST ${place}/erasures`;
    server.on(route, problem(409, "CONFIRMATION_WRONG", "Type ERASE to confirm. Nothing was erased."));
    const command = "erase --subject-id operator:ada --reason leaver --totp 123456";
    for (const wrong of ["", " --confirm erase"]) expect((await run(`${command}${wrong}`)).exit).toBe(3);
    expect(server.calls("POST /v1/auth/step-up")).toHaveLength(0);
    expect(server.calls(route).map(({ body }) => JSON.parse(body).confirmation)).toEqual(["", "erase"]);
  });

  it("proves the second factor for this person, and says where it stands", async () => {
    serveIdentity("admin");
    const route = `POST ${place}/erasures`;
    const proof = { status: 201, body: { proof: "psu_x", expires_at: entry(1).timestamp } };
    server.on("POST /v1/auth/step-up", proof);
    server.on(route, { body: { subject_id: "operator:ada", sequences: [50] } });
    const command = "erase --subject-id operator:ada --reason leaver --totp 123456";
    const done = await run(`${command} --confirm ERASE`);
    expect(done).toMatchObject({ exit: 0, stdout: expect.stringContaining("is erased; entry 50 says so.") });
    const [asked, sent] = ["POST /v1/auth/step-up", route].map((one) => JSON.parse(server.calls(one)[0]?.body ?? "{}"));
    expect(asked).toMatchObject({ action: "EraseAuditSubject", parameters: { subject_id: "operator:ada" } });
    expect(sent).toEqual({
      subject_id: "operator:ada",
      reason: "leaver",
      step_up_proof: "psu_x",
      confirmation: "ERASE",
    });
    server.on(route, { body: { subject_id: "operator:ada", sequences: [] } });
    expect((await run(`${command} --confirm ERASE`)).stdout).toContain("Nothing is sealed about operator:ada.");
  });
});

describe("begin-anew", () => {
  const proof = { status: 201, body: { proof: "psu_x", expires_at: entry(1).timestamp } };
  const pending = {
    request_id: "anew-1",
    pending: true,
    expires_at: entry(1).timestamp,
    closed_log: 1,
    closed_origin: "audit/x",
    log: 0,
    origin: "",
    key: "",
    sequence: 0,
  };

  it("22.3: asks with word, reason and second factor, and ends with 8; a wrong word is the server's to refuse, with 3", async () => {
    serveIdentity("admin");
    server.on("POST /v1/auth/step-up", proof);
    const route = `POST ${place}/anew`;
    server.on(route, problem(409, "CONFIRMATION_WRONG", "Type ANEW to confirm. Nothing was done."));
    expect((await run("begin-anew --reason broken --totp 123456")).exit).toBe(3);
    expect(server.calls("POST /v1/auth/step-up")).toHaveLength(0);
    server.on(route, { body: pending });
    const done = await run("begin-anew --reason broken --confirm ANEW --totp 123456");
    expect(done).toMatchObject({ exit: 8, stdout: expect.stringMatching(/^Request +anew-1$/m) });
    const sent = JSON.parse(server.calls(route).at(-1)?.body ?? "{}");
    expect(sent).toEqual({ reason: "broken", confirmation: "ANEW", step_up_proof: "psu_x" });
    expect(JSON.parse(server.calls("POST /v1/auth/step-up")[0]?.body ?? "{}")).toMatchObject({
      action: "BeginAuditAnew",
    });
    expect((await run("begin-anew --confirm ANEW --totp 123456")).exit).toBe(2);
  });

  it("22.3: another person signs, for exactly that request, and is told of the new log", async () => {
    serveIdentity("operator");
    server.on("POST /v1/auth/step-up", proof);
    const route = `POST ${place}/anew/anew-1/cosign`;
    server.on(route, {
      body: { ...pending, pending: false, log: 2, origin: "audit/2/y", key: "audit/2/y+1+k", sequence: 1 },
    });
    const done = await run("begin-anew --cosign anew-1 --confirm ANEW --totp 123456");
    expect(done).toMatchObject({ exit: 0, stdout: expect.stringMatching(/^New log +2 \(audit\/2\/y\)$/m) });
    const asked = JSON.parse(server.calls("POST /v1/auth/step-up")[0]?.body ?? "{}");
    expect(asked).toMatchObject({ action: "CosignAuditAnew", parameters: { request_id: "anew-1" } });
    expect(JSON.parse(server.calls(route)[0]?.body ?? "{}")).toEqual({ confirmation: "ANEW", step_up_proof: "psu_x" });
    server.on(route, problem(409, "LOG_NOT_BROKEN", "The audit log verifies."));
    expect((await run("begin-anew --cosign anew-1 --confirm ANEW --totp 123456")).exit).toBe(6);
  });
});

describe("proof", () => {
  // The server of the tests writes everything as JSON, so its text has quotation marks; what counts is that it arrives as it was sent.
  const sent = JSON.stringify("c2sp.org/tlog-proof@v1");

  it("goes to stdout as it is, or to a file", async () => {
    server.on(`GET ${place}/entries/7/proof`, { body: "c2sp.org/tlog-proof@v1" });
    expect(await run("proof --sequence 7")).toMatchObject({ exit: 0, stdout: `${sent}\n`, stderr: "" });
    const written = await run("proof --sequence 7 --out seven.proof --json");
    expect(JSON.parse(written.stdout)).toEqual({ sequence: 7, path: join(home, "seven.proof") });
    expect(readFileSync(join(home, "seven.proof"), "utf8")).toBe(sent);
    expect(readdirSync(home).filter((name) => name.includes("part"))).toEqual([]);
  });

  it("of an entry that is not there, or into a folder that is not there, ends badly and leaves nothing", async () => {
    server.on(`GET ${place}/entries/9/proof`, problem(404, "NOT_FOUND", "There is no entry 9."));
    expect(await run("proof --sequence 9 --out nine.proof")).toMatchObject({ exit: 1, stdout: "" });
    server.on(`GET ${place}/entries/7/proof`, { body: "x" });
    expect(await run("proof --sequence 7 --out none/seven.proof")).toMatchObject({ exit: 2, stdout: "" });
    expect(readdirSync(home)).toEqual([]);
    expect(await run("proof --sequence seven")).toMatchObject({ exit: 2 });
  });
});

describe("consistency", () => {
  const note = "origin\n8\nc2Vjb25k\n\n\u2014 origin c2ln\n";
  const proved = {
    first_size: 3,
    first_root: "Zmlyc3Q=",
    second_size: 8,
    second_root: "c2Vjb25k",
    proof: ["aA==", "aQ=="],
  };

  it("prints both roots, the proof and the checkpoint", async () => {
    server.on(`GET ${place}/consistency?first_size=3`, { body: { ...proved, checkpoint: note } });
    const done = await run("consistency --first-size 3");
    expect(done).toMatchObject({ exit: 0, stderr: "" });
    expect(done.stdout).toMatch(
      /^First +3 entries, root Zmlyc3Q=\nSecond +8 entries, root c2Vjb25k\nProof +aA==\nProof +aQ==\n/,
    );
    expect(done.stdout.endsWith(`\n\n${note}`)).toBe(true);
    server.on(`GET ${place}/consistency?first_size=3&second_size=8`, { body: proved });
    const between = "consistency --first-size 3 --second-size 8";
    expect(JSON.parse((await run(`${between} --json`)).stdout)).toEqual(proved);
    expect((await run(between)).stdout).toContain("No checkpoint was signed at the second size.");
  });

  it("refuses sizes that are none, or the wrong way round", async () => {
    for (const wrong of ["", " --first-size x", " --first-size 3 --second-size 0", " --first-size 3 --second-size 2"]) {
      expect(await run(`consistency${wrong}`), wrong).toMatchObject({ exit: 2, stdout: "" });
    }
  });
});

describe("export", () => {
  const log = sampleLog(46);
  const line = (sequence: number) => Buffer.from(log.entries[sequence]?.text ?? []).toString();
  const serveSample = (size: number, more: { pageMax?: number; textOf?: (at: number) => string } = {}) =>
    serveLog(size, { textOf: line, ...more });
  /** The head of a bundle of these entries under the checkpoint of that size. */
  const headOf = (from: number, count: number, size = from + count) =>
    log.bundle({ from, entries: count, size }).split("\n").slice(0, 2).join("\n").concat("\n");
  const serveHead = (query: string, from: number, count: number, head = headOf(from, count)) =>
    server.on(`GET ${place}/bundle-head?${query}`, { body: { head, from_sequence: from, count } });

  it("writes the head and every entry in order, also when the pages are small", async () => {
    serveSample(12, { pageMax: 4 });
    serveHead("from_sequence=0", 0, 10);
    const done = await run("export --out all.bundle");
    expect(done).toMatchObject({
      exit: 0,
      stdout: `10 entries from sequence 0 on are in ${join(home, "all.bundle")}.\n`,
    });
    expect(done.stderr).toContain("10 of 10 entries");
    const lines = Array.from({ length: 10 }, (_, at) => `${line(at)}\n`);
    expect(readFileSync(join(home, "all.bundle"), "utf8")).toBe(headOf(0, 10) + lines.join(""));
    expect(statSync(join(home, "all.bundle")).mode & 0o777).toBe(0o600);
    serveHead("from_sequence=5&count=3", 5, 3, headOf(5, 3, 12));
    const part = await run("export --from-sequence 5 --count 3 --out part.bundle --json");
    expect(JSON.parse(part.stdout)).toEqual({ path: join(home, "part.bundle"), from_sequence: 5, count: 3 });
    expect(readFileSync(join(home, "part.bundle"), "utf8")).toBe(headOf(5, 3, 12) + lines.slice(5, 8).join(""));
  });

  it("finds every root of every part of a log", () => {
    for (let size = 1; size <= inputCount(20, 9); size += 1) {
      for (let from = 0; from < size; from += 1) {
        for (let count = 1; from + count <= size; count += 1) {
          const header = JSON.parse(headOf(from, count, size).split("\n")[1] ?? "") as BundleHeader;
          const check = checkBundle(header);
          for (let at = from; at < from + count; at += 1) expect(check.entry(line(at))).toBeUndefined();
          expect(check.end(), `${from} ${count} ${size}`).toBeUndefined();
        }
      }
    }
  });

  const another = rechained(3, 5);
  it.each([
    ["an entry that was changed", (at: number) => (at === 3 ? line(at).replace("service:", "operator:") : line(at)), 3],
    ["a log that was chained anew", (at: number) => Buffer.from(another.entries[at]?.text ?? []).toString(), 5],
    ["an entry without its hashes", (at: number) => (at === 2 ? `{"sequence":2}` : line(at)), 2],
  ])("writes nothing of %s, and says where", async (_name, textOf, sequence) => {
    serveSample(5, { textOf });
    serveHead("from_sequence=0", 0, 5);
    const done = await run("export --out all.bundle");
    expect(done).toMatchObject({ exit: 10, stdout: "" });
    expect(done.stderr).toContain(`The audit chain is broken at sequence ${sequence}: `);
    expect(readdirSync(home)).toEqual([]);
  });

  it("ends with 10 when the server finds that a handover is gone", async () => {
    server.on(`GET ${place}/bundle-head?from_sequence=0`, broken);
    const done = await run("export --out all.bundle");
    expect(done.exit).toBe(10);
    expect(done.stdout).toContain("The audit chain is broken at sequence 5.");
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ["another count than its header's", () => serveHead("from_sequence=0", 0, 3, headOf(0, 4))],
    ["another beginning than was asked for", () => serveHead("from_sequence=0", 1, 3)],
    ["no bundle", () => serveHead("from_sequence=0", 0, 3, "hello\n{}\n")],
    ["entries in its head", () => serveHead("from_sequence=0", 0, 3, `${headOf(0, 3)}${line(0)}\n`)],
  ])("refuses a head with %s", async (_name, serve) => {
    serveSample(5);
    serve();
    expect(await run("export --out all.bundle")).toMatchObject({ exit: 10, stdout: "" });
    expect(readdirSync(home)).toEqual([]);
  });

  it.each([
    ["an entry twice", () => serveSample(5, { textOf: (at) => line(at === 3 ? 2 : at) }), 10],
    ["a line end in an entry", () => serveSample(5, { textOf: (at) => `${line(at)}\n` }), 10],
    ["fewer entries than it said", () => serveSample(3), 1],
  ])("keeps what stood there when the server gives %s", async (_name, serve, exit) => {
    serve();
    serveHead("from_sequence=0", 0, 5);
    writeFileSync(join(home, "all.bundle"), "before");
    expect(await run("export --out all.bundle")).toMatchObject({ exit, stdout: "" });
    expect(readFileSync(join(home, "all.bundle"), "utf8")).toBe("before");
    expect(readdirSync(home)).toEqual(["all.bundle"]);
  });

  it("refuses more entries than there are, and says how many there are", async () => {
    serveSample(46);
    const much = await run("export --from-sequence 5 --count 1000000 --out x.bundle");
    expect(much).toMatchObject({ exit: 2, stdout: "" });
    expect(much.stderr).toContain("the log has 46 entries, 41 of them from sequence 5 on");
    expect(await run("export --from-sequence 46 --count 1 --out x.bundle")).toMatchObject({ exit: 2, stdout: "" });
    expect(readdirSync(home)).toEqual([]);
    serveHead("from_sequence=5&count=41", 5, 41);
    expect((await run("export --from-sequence 5 --count 41 --out x.bundle")).exit).toBe(0);
  });

  it("needs a file, and a count that is one", async () => {
    expect(await run("export")).toMatchObject({ exit: 2 });
    expect(await run("export --count 0 --out x")).toMatchObject({ exit: 2 });
    expect(existsSync(join(home, "x"))).toBe(false);
  });
});

describe("tail", () => {
  const numbers = (stdout: string) => [...stdout.matchAll(/^(\d+) {2}2026-/gm)].map((match) => Number(match[1]));
  const upTo = (from: number, end: number) => Array.from({ length: end - from }, (_, at) => from + at);

  it("prints the newest, or a part of the past, one line each", async () => {
    serveLog(30, { pageMax: 7 });
    const newest = await run("tail");
    expect(numbers(newest.stdout)).toEqual(upTo(10, 30));
    expect(newest.stdout.split("\n")[0]).toBe(
      '10  2026-11-15T13:29:00.000000Z  service:riskengine  order.decided  o-1  {"note":"\\u001b[31mred ⟨U+202E⟩","n":10}',
    );
    expect(numbers((await run("tail --count 3")).stdout)).toEqual([27, 28, 29]);
    expect(numbers((await run("tail --from-sequence 12 --count 9")).stdout)).toEqual(upTo(12, 21));
    expect(numbers((await run("tail --from-sequence 25")).stdout)).toEqual(upTo(25, 30));
    const beyond = "The log has 30 entries, so there is no entry 30 yet; --follow would wait for it.\n";
    expect(await run("tail --from-sequence 30")).toMatchObject({ exit: 0, stdout: "", stderr: beyond });
    expect((await run("tail --from-sequence 25")).stderr).toBe("");
    expect(JSON.parse((await run("tail --count 2 --json")).stdout)).toEqual([entry(28), entry(29)]);
  });

  it("shows an entry that is none, and refuses options that contradict each other", async () => {
    serveLog(2, { textOf: (at) => (at === 1 ? "not\u0007 json" : text(at)) });
    expect((await run("tail")).stdout).toMatch(/^0 {2}2026.*\nnot⟨U\+0007⟩ json\n$/);
    expect(await run("tail --follow --from-sequence 0 --count 1")).toMatchObject({ exit: 2, stdout: "" });
    expect(await run("tail --count none")).toMatchObject({ exit: 2, stdout: "" });
  });

  /** Polls of a log that grows as told: each step is what the next poll from there on finds, or a failure. */
  function serveSteps(start: number, steps: readonly (number | FakeAnswer)[], stop: AbortController): void {
    serveLog(start);
    const left = [...steps];
    let from = start;
    const poll = (): FakeAnswer => {
      const step = left.shift();
      if (step === undefined) stop.abort();
      if (typeof step === "object") return step;
      const count = step ?? 0;
      const texts = upTo(from, from + count).map(text);
      from += count;
      server.on(`GET ${place}/entries?from_sequence=${from}&count_max=500`, poll);
      return { body: { texts, size: from } };
    };
    server.on(`GET ${place}/entries?from_sequence=${start}&count_max=500`, poll);
  }

  it("follows, asks less often while nothing happens, and says from where to go on", async () => {
    const stop = new AbortController();
    const time = virtualTime(nowMs);
    serveSteps(3, [0, 0, 0, 0, 0, 2, 0, 1], stop);
    const done = await run("tail --follow --from-sequence 3", { signal: stop.signal, time });
    expect(done.exit).toBe(130);
    expect(numbers(done.stdout)).toEqual([3, 4, 5]);
    expect(time.slept.slice(0, 8)).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 1_000, 2_000, 1_000]);
    expect(done.stderr).toContain("The log has 3 entries, so there is no entry 3 yet: waiting for it.");
    expect(done.stderr).toContain("ctl operations audit tail --from-sequence 6 --follow");
  });

  it("outlives a server that is away, says so once, and misses nothing", async () => {
    const stop = new AbortController();
    const time = virtualTime(nowMs);
    const away = problem(503, "SERVICE_UNAVAILABLE", "The service operations does not answer.");
    serveSteps(2, [1, ...Array.from({ length: 7 }, () => away), 2], stop);
    const done = await run("tail --follow --count 1 --json", { signal: stop.signal, time });
    expect(done.exit).toBe(130);
    const lines = done.stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { sequence: number }).sequence)).toEqual([1, 2, 3, 4]);
    expect(done.stdout).not.toMatch(steering);
    expect(Math.max(...time.slept)).toBe(30_000);
    expect(done.stderr.match(/Trying again; the next entry is 3\./g)).toHaveLength(1);
    expect(done.stderr.match(/The server answers again\./g)).toHaveLength(1);
    expect(JSON.parse(done.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      code: "CANCELLED",
      exit_code: 130,
    });
  });

  it("does not outlive a login that ended", async () => {
    const stop = new AbortController();
    serveSteps(2, [1, problem(401, "UNAUTHENTICATED", "It ran out.")], stop);
    expect(await run("tail --follow --from-sequence 2", { signal: stop.signal })).toMatchObject({ exit: 4 });
  });
});
