// Halts as they are seen and asked for from outside, over real servers and the real ctl: lists and states, the word typed on a terminal, the baseline that applies
// after a resume, and every kind of bad input, each with a sentence that helps and an entry in the audit log.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { haltRequest as haltRecord } from "../contracts/src/records/halt.ts";
import { forwarded } from "../edges/gateway/declared/route.ts";
import type { GatewayParts } from "../edges/gateway/parts.ts";
import { haltRequest, haltResume, haltStatus } from "../edges/gateway/routes/halts.ts";
import { runFake, virtualTime } from "../testkit/ctl/fakes.ts";
import { testClient } from "../testkit/grpc/test-client.ts";
import type { Standing, TableCaller } from "../testkit/halt-table/fixture.ts";
import { type MemoryHaltTableFixture, memoryHaltTableFixture } from "../testkit/halt-table/memory-fixture.ts";
import type { Request } from "../testkit/halt-table/surface-answer.ts";
import { grpcSurface, postJson, restSurface, type Surface } from "../testkit/halt-table/surfaces.ts";
import { fetchOnNewConnection } from "../testkit/http/fetch-on-new-connection.ts";

const haltsList = (parts: Pick<GatewayParts, "services">) => forwarded("listHalts", parts);

let folder = "";
let fixture: MemoryHaltTableFixture;
let standing: Standing;
let operator: TableCaller;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-halts-surfaces-"));
  const routes = [haltRequest, haltResume, haltStatus, haltsList] as const;
  fixture = await memoryHaltTableFixture({ seed: 14, routes: (parts) => routes.map((route) => route(parts)) });
});

afterAll(async () => {
  await fixture?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(async () => {
  standing = await fixture.stand();
  operator = await fixture.caller("operator");
});

const at = Date.parse("2026-01-02T00:01:00Z");
function ctl(line: string, { typed, by = operator }: { typed?: readonly string[]; by?: TableCaller } = {}) {
  return runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: folder, PORTCULLIS_URL: fixture.url, PORTCULLIS_TOKEN: by.token ?? "" },
    ...virtualTime(at),
    folder,
    ...(typed !== undefined && { typed }),
  });
}

async function rpc(method: string, message: object, by = operator): Promise<Record<string, unknown>> {
  const client = testClient(fixture.grpc.Operations, { token: by.token ?? "" });
  try {
    const { status, details, answer } = await client.call("Operations", method, message);
    return status === "OK" ? (answer as Record<string, unknown>) : { status, details };
  } finally {
    client.close();
  }
}

async function get(url: string, by?: TableCaller): Promise<{ status: number; headers: Headers; body: unknown }> {
  const headers: Record<string, string> = by?.token === undefined ? {} : { authorization: `Bearer ${by.token}` };
  const answer = await fetchOnNewConnection(url, { headers });
  return { status: answer.status, headers: answer.headers, body: await answer.json() };
}

const attempts = async (from: number) =>
  (await fixture.entriesSince(from, 0)).filter(({ action }) => action === "operator.attempted");

describe("what is halted", () => {
  const ids = (halts: unknown): unknown[] => (halts as { halt_id: string }[]).map(({ halt_id: id }) => id);

  test("is one list for gRPC, operators and ctl, as records that anybody can read", async () => {
    const all = [standing.strategy, standing.fund, standing.firm];
    expect(ids((await rpc("ListActiveHalts", {}))["halts"])).toEqual(all);
    const seen = await get(`${fixture.url}/v1/halts`, operator);
    expect(ids(seen.body)).toEqual(all);
    for (const record of seen.body as object[]) expect(haltRecord.parse(record)).toEqual(record);
    expect((seen.body as object[])[1]).toMatchObject({
      severity: "FUND_HALT",
      fund_id: "alpha",
      reason: "the scene",
      requested_by: "riskengine",
    });
    const json = await ctl("riskengine halts list --json");
    expect([json.exit, ids(JSON.parse(json.stdout))]).toEqual([0, all]);
    expect((await get(`${fixture.url}/v1/halts`)).status).toBe(401);
  });

  test("nothing is an empty list, on every face", async () => {
    await fixture.fixture.finish(
      fixture.fixture.outside.store.transact("scene", async (unit) => {
        const { active } = await unit.risk.lockHalts();
        const ids = active.map(({ halt_id: id }) => id);
        await unit.risk.liftHalts(ids, fixture.fixture.time.clock.now());
      }),
    );
    expect((await get(`${fixture.url}/v1/halts`, operator)).body).toEqual([]);
    expect((await ctl("riskengine halts list")).stdout).toBe("No halt is in force.\n");
    expect((await ctl("riskengine halts list --json")).stdout.trim()).toBe("[]");
    const none = await ctl("cmd resume --reason over --confirm RESUME --totp 123456 --json");
    expect([none.exit, JSON.parse(none.stderr)]).toMatchObject([6, { code: "HALT_NOT_ACTIVE" }]);
  });

  test("a state says the strictest level, how far each halt has come, what a resume of it would restart, and who is asked to sign", async () => {
    await fixture.fixture.pass(3_000);
    const alpha = await rpc("GetHaltStatus", { fund_id: "alpha" });
    expect(alpha).toMatchObject({ halted: true, known: true, severity: "FIRM_HALT", restarts: [] });
    expect(alpha["progress"]).toHaveLength(3);
    const everything = await rpc("GetHaltStatus", { fund_id: "" });
    expect(everything["restarts"]).toEqual(expect.arrayContaining(["alpha-momentum", "beta-trend", "gamma-income"]));
    const momentum = (await get(`${fixture.url}/v1/halts/status?id=alpha-momentum`, operator)).body;
    expect(momentum).toMatchObject({ fund_id: "alpha", strategy_id: "alpha-momentum", severity: "FIRM_HALT" });
    const oneTimeCode = await fixture.codeOf(operator, "right");
    const request: Request = { verb: "request-all", level: "FIRM_HALT", target: "", word: "RESUME", reason: "over" };
    const asked = await fixture.askDirectly(operator, { ...request, code: oneTimeCode });
    expect(asked.body["restarts"]).toEqual(everything["restarts"]);
    expect(await rpc("GetHaltStatus", { fund_id: "" })).toMatchObject({ request_id: asked.body["request_id"] });
    const list = await ctl("riskengine halts list");
    expect(list.stderr).toContain(`request ${asked.body["request_id"]}, to lift every halt`);
    for (const fund_id of ["nowhere", "alpha-momentum"]) {
      expect(await rpc("GetHaltStatus", { fund_id })).toMatchObject({
        status: "NOT_FOUND",
        details: expect.stringContaining(fund_id),
      });
    }
  });

  test("ctl lists it as a table and as CSV", async () => {
    await fixture.fixture.pass(3_000);
    const table = (await ctl("riskengine halts list")).stdout.split("\n");
    expect(table[0]).toMatch(/^SEVERITY +(FUND +)?(STRATEGY +)?SINCE +BY +REASON +STEPS +HALT$/);
    expect(table[1]).toMatch(
      /^STRATEGY_HALT +alpha +alpha-momentum .* the scene +BLOCKED yes, CANCELLED yes \(\d+ orders?\), NOTIFIED yes/,
    );
    const csv = (await ctl("riskengine halts list --format csv")).stdout.trimEnd().split("\n");
    expect(csv[0]).toBe("severity,fund_id,strategy_id,since,requested_by,reason,steps,halt_id,epoch");
    expect(csv).toHaveLength(4);
    expect(csv[3]).toMatch(new RegExp(`^FIRM_HALT,,,[^,]+Z,riskengine,the scene,".*",${standing.firm},\\d+$`));
    const own = await ctl("riskengine halts list --id beta --json");
    expect(ids(JSON.parse(own.stdout))).toEqual([standing.firm]);
  });
});

describe("on a terminal", () => {
  test("ctl says what will happen, and only the very word does it", async () => {
    const before = await fixture.inForce();
    for (const typed of ["halt", "Halt", "", "yes", "HALT!"]) {
      const from = await fixture.mark();
      const declined = await ctl("cmd halt gamma", { typed: [typed] });
      expect([typed, declined.exit]).toEqual([typed, 3]);
      expect(declined.stderr).toContain("Nothing was halted.");
      const codes = (await attempts(from)).map(({ data }) => data["code"]);
      expect(codes).toEqual(["CONFIRMATION_WRONG"]);
    }
    expect(await fixture.inForce()).toEqual(before);
    const done = await ctl("cmd halt gamma", { typed: ["HALT"] });
    expect(done.exit).toBe(0);
    expect(done.stderr).toContain("This halts gamma: no new risk");
    expect(done.stdout).toMatch(
      /^gamma is halted: every live risk engine confirmed it\.\nHalt +\S+\nEpoch +\d+\nAudit +\S+\n/,
    );
    expect(await fixture.inForce()).toHaveLength(before.length + 1);
  });

  test("everything is lifted by two people who type word and code, and each sees what restarts and which baseline applies", async () => {
    const shown = await ctl("cmd resume --reason over", { typed: ["RESUME", await fixture.codeOf(operator, "right")] });
    expect(shown.exit).toBe(8);
    expect(shown.stderr).toContain("What   │ FIRM_HALT, the firm");
    expect(shown.stderr).toMatch(/May trade again afterwards: .*beta-trend/);
    expect(shown.stdout).toMatch(/^Baseline +Losses go on being counted from the baseline that they had\.$/m);
    const request = /^Request +(\S+)$/m.exec(shown.stdout)?.[1];
    const listed = await ctl("riskengine halts list");
    expect(listed.stderr).toContain(`request ${request}, to lift every halt`);
    expect(await fixture.inForce()).toHaveLength(3);
    const relief = await fixture.caller("operator");
    const typed = ["RESUME", await fixture.codeOf(relief, "right")];
    const signed = await ctl(`cmd resume --cosign ${request}`, { by: relief, typed });
    expect([signed.exit, signed.stderr]).toEqual([0, expect.stringContaining("With your signature ALL of these")]);
    expect(signed.stderr).toContain(`Who      │ ${operator.actor}\n`);
    expect(signed.stderr).toContain("Reason   │ over\n");
    expect(signed.stderr).toContain("Baseline │ Losses go on being counted from the baseline that they had.\n");
    expect(signed.stdout).toContain(
      "3 halts are lifted (of 3 shown). Losses go on being counted from the baseline that they had.",
    );
    expect(await fixture.inForce()).toEqual([]);
  });

  test("without a reason every halt is shown all the same, and the refusal is the server's", async () => {
    const shown = await ctl("cmd resume --confirm RESUME");
    expect([shown.exit, shown.stderr]).toEqual([6, expect.stringContaining("What   │ FIRM_HALT, the firm")]);
    expect(shown.stderr).toMatch(/reason/i);
    const asked = await ctl("cmd resume", { typed: ["looked at", "RESUME", "000000"] });
    expect([asked.exit, asked.stderr]).toEqual([5, expect.stringContaining("Why, in your words: ")]);
    expect(await fixture.inForce()).toHaveLength(3);
  });

  test("what was shown and is no longer in force is not lifted", async () => {
    const done = await ctl("cmd resume alpha --reason over --confirm RESUME --json");
    expect([done.exit, JSON.parse(done.stdout).lifted_halt_ids]).toEqual([0, [standing.fund]]);
    const stale = { id: "alpha-momentum", confirmation: "RESUME", reason: "over", halt_ids: [standing.fund] };
    const answer = await postJson(`${fixture.url}/v1/halts/resume`, operator.token, stale);
    expect([answer.reported, answer.code]).toEqual([409, "RESUME_REQUEST_VOID"]);
  });
});

describe("the baseline after a resume", () => {
  const surfaces = (): readonly Surface[] => [
    grpcSurface(fixture, "Operations"),
    grpcSurface(fixture, "RiskEngine"),
    restSurface(fixture),
  ];
  const lift = { verb: "resume", level: "FUND_HALT", target: "alpha", word: "RESUME", reason: "over" } as const;

  test.each([
    ["kept", undefined],
    ["rebased", true],
  ] as const)("is %s, and the answer and the record say so", async (baseline, rebase) => {
    for (const surface of surfaces()) {
      await fixture.stand();
      const from = await fixture.mark();
      const by = await fixture.caller(rebase ? "operator and risk_officer" : "operator");
      const anew = rebase && { rebase, code: await fixture.codeOf(by, "right") };
      const answer = await surface.ask(by, { ...lift, ...anew });
      expect([surface.name, answer?.body["baseline"]]).toEqual([surface.name, baseline]);
      const lifted = (await fixture.entriesSince(from, 1)).filter(({ action }) => action === "halt.lifted");
      expect(lifted.map(({ data }) => [data["baseline"], data["cosigned_by"]])).toEqual([[baseline, by.actor]]);
      surface.close();
    }
    await fixture.stand();
    const by = await fixture.caller("operator and risk_officer");
    const anew = rebase ? ` --rebase --totp ${await fixture.codeOf(by, "right")}` : "";
    const reported = await ctl(`cmd resume alpha --reason over --confirm RESUME${anew}`, { by });
    expect(reported.stdout).toContain(rebase ? "Losses are counted from now on." : "the baseline that they had.");
  });

  test("is new only for a risk officer with a code, on every surface, and who is refused stands in the record", async () => {
    const officer = await fixture.caller("operator and risk_officer");
    for (const surface of surfaces()) {
      const from = await fixture.mark();
      const code = await fixture.codeOf(operator, "right");
      const plain = await surface.ask(operator, { ...lift, rebase: true, code });
      const bare = await surface.ask(officer, { ...lift, rebase: true });
      const codes = ["RESUME_REBASE_NOT_RISK_OFFICER", "STEP_UP_REQUIRED"];
      expect([surface.name, plain?.code, bare?.code]).toEqual([surface.name, ...codes]);
      expect((await attempts(from)).map(({ data }) => [data["allowed"], data["code"]])).toEqual(
        codes.map((one) => [false, one]),
      );
      surface.close();
    }
    const reported = await ctl("cmd resume alpha --reason over --confirm RESUME --rebase", { by: officer });
    expect([reported.exit, reported.stderr.includes("--totp CODE")]).toEqual([5, true]);
  });

  test("of everything is the requester's choice, whatever the signer says", async () => {
    const all = { verb: "request-all", level: "FIRM_HALT", target: "", word: "RESUME", reason: "over" } as const;
    for (const rebase of [true, undefined]) {
      await fixture.stand();
      const [one, other] = [await fixture.caller("operator"), await fixture.caller("operator")];
      const asked = { ...all, code: await fixture.codeOf(one, "right"), ...(rebase && { rebase }) };
      const requestId = String((await fixture.askDirectly(one, asked)).body["request_id"]);
      const sign = { ...all, requestId, code: await fixture.codeOf(other, "right"), ...(!rebase && { rebase: true }) };
      const signed = await fixture.askDirectly(other, sign as Request);
      expect(signed.body["baseline"]).toBe(rebase ? "rebased" : "kept");
    }
  });
});

describe("bad input", () => {
  const halt = { severity: "FUND_HALT", fund_id: "gamma", reason: "", requested_by: "", confirmation: "HALT" };
  const resume = { reason: "over", confirmation: "RESUME", halt_ids: [] };
  const grpcInput: readonly (readonly [string, "RequestHalt" | "ResumeHalt", object, string, RegExp])[] = [
    [
      "a fund that nobody has",
      "RequestHalt",
      { ...halt, fund_id: "nowhere" },
      "HALT_SCOPE_INVALID",
      /no fund "nowhere"/,
    ],
    ["no fund", "RequestHalt", { ...halt, fund_id: "" }, "HALT_SCOPE_INVALID", /names its fund/],
    [
      "no level",
      "RequestHalt",
      { ...halt, severity: "SEVERITY_UNSPECIFIED" },
      "HALT_SCOPE_INVALID",
      /says its severity/,
    ],
    ["no strategy", "RequestHalt", { ...halt, severity: "STRATEGY_HALT" }, "HALT_SCOPE_INVALID", /names its strategy/],
    [
      "a strategy of another fund",
      "RequestHalt",
      { ...halt, severity: "STRATEGY_HALT", strategy_id: "beta-trend" },
      "HALT_SCOPE_INVALID",
      /"beta-trend" belongs to beta, not to "gamma"/,
    ],
    ["the fund of drills", "RequestHalt", { ...halt, fund_id: "drill" }, "HALT_SCOPE_INVALID", /drill/],
    ["a halt_id that is none", "RequestHalt", { ...halt, halt_id: "two words" }, "HALT_SCOPE_INVALID", /halt_id/],
    [
      "a fund that nobody has",
      "ResumeHalt",
      { ...resume, fund_id: "nowhere" },
      "HALT_SCOPE_INVALID",
      /no fund "nowhere"/,
    ],
    [
      "a strategy that nobody has",
      "ResumeHalt",
      { ...resume, strategy_id: "nobody" },
      "HALT_SCOPE_INVALID",
      /no strategy "nobody"/,
    ],
    [
      "a strategy of another fund",
      "ResumeHalt",
      { ...resume, fund_id: "beta", strategy_id: "alpha-momentum" },
      "HALT_SCOPE_INVALID",
      /no strategy "alpha-momentum" in "beta"/,
    ],
    ["the fund of drills", "ResumeHalt", { ...resume, fund_id: "drill" }, "HALT_SCOPE_INVALID", /no fund "drill"/],
    [
      "only blanks for a reason",
      "ResumeHalt",
      { ...resume, fund_id: "alpha", reason: " \t\n" },
      "RESUME_REASON_MISSING",
      /why/i,
    ],
  ];

  test.each(grpcInput)("%s, over gRPC: %s", async (_what, method, message, code, sentence) => {
    const before = await fixture.inForce();
    for (const service of ["Operations", "RiskEngine"] as const) {
      const client = testClient(fixture.grpc[service], { token: operator.token ?? "" });
      const from = await fixture.mark();
      const { metadata, details } = await client.call(service, method, message);
      client.close();
      expect([service, metadata.get("portcullis-code")[0]]).toEqual([service, code]);
      expect(details).toMatch(sentence);
      expect((await attempts(from)).map(({ actor, data }) => [actor, data["code"]])).toEqual([[operator.actor, code]]);
    }
    expect(await fixture.inForce()).toEqual(before);
  });

  const word = { confirmation: "HALT" };
  const again = { confirmation: "RESUME", reason: "over" };
  const restInput: readonly (readonly [string, string, object, number, string, RegExp])[] = [
    ["a name that nobody has", "/v1/halts", { ...word, id: "nowhere" }, 400, "HALT_SCOPE_INVALID", /no fund "nowhere"/],
    [
      "a name that is none",
      "/v1/halts",
      { ...word, id: "two words" },
      400,
      "INVALID_ARGUMENT",
      /id: expected an identifier/,
    ],
    ["a control character in a name", "/v1/halts", { ...word, id: "alpha\u0007" }, 400, "INVALID_ARGUMENT", /id/],
    ["two names", "/v1/halts", { ...word, id: "beta", severity: "FIRM_HALT" }, 400, "INVALID_ARGUMENT", /id alone/],
    ["a fund and no level", "/v1/halts", { ...word, fund_id: "gamma" }, 400, "HALT_SCOPE_INVALID", /severity/],
    ["a level that is none", "/v1/halts", { ...word, severity: "ALL" }, 400, "INVALID_ARGUMENT", /severity/],
    ["a misspelt field", "/v1/halts", { ...word, reasons: "x" }, 400, "INVALID_ARGUMENT", /reasons/],
    [
      "a name that nobody has",
      "/v1/halts/resume",
      { ...again, id: "nowhere" },
      400,
      "HALT_SCOPE_INVALID",
      /no fund "nowhere"/,
    ],
    [
      "a reason as long as a book",
      "/v1/halts/resume",
      { ...again, id: "alpha", reason: "x".repeat(10_001) },
      400,
      "INVALID_ARGUMENT",
      /reason/,
    ],
    [
      "a code as long as a book",
      "/v1/halts/resume",
      { ...again, one_time_code: "1".repeat(21) },
      400,
      "INVALID_ARGUMENT",
      /one_time_code/,
    ],
    [
      "a scope and a request",
      "/v1/halts/resume",
      { ...again, id: "alpha", request_id: "r-1" },
      404,
      "RESUME_REQUEST_UNKNOWN",
      /no such request/,
    ],
  ];
  test.each(restInput)("%s, over REST at %s", async (_what, path, body, status, code, sentence) => {
    const before = await fixture.inForce();
    const from = await fixture.mark();
    const answer = await postJson(`${fixture.url}${path}`, operator.token, body);
    expect([answer.reported, answer.code]).toEqual([status, code]);
    expect(answer.sentence).toMatch(sentence);
    expect((await attempts(from)).map(({ actor, data }) => [actor, data["code"]])).toEqual([[operator.actor, code]]);
    expect(await fixture.inForce()).toEqual(before);
  });

  test("never stands in the way of a halt where it is only in the reason: that is cut and cleaned", async () => {
    const reason = `\u0007first\nsecond\u2028${"x".repeat(20_000)}`;
    const grpc = (await grpcSurface(fixture, "RiskEngine").ask(operator, {
      verb: "halt",
      level: "FUND_HALT",
      target: "gamma",
      word: "HALT",
      reason,
    })) ?? { code: "?" };
    const rest = await postJson(`${fixture.url}/v1/halts`, operator.token, { id: "gamma", ...word, reason });
    expect([grpc.code, rest.code]).toEqual(["", ""]);
    const latched = fixture.fixture.tables.risk.halts.filter(({ fund_id: id }) => id === "gamma");
    expect(latched.map((one) => [one.reason.length, one.reason.slice(0, 14)])).toEqual([
      [2_000, " first second "],
      // At a person's door it is marked instead, so that nothing of it is lost.
      [2_000, "⟨U+0007⟩first⟨"],
    ]);
  });

  test("of a machine is as much on record as a person's", async () => {
    const machine = await fixture.caller("machine");
    const from = await fixture.mark();
    const answer = await postJson(`${fixture.url}/v1/halts`, machine.token, { id: "nowhere" });
    expect([answer.reported, answer.code]).toEqual([400, "HALT_SCOPE_INVALID"]);
    expect((await attempts(from)).map(({ actor, data }) => [actor, data["allowed"]])).toEqual([[machine.actor, false]]);
  });
});
