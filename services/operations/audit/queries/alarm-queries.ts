// The alarms that were raised, newest first, as the audit log has them: every alarm of the platform is an entry, and entries are never trimmed. Closed
// logs are read after the one that is written, so that the alarm that led to a log's end is not lost with it.
import type { Alarm, Alarms, ListAlarmsRequest } from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import { format, type Instant, minusMilliseconds, tryParse } from "../../../../contracts/src/instant.ts";
import { alarmRaised } from "../../../../contracts/src/records/platform.ts";
import { readEntry } from "../../../../core/audit/entry.ts";
import type { AuditLog, AuditRow } from "../../../../ports/audit-log.ts";
import type { Clock } from "../../../../ports/clock.ts";
import type { UnaryHandler } from "../../../../ports/rpc.ts";
import type { RunningAudit } from "../audit-ports.ts";
import { invalid } from "../log/reserved.ts";
import { atMost } from "./at-most.ts";

export interface AlarmQueriesPorts extends Pick<RunningAudit, "status"> {
  readonly auditLog: Pick<AuditLog, "readAlarms" | "closedLogs" | "closed">;
  readonly clock: Clock;
}

/** One more than a page of HTTP, which tells whether there is another. */
const countLimit = 501;
const countDefault = 100;
const hoursDefault = 24;
const hoursMax = 24 * 366;
const hourMs = 3_600_000;
const readingsMax = 8;
const pageRows = 200;
const everything = Number.MAX_SAFE_INTEGER;
const alarmId = /^([1-9][0-9]{0,3})-(0|[1-9][0-9]{0,15})$/;

export function alarmHandlers(ports: AlarmQueriesPorts): Readonly<Record<string, UnaryHandler>> {
  const fewReadings = atMost(readingsMax, "lists of alarms are being read");
  return { ListAlarms: (request: ListAlarmsRequest) => fewReadings(() => listAlarms(ports, request)) };
}

interface Asked {
  readonly since: Instant;
  readonly count: number;
  /** Only entries of this log and of those before it, and of this log only those before the entry. */
  readonly log: number;
  readonly before: number;
}

async function listAlarms(ports: AlarmQueriesPorts, request: ListAlarmsRequest): Promise<Alarms> {
  const asked = askedOf(ports, request);
  const { number: written } = ports.status();
  const closed = (await ports.auditLog.closedLogs()).filter(({ number }) => number < written);
  const logs = [
    { number: written, reads: ports.auditLog },
    ...closed.toReversed().map((log) => ({ number: log.number, reads: ports.auditLog.closed(log) })),
  ];
  const alarms: Alarm[] = [];
  for (const { number, reads } of logs) {
    if (number > asked.log) continue;
    const before = number === asked.log ? asked.before : everything;
    const isOver = await readInto(alarms, reads, number, { ...asked, before });
    if (isOver) break;
  }
  return { alarms };
}

/** Says whether no older one is wanted. Entries are in order of their time, so the first that is too old is the last to be read. */
async function readInto(
  alarms: Alarm[],
  reads: Pick<AuditLog, "readAlarms">,
  log: number,
  { since, count, before: first }: Asked,
): Promise<boolean> {
  for (let before = first; ; ) {
    const rows = await reads.readAlarms(before, pageRows);
    for (const row of rows) {
      const found = alarmOf(row, log, since);
      if (found === "too old") return true;
      if (found !== undefined) alarms.push(found);
      if (alarms.length >= count) return true;
    }
    const last = rows.at(-1);
    if (rows.length < pageRows || last === undefined) return false;
    before = last.sequence;
  }
}

/** Undefined for what the index calls an alarm and the entry does not: the index is not part of what is hashed. */
function alarmOf({ sequence, text }: AuditRow, log: number, since: Instant): Alarm | "too old" | undefined {
  const entry = readEntry(text);
  const recorded = entry === undefined ? undefined : tryParse(entry.timestamp);
  if (entry?.action !== "alarm.raised" || recorded === undefined) return undefined;
  if (recorded < since) return "too old";
  const read = alarmRaised.safeParse(entry.data["payload"]);
  if (!read.success) return undefined;
  const { code, level, service, sentence, facts = {}, at } = read.data;
  const raised = tryParse(at);
  // Recorded late, for example after the log was closed: it was raised before the time that is asked about.
  if (raised === undefined || raised < since) return undefined;
  const eventId = entry.data["event_id"];
  return {
    alarm_id: `${log}-${sequence}`,
    at: format(raised),
    code,
    level,
    service,
    sentence,
    ...scopeOf(facts),
    facts: { ...facts },
    sequence,
    event_id: typeof eventId === "string" ? eventId : "",
  };
}

function scopeOf(facts: Readonly<Record<string, unknown>>): Pick<Alarm, "fund_id" | "strategy_id" | "symbol"> {
  const text = (name: string): string => {
    const value = facts[name];
    return typeof value === "string" ? value : "";
  };
  return { fund_id: text("fund_id"), strategy_id: text("strategy_id"), symbol: text("symbol") };
}

function askedOf(
  ports: AlarmQueriesPorts,
  { hours, count_max: count, after_alarm_id: after }: ListAlarmsRequest,
): Asked {
  const wanted = hours === 0 ? hoursDefault : hours;
  if (!(wanted > 0 && wanted <= hoursMax)) {
    throw invalid(
      `hours is ${hours}: give a number above 0 and up to ${hoursMax}, or leave it out for ${hoursDefault}.`,
    );
  }
  if (count > countLimit) throw invalid(`count_max is ${count}: ask for at most ${countLimit}.`);
  const since = minusMilliseconds(ports.clock.now(), wanted * hourMs);
  const [, log, before] = (after === undefined ? undefined : alarmId.exec(after)) ?? [];
  if (after !== undefined && log === undefined) {
    throw invalid(
      `after_alarm_id is ${JSON.stringify(after.slice(0, 100))}: give the alarm_id of the last alarm that you have.`,
    );
  }
  return {
    since,
    count: count === 0 ? countDefault : count,
    log: log === undefined ? everything : Number(log),
    before: before === undefined ? everything : Number(before),
  };
}
