// What ctl sends when it lifts: exactly the halts that it showed, so that one which was raised while its user was reading is not lifted unseen.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "./fakes.ts";

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

const run = (line: string) =>
  runFake(line.split(" "), {
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
  ...{ fund_id: "alpha", halted: true, severity: "FIRM_HALT", known: true, epoch: 4, progress: [], restarts: [] },
  ...{ lifted_halt_ids: [], as_of: "2026-11-15T13:30:00.000000Z" },
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
