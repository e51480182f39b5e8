// The parts of the platform and their logs, as the gateway tells them.
import { describe, expect, it } from "vitest";
import { systemTimers } from "../../../adapters/system/timers.ts";
import { plusMilliseconds } from "../../../contracts/src/instant.ts";
import type { HttpStream } from "../../../ports/http.ts";
import type { KeptLogs, LinesWanted } from "../../../ports/kept-logs.ts";
import { ask, duty, nowForTests } from "../../../testkit/gateway/parts.ts";
import { logsRead } from "./logs.ts";
import { servicesList } from "./services-list.ts";

describe("GET /v1/platform/services", () => {
  const instance = (service: string, pid: number, ms: number) => ({
    service,
    incarnation: String(pid),
    host: "here",
    pid,
    startedAt: plusMilliseconds(nowForTests, ms),
    leaseUntil: nowForTests,
  });

  it("has each part with its health and its newest process, and one that does not report as failing", async () => {
    const route = servicesList({
      expectedServices: ["oms", "research"],
      directory: { all: async () => ({ oms: { status: "ok" as const, complaint: "the broker is silent" } }) },
      ownHealth: () => ({ status: "ok" }),
      instances: async () => [instance("oms", 7, 0), instance("oms", 8, 1_000), instance("gateway", 9, 0)],
    });
    const { body } = await ask(route);
    expect(body).toMatchObject([
      {
        service: "oms",
        status: "ok",
        complaint: "the broker is silent",
        pid: 8,
        started_at: "2026-11-15T13:30:01.000000Z",
      },
      { service: "research", status: "failing", complaint: "it does not report" },
      { service: "gateway", status: "ok", pid: 9, version: expect.stringMatching(/^\d+\.\d+\.\d+/) },
    ]);
    expect((body as readonly object[])[1]).not.toHaveProperty("pid");
  });
});

describe("GET /v1/platform/logs/:service", () => {
  const line = (n: number) => ({ at: "", level: "info", service: "oms", message: `line ${n}` });

  function fixture(read: KeptLogs["read"] = async () => [line(1), line(2)], elsewhere?: string) {
    const asked: LinesWanted[] = [];
    const route = logsRead({
      keptLogs: {
        read: (wanted) => {
          asked.push(wanted);
          return read(wanted);
        },
        follow: async function* () {
          yield [line(3)];
          yield [];
        },
      },
      elsewhere: () => elsewhere,
      verify: async () => duty,
      timers: systemTimers(),
    });
    return { route, asked };
  }

  it("answers what was asked for", async () => {
    const { route, asked } = fixture();
    const query = { level: "warn", since: "2026-11-15T13:30:00.000000Z", count_max: "5" };
    expect((await ask(route, { params: { service: "oms" }, query })).body).toEqual([line(1), line(2)]);
    expect(asked).toEqual([{ service: "oms", level: "warn", since: nowForTests, countMax: 5 }]);
  });

  it("goes on, one line each, and says with an empty one that it stands", async () => {
    const { route } = fixture();
    const answer = await route.handle({
      requestId: "r",
      identity: duty,
      bearer: () => "t",
      remoteAddress: "127.0.0.1",
      headers: {},
      params: { service: "oms" },
      query: { follow: true },
      body: undefined,
    });
    expect(answer.contentType).toMatch(/^application\/x-ndjson/);
    let text = "";
    for await (const piece of (answer.body as HttpStream).pieces(new AbortController().signal)) text += piece;
    expect(text.split("\n").map((one) => (one === "" ? "" : JSON.parse(one).message))).toEqual([
      "line 1",
      "line 2",
      "line 3",
      "",
      "",
    ]);
  });

  it("says of one that runs elsewhere where, and names those that there are", async () => {
    const params = { service: "oms" };
    await expect(ask(fixture(async () => undefined).route, { params })).rejects.toMatchObject({
      code: "NOT_FOUND",
      message: expect.stringMatching(/logged nothing/),
    });
    const { route } = fixture(async () => undefined, "10.0.0.7:50061");
    await expect(ask(route, { params })).rejects.toMatchObject({
      message: expect.stringContaining("another host (10.0.0.7:50061)"),
    });
    expect((await ask(route, { params: { service: "nobody" } })).body).toMatchObject({
      detail: expect.stringContaining("riskengine, operations"),
    });
  });
});
