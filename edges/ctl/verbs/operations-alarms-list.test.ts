// `ctl operations alarms list`: pages are followed, a table says what and how bad, and programs get what the API says.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type FakeServer, runFake, startFakeServer, virtualTime } from "../../../testkit/ctl/fakes.ts";

let home = "";
let server: FakeServer;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "portcullis-ctl-alarms-"));
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

const alarm = (sequence: number) => ({
  alarm_id: `1-${sequence}`,
  at: "2026-11-15T13:29:57.000000Z",
  code: "ORDER_OVERFILLED",
  level: "warning",
  service: "oms",
  sentence: "It traded 11 of 10.",
  fund_id: "alpha",
  facts: { about: "o-1" },
  sequence,
  event_id: `e-${sequence}`,
});

it("follows the pages, and says when there are more", async () => {
  const [first, rest] = [
    Array.from({ length: 500 }, (_, at) => alarm(1_000 - at)),
    Array.from({ length: 101 }, (_, at) => alarm(500 - at)),
  ];
  server.on("GET /v1/operations/alarms?hours=24&count_max=500", { body: first });
  server.on("GET /v1/operations/alarms?hours=24&count_max=101&after=1-501", { body: rest });
  const { exit, stdout, stderr } = await run("operations alarms list --limit 600 --json");
  expect(exit).toBe(0);
  expect(JSON.parse(stdout)).toEqual([...first, ...rest].slice(0, 600));
  expect(stderr).toContain("more than 600");
});

it("is a table for people, and has everything as CSV", async () => {
  server.on("GET /v1/operations/alarms?hours=1&count_max=101", { body: [alarm(7)] });
  const { stdout } = await run("operations alarms list --hours 1");
  expect(stdout).toMatch(/3 s ago +warning +ORDER_OVERFILLED .*alpha.*It traded 11 of 10\./);
  const { stdout: csv } = await run("operations alarms list --hours 1 --format csv");
  expect(csv).toContain("at,level,code,service,fund_id,strategy_id,symbol,sentence,sequence,facts,alarm_id,event_id");
  server.on("GET /v1/operations/alarms?hours=1&count_max=101", { body: [] });
  expect((await run("operations alarms list --hours 1")).stdout).toContain("No alarm was raised in the last 1 h.");
});
