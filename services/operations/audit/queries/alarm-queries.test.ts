// The list of alarms: what was published becomes a row with its scope and its place in the log, newest first, page by page, over every log there is; and
// what the index alone calls an alarm is none.
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Alarms, ListAlarmsRequest } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format, minusMilliseconds, parse } from "../../../../contracts/src/instant.ts";
import { subjects } from "../../../../contracts/src/subjects.ts";
import { makeEntry } from "../../../../core/audit/entry.ts";
import { zeroHex } from "../../../../core/audit/hash.ts";
import type { AuditRow, ClosedLog, ClosedLogReads } from "../../../../ports/audit-log.ts";
import type { RpcCall } from "../../../../ports/rpc.ts";
import { auditFixture } from "../../../../testkit/audit/service-fixture.ts";
import { type AlarmQueriesPorts, alarmHandlers } from "./alarm-queries.ts";

const sha256 = (content: Uint8Array): string => hash("sha256", content, "binary");
const now = parse("2026-11-15T12:00:00.000000Z");
const before = (minutes: number): string => format(minusMilliseconds(now, minutes * 60_000));

const ask = (ports: AlarmQueriesPorts, request: Partial<ListAlarmsRequest> = {}): Promise<Alarms> =>
  alarmHandlers(ports)["ListAlarms"]?.(
    { hours: 0, count_max: 0, ...request } as never,
    {} as RpcCall,
  ) as Promise<Alarms>;

interface Recorded {
  readonly sequence: number;
  readonly minutesAgo: number;
  readonly raisedMinutesAgo?: number;
  readonly action?: string;
  readonly payload?: object;
}

const rowOf = ({ sequence, minutesAgo, raisedMinutesAgo, action = "alarm.raised", payload }: Recorded): AuditRow => {
  const alarm = { code: "EVENT_PARKED", level: "critical", service: "oms", sentence: "It is so.", facts: {} };
  const data = {
    at: before(minutesAgo),
    event_id: `e-${sequence}`,
    payload: payload ?? { ...alarm, at: before(raisedMinutesAgo ?? minutesAgo) },
    source: "oms",
    subject: "s",
  };
  const fields = { sequence, timestamp: before(minutesAgo), actor: "service:oms", action, subject_id: "oms", data };
  return { sequence, text: makeEntry({ ...fields, prev_hash: zeroHex }, sha256).text };
};

const readsOf = (recorded: readonly Recorded[]): Pick<ClosedLogReads, "readAlarms"> => {
  const rows = recorded.map(rowOf);
  return {
    readAlarms: async (first, count) =>
      rows
        .filter(({ sequence }) => sequence < first)
        .reverse()
        .slice(0, count),
  };
};

/** The last of these logs is the one that is written. */
function portsOf(...logs: readonly (readonly Recorded[])[]): AlarmQueriesPorts {
  const closed = logs.slice(0, -1).map((_, at) => ({ number: at + 1 }) as ClosedLog);
  return {
    auditLog: {
      ...readsOf(logs.at(-1) ?? []),
      closedLogs: async () => closed,
      closed: ({ number }) => readsOf(logs[number - 1] ?? []) as ClosedLogReads,
    },
    clock: { now: () => now },
    status: () => ({ number: logs.length }) as ReturnType<AlarmQueriesPorts["status"]>,
  };
}

const idsOf = ({ alarms }: Alarms): string[] => alarms.map(({ alarm_id }) => alarm_id);

describe("the list of alarms", () => {
  it("has what was published, with its scope and its entry", async () => {
    const fixture = auditFixture({ seed: 26 });
    const { audit, auditLog } = await fixture.start();
    const at = format(fixture.time.clock.now());
    await fixture.publish("oms", subjects.alarmRaised, {
      code: "ORDER_OVERFILLED",
      level: "warning",
      service: "oms",
      sentence: "It traded 11 of 10.",
      at,
      facts: { fund_id: "alpha", symbol: "AAPL", order_id: "o-1" },
    });
    await fixture.time.run({ untilMs: fixture.time.elapsedMs() + 5_000 });
    const { alarms } = await fixture.finish(ask({ auditLog, clock: fixture.time.clock, status: audit.status }));
    const [entry] = await fixture.finish(auditLog.readAlarms(Number.MAX_SAFE_INTEGER, 1));
    expect(alarms).toEqual([
      {
        alarm_id: `1-${entry?.sequence}`,
        at,
        code: "ORDER_OVERFILLED",
        level: "warning",
        service: "oms",
        sentence: "It traded 11 of 10.",
        fund_id: "alpha",
        strategy_id: "",
        symbol: "AAPL",
        facts: { fund_id: "alpha", symbol: "AAPL", order_id: "o-1" },
        sequence: entry?.sequence,
        event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    ]);
  });

  const ten = Array.from({ length: 10 }, (_, at) => ({ sequence: at * 3, minutesAgo: 100 - at * 10 }));

  it("is newest first, of the hours that are asked for", async () => {
    expect(idsOf(await ask(portsOf(ten), { hours: 0.5 }))).toEqual(["1-27", "1-24", "1-21"]);
    expect(idsOf(await ask(portsOf(ten)))).toHaveLength(10);
  });

  it.each([1, 3, 10, 11])("in pages of %d has each once, in order", async (count) => {
    const ports = portsOf(ten, ten);
    const seen: string[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = idsOf(
        await ask(ports, { count_max: count, ...(after === undefined ? {} : { after_alarm_id: after }) }),
      );
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(count);
      seen.push(...page);
    }
    expect(seen).toEqual([2, 1].flatMap((log) => ten.toReversed().map(({ sequence }) => `${log}-${sequence}`)));
  });

  it("goes on past a full page of the store", async () => {
    const many = Array.from({ length: 450 }, (_, sequence) => ({ sequence, minutesAgo: 1 }));
    expect(idsOf(await ask(portsOf(many), { count_max: 450 }))).toHaveLength(450);
  });

  it("reads no further than the first that is too old", async () => {
    const many = Array.from({ length: 1_000 }, (_, sequence) => ({ sequence, minutesAgo: sequence < 990 ? 90 : 1 }));
    const { auditLog, ...ports } = portsOf(many);
    let reads = 0;
    const readAlarms = (first: number, count: number) => {
      reads += 1;
      return auditLog.readAlarms(first, count);
    };
    const found = await ask({ ...ports, auditLog: { ...auditLog, readAlarms } }, { hours: 1 });
    expect([idsOf(found).length, reads]).toEqual([10, 1]);
  });

  it("does not believe the index, leaves out what cannot be read, and what was raised before and recorded late", async () => {
    const recorded = [
      { sequence: 1, minutesAgo: 5 },
      { sequence: 2, minutesAgo: 4, action: "note.made" },
      { sequence: 3, minutesAgo: 3, payload: { code: "no alarm" } },
      { sequence: 4, minutesAgo: 2, raisedMinutesAgo: 90 },
      { sequence: 5, minutesAgo: 1 },
    ];
    expect(idsOf(await ask(portsOf(recorded), { hours: 1 }))).toEqual(["1-5", "1-1"]);
  });

  it.each([
    { hours: -1 },
    { hours: 9_000 },
    { hours: Number.NaN },
    { count_max: 502 },
    { after_alarm_id: "e-1" },
    { after_alarm_id: "" },
  ])("refuses %o with what to ask instead", async (request) => {
    await expect(ask(portsOf(ten), request)).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
  });
});
