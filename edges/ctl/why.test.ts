// What is told of a decision, and reference data shown and set, against a server that answers as told.
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeServer, problem, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-why-"));
  server = await startFakeServer();
});
afterEach(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const nowMs = Date.parse("2026-11-15T13:30:00Z");
const run = (line: string) =>
  runFake(line.split(" "), {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(nowMs),
    folder: home,
  });
const bodyOf = (route: string): unknown => JSON.parse(server.calls(route).at(-1)?.body ?? "null");

const at = "2026-11-15T13:29:00.000000Z";

describe("why", () => {
  const order = {
    idempotency_key: "k-1",
    order_id: "o-1",
    fund_id: "alpha",
    strategy_id: "alpha-momentum",
    symbol: "AAPL",
    side: "BUY",
    quantity: "100",
    order_type: "LIMIT",
    limit_price: "190.50",
    tif: "DAY",
    broker: "paper",
    asset_class: "EQUITY",
    actor: "bot \u001b[31mred",
  };
  const passed = (gate: string) => ({ gate, result: "PASSED", figures: [], microseconds: 3.1372 });
  const denied = {
    approved: false,
    rejecting_gate: "position_risk",
    code: "POSITION_LIMIT_EXCEEDED",
    reason: "It would be 8 %.",
    order_id: "o-1",
    decision_id: "d-1",
    fund_id: "alpha",
    envelope_version: 7,
    halt_epoch: 3,
    decided_at: at,
    classification: "FLIP",
    closing_quantity_allowed: "40",
    checks: [
      passed("idempotency"),
      {
        gate: "position_risk",
        result: "FAILED",
        figures: [
          { name: "nav", value: "10000000", age_ms: 412 },
          { name: "position_after", value: "800000" },
        ],
        microseconds: 12,
      },
    ],
    warnings: [{ limit: "max_gross_exposure_pct", used: 0.932, threshold: 0.9 }],
  };

  it("S7: says of an approval that nobody sent what became of it", async () => {
    const approved = { ...denied, approved: true, rejecting_gate: "", code: "", reason: "" };
    server.on("GET /v1/riskengine/decisions/o-1", { body: [{ order, decision: approved }] });
    const route = "GET /v1/riskengine/approvals?order_id=o-1";
    for (const state of ["RELEASED", "EXPIRED"]) {
      server.on(route, { body: [{ order_id: "o-1", state }] });
      expect((await run("why o-1")).stdout).toContain(
        `The approval ${state === "RELEASED" ? "was RELEASED" : state} before`,
      );
    }
    server.on(route, { body: [{ order_id: "o-1", state: "SENT" }] });
    expect((await run("why o-1")).stdout).not.toContain("approval");
    server.on(route, problem(503, "SERVICE_UNAVAILABLE", "The service riskengine does not answer."));
    expect(await run("why o-1")).toMatchObject({ exit: 0, stdout: expect.stringContaining("could not be asked") });
  });

  it("tells the verdict first, then everything that led to it", async () => {
    server.on("GET /v1/riskengine/decisions/o-1", { body: [{ order, decision: denied }] });
    const { exit, stdout } = await run("why o-1");
    expect(exit).toBe(0);
    expect(stdout.split("\n").slice(0, 2)).toEqual([
      "DENIED by position_risk: POSITION_LIMIT_EXCEEDED",
      "It would be 8 %.",
    ]);
    for (const line of [
      /^Order +o-1: BUY 100 AAPL LIMIT limit 190\.50 DAY$/m,
      /^Could close +40, as an order of its own/m,
      /^Limits +envelope version 7$/m,
      /^passed {2}idempotency +Is this the first order under its key within 5 minutes\? \(3\.14 µs\)$/m,
      /^FAILED {2}position_risk .*\(12 µs\)\n +nav +10000000, 0\.412 s old\n +position_after +800000$/m,
      /^not reached: schema, static, drawdown_halt, short_side, cro_veto$/m,
      /^ {2}max_gross_exposure_pct: 93\.2 % of the limit would be used/m,
    ]) {
      expect(stdout).toMatch(line);
    }
    expect(stdout).not.toContain("\u001b");
  });

  it("says whose token brought the order before what the order claims, and that nobody recorded it where nobody did", async () => {
    server.on("GET /v1/riskengine/decisions/o-1", { body: [{ order, decision: denied }] });
    const factsOf = async () => /^Submitted by .*\nActor, claimed .*$/m.exec((await run("why o-1")).stdout)?.[0];
    const notRecorded = "Submitted by    not recorded\nActor, claimed  bot ⟨U+001B⟩[31mred";
    expect(await factsOf()).toBe(notRecorded);
    const status = { order, state: "FILLED", filled_quantity: "100", created_at: at, updated_at: at };
    server.on("GET /v1/oms/orders/o-1", { body: status });
    expect(await factsOf()).toBe(notRecorded);
    server.on("GET /v1/oms/orders/o-1", { body: { ...status, submitted_by: "operator:eve" } });
    expect(await factsOf()).toMatch(/^Submitted by +operator:eve\n/);
    server.on("GET /v1/oms/orders/o-1", problem(503, "SERVICE_UNAVAILABLE", "The service oms does not answer."));
    expect(await factsOf()).toMatch(/^Submitted by +not known: order management does not answer\n/);
  });

  it("tells several decisions in the order of time, and the first one under a key that was used again", async () => {
    const approved = { ...denied, approved: true, rejecting_gate: "", code: "", reason: "", checks: [], warnings: [] };
    const duplicate = { ...denied, code: "DUPLICATE_KEY", rejecting_gate: "idempotency", original: approved };
    const body = [approved, duplicate].map((decision) => ({ order, decision }));
    server.on("GET /v1/riskengine/decisions/o-1", { body });
    const { stdout } = await run("why o-1");
    expect(stdout).toMatch(
      /^Decision 1 of 2\nAPPROVED\n[\s\S]*\n\nDecision 2 of 2\nDENIED by idempotency: DUPLICATE_KEY/,
    );
    expect(stdout).toMatch(/The first decision under this key \(decision d-1, .*\):\nAPPROVED/);
    expect(JSON.parse((await run("why o-1 --json")).stdout)).toEqual(body);
  });

  it("of an order that nobody asked about ends with 1", async () => {
    server.on("GET /v1/riskengine/decisions/a%2Fb", problem(404, "NOT_FOUND", "No decision is on record."));
    expect(await run("why a/b")).toMatchObject({
      exit: 1,
      stderr: expect.stringContaining("No decision is on record."),
    });
    expect((await run("why a/b")).stderr).toContain("`ctl oms orders show a/b`");
    expect(JSON.parse((await run("why a/b --json")).stderr)).toMatchObject({
      code: "NOT_FOUND",
      exit_code: 1,
      status: 404,
    });
  });
});

describe("reference data", () => {
  const content = [{ symbol: "XOM", reason: "earnings" }];
  const document = { kind: "restricted", version: 2, content, reason: "Q3", set_by: "operator:duty", set_at: at };
  const route = "/v1/treasury/reference/restricted";

  it("is shown in the form that it is set in", async () => {
    server.on(`GET ${route}`, { body: document });
    const shown = await run("treasury reference show --kind restricted");
    expect(JSON.parse(shown.stdout)).toEqual(content);
    expect(shown.stderr).toContain("restricted, version 2, set by operator:duty");
    expect(JSON.parse((await run("treasury reference show --kind restricted --json")).stdout)).toEqual(document);
    expect(await run("treasury reference show --kind gossip")).toMatchObject({ exit: 2 });
    server.on(`PUT ${route}`, { body: { ...document, version: 3 } });
    for (const text of [shown.stdout, JSON.stringify(document)]) {
      writeFileSync(join(home, "list.json"), text);
      const set = await run("treasury reference set --kind restricted --file list.json --reason Q4");
      expect(set).toMatchObject({ exit: 0, stdout: "restricted is at version 3 (1 records, 1 before).\n" });
      expect(bodyOf(`PUT ${route}`)).toEqual({ version: 3, content, reason: "Q4" });
    }
  });

  it.each([
    ["none.json", undefined, "cannot be read"],
    ["broken.json", "[{", "cannot be read as JSON"],
    ["object.json", "{}", "no list of records"],
    ["other.json", '{"kind":"fx","content":[]}', "--kind says restricted"],
  ])("refuses %s before anything is sent", async (name, text, sentence) => {
    if (text !== undefined) writeFileSync(join(home, name), text);
    const done = await run(`treasury reference set --kind restricted --file ${name}`);
    expect(done).toMatchObject({ exit: 2, stderr: expect.stringContaining(sentence) });
    expect(server.seen).toEqual([]);
  });

  it("asks for a second factor where the server says that it loosens, for the content as it is sent", async () => {
    server.on(`GET ${route}`, { body: document });
    server.on(`PUT ${route}`, problem(403, "STEP_UP_REQUIRED", "It loosens restricted XOM."));
    server.on("POST /v1/auth/step-up", { status: 201, body: { proof: "psu_1", expires_at: at } });
    writeFileSync(join(home, "list.json"), '[{"reason":"r","symbol":"MSFT"}]');
    const command = "treasury reference set --kind restricted --file list.json --reason done";
    expect(await run(command)).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("It loosens restricted XOM."),
    });
    await run(`${command} --totp 123456`);
    const hash = createHash("sha256").update('[{"reason":"r","symbol":"MSFT"}]').digest("hex");
    expect(bodyOf("POST /v1/auth/step-up")).toEqual({
      action: "SetReferenceData",
      parameters: { kind: "restricted", version: 3, hash, reason: "done" },
      totp: "123456",
    });
    expect(bodyOf(`PUT ${route}`)).toMatchObject({ version: 3, reason: "done", step_up_proof: "psu_1" });
  });

  it("waits for a second person during a halt, who signs with their own code", async () => {
    server.on(`GET ${route}`, { body: document });
    const pending = { pending: true, request_id: "r-1", expires_at: at };
    server.on(`PUT ${route}`, { status: 202, body: { ...document, version: 3, ...pending } });
    writeFileSync(join(home, "list.json"), "[]");
    const asked = await run("treasury reference set --kind restricted --file list.json --reason done");
    expect(asked).toMatchObject({ exit: 8, stdout: expect.stringContaining("somebody else must sign request r-1") });
    const signing = "POST /v1/treasury/reference/requests/r-1/cosign";
    server.on(signing, problem(403, "STEP_UP_REQUIRED", "operator:duty asked for version 3."));
    server.on("POST /v1/auth/step-up", { status: 201, body: { proof: "psu_2", expires_at: at } });
    expect(await run("treasury reference set --cosign r-1")).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining("operator:duty asked for version 3."),
    });
    await run("treasury reference set --cosign r-1 --totp 123456");
    expect(bodyOf(signing)).toEqual({ step_up_proof: "psu_2" });
    expect(bodyOf("POST /v1/auth/step-up")).toMatchObject({
      action: "CosignReferenceData",
      parameters: { request_id: "r-1" },
    });
    for (const wrong of ["", "--kind restricted", "--cosign r-1 --file list.json"]) {
      expect(await run(`treasury reference set ${wrong}`)).toMatchObject({ exit: 2 });
    }
  });

  it("is a conflict when somebody was faster", async () => {
    server.on(`GET ${route}`, { body: document });
    server.on(`PUT ${route}`, problem(409, "REFERENCE_VERSION_CONFLICT", "It is at 5."));
    writeFileSync(join(home, "list.json"), "[]");
    expect(await run("treasury reference set --kind restricted --file list.json")).toMatchObject({ exit: 7 });
  });
});
