// What ctl sends when it halts and lifts: exactly the halts that it showed, so that one which was raised while its user was reading is not lifted unseen; and
// nothing at all when what was typed cannot be what was meant.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-halts-"));
  server = await startFakeServer();
});
afterAll(async () => {
  await server.close();
  rmSync(home, { recursive: true, force: true });
});

const run = (line: string) => runWords(line.split(" "));
const runWords = (words: readonly string[]) =>
  runFake([...words], {
    environment: { XDG_CONFIG_HOME: home, PORTCULLIS_URL: server.url, PORTCULLIS_TOKEN: "pcs_1_x" },
    ...virtualTime(Date.parse("2026-11-15T13:30:00Z")),
    folder: home,
  });

const halt = { fund_id: "alpha", reason: "news", requested_by: "operator:duty", since: "2026-11-15T13:29:00.000000Z" };
const halts = [
  { ...halt, severity: "STRATEGY_HALT", strategy_id: "alpha-momentum", halt_id: "h-1" },
  { ...halt, severity: "FUND_HALT", halt_id: "h-2" },
  { ...halt, severity: "FUND_HALT", halt_id: "h-3" },
  { ...halt, severity: "FIRM_HALT", fund_id: "", halt_id: "h-4" },
];
const status = {
  fund_id: "alpha",
  halted: true,
  severity: "FIRM_HALT",
  known: true,
  epoch: 4,
  progress: [],
  restarts: [],
  lifted_halt_ids: [],
  as_of: "2026-11-15T13:30:00.000000Z",
};

it.each([
  ["alpha", { ...status, halts }, ["h-2", "h-3"]],
  ["alpha-momentum", { ...status, strategy_id: "alpha-momentum", halts: [halts[0], halts[3]] }, ["h-1"]],
  // Nothing of its own was shown: that there is nothing to lift is the server's to say, and to record.
  ["beta", { ...status, fund_id: "beta", halts: [halts[3]] }, undefined],
])("a resume of %s names the halts of that very scope which were shown", async (id, shown, sent) => {
  server.on(`GET /v1/halts/status?id=${id}`, { body: shown });
  server.on("POST /v1/halts/resume", { body: { ...status, halts: [], baseline: "kept" } });
  expect(await run(`cmd resume ${id} --reason over --confirm RESUME`)).toMatchObject({ exit: 0 });
  const body = JSON.parse(server.calls("POST /v1/halts/resume").at(-1)?.body ?? "{}") as Record<string, unknown>;
  expect([body["id"], body["halt_ids"]]).toEqual([id, sent]);
});

it.each([
  ["cmd halt", "--confirm HALT", "POST /v1/halts"],
  ["cmd resume", "--reason over --confirm RESUME", "POST /v1/halts/resume"],
])(
  "%s of an empty name, a script's unset variable, is a mistake and never the whole firm",
  async (verb, rest, route) => {
    const before = server.calls(route).length;
    for (const empty of ["", " "]) {
      const shown = await runWords([...verb.split(" "), empty, ...rest.split(" ")]);
      expect(shown.exit).toBe(2);
      expect(shown.stderr).toContain("The name of a fund or strategy is empty.");
    }
    expect(server.calls(route)).toHaveLength(before);
  },
);

it("a halt that got no answer says that nobody knows, and how to find out", async () => {
  const problem = { code: "SERVICE_UNAVAILABLE", detail: "The halt manager does not answer.", retry: "later" };
  server.on("POST /v1/halts", { status: 503, body: { type: "about:blank", title: "x", status: 503, ...problem } });
  const shown = await run("cmd halt alpha --confirm HALT");
  expect(shown.exit).toBe(9);
  expect(shown.stderr).toContain("It is not known whether alpha is halted.");
  expect(shown.stderr).toContain("ctl riskengine halts list");
});

it("whoever signs cannot choose another baseline than the request's", async () => {
  const before = server.calls("POST /v1/halts/resume").length;
  const shown = await run("cmd resume --cosign r-1 --rebase --confirm RESUME --totp 123456");
  expect(shown.exit).toBe(2);
  expect(shown.stderr).toContain("leave --rebase out");
  expect(server.calls("POST /v1/halts/resume")).toHaveLength(before);
});

it("a rebase of one scope sends the code with it; without one the server refuses, exit 5, and says what to add", async () => {
  server.on("GET /v1/halts/status?id=alpha", { body: { ...status, halts } });
  server.on("POST /v1/halts/resume", { body: { ...status, halts: [], baseline: "rebased" } });
  const line = "cmd resume alpha --reason over --confirm RESUME --rebase";
  expect(await run(`${line} --totp 123456`)).toMatchObject({ exit: 0 });
  const sent = () => JSON.parse(server.calls("POST /v1/halts/resume").at(-1)?.body ?? "{}") as Record<string, unknown>;
  expect(sent()).toMatchObject({ id: "alpha", rebase: true, one_time_code: "123456" });
  const problem = { code: "STEP_UP_REQUIRED", detail: "To count losses anew needs a one-time code." };
  server.on("POST /v1/halts/resume", {
    status: 403,
    body: { type: "about:blank", title: "x", status: 403, retry: "no", ...problem },
  });
  const refused = await run(line);
  expect(refused.exit).toBe(5);
  expect(refused.stderr).toContain("--totp CODE");
  expect(Object.keys(sent())).not.toContain("one_time_code");
});

it("S8: the list of halts names the request to lift them for programs too", async () => {
  const asked = { request_id: "r-1", requested_by: "operator:duty", baseline: "kept" };
  server.on("GET /v1/halts/status", { body: { ...status, ...asked, reason: "over", halts: [halts[3]] } });
  const shown = JSON.parse((await run("riskengine halts list --json")).stdout) as { resume_request?: object }[];
  expect(shown).toMatchObject([{ halt_id: "h-4", resume_request: { ...asked, reason: "over" } }]);
});
