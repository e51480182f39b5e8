// What the audit log says of a fund's orders whose life may have touched a day, and of the day's records: the steps that order management published, ours or a
// foreign system's, told as the subscription would have heard them. Nothing is taken from what the subscription kept.
//
//  1. Entries are read from the day's beginning to the end of the log: what happened that day may have been published later.
//  2. Of an order that began before, the steps before are found along the links of its own entries; whether it was sliced before is looked for as well.
//  3. Only what the platform wrote counts: a caller of AppendAudit can use neither these actions nor these members.
//  4. Of a foreign system only what is about an order of its own counts, and nothing that a login said whose token was revoked.
import { Fault } from "../../../contracts/src/fault.ts";
import { type Instant, minusMilliseconds, parse } from "../../../contracts/src/instant.ts";
import type { LifeStep, RegimeName } from "../../../contracts/src/records/filing.ts";
import type { DecisionMade } from "../../../contracts/src/records/order.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import type { EntryRecord } from "../../../core/audit/entry.ts";
import { beginningOf } from "../../../core/filings/life.ts";
import type { BusEvent } from "../../../ports/bus.ts";
import { foreignSourceOf, isForeign } from "../../shared/foreign-intake.ts";
import { ownersOf } from "../../shared/order-owners.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { entriesBefore, type LogPart, type LogPlace, logParts, placeOf, scanLog } from "./scan-log.ts";
import { decidedStep, lifeSubjects, stepsOfEvent } from "./steps-of-event.ts";

type DayPorts = Pick<ServicePorts, "auditLog" | "timers" | "sha256OfBytes" | "riskStore" | "store">;

interface DayOfLog {
  readonly regime: RegimeName;
  readonly fundId: string;
  readonly date: string;
  /** What entered the log later is not heard by the subscription yet. */
  readonly heardUntil: Instant | undefined;
  readonly signal: AbortSignal;
}

export interface LoggedOrder {
  readonly orderId: string;
  /** Who published its beginning. */
  source: string;
  readonly steps: LifeStep[];
  /** Ids of steps that the subscription need not have heard yet. */
  readonly pending: Set<string>;
}

/** What an entry says of a record. */
export interface LoggedRecord {
  readonly recordId: string;
  readonly status: string;
  readonly line: number;
  readonly sha256: string;
}

export interface LoggedDay {
  readonly orders: ReadonlyMap<string, LoggedOrder>;
  readonly records: ReadonlyMap<string, LoggedRecord>;
  /** Up to where the log was read; empty when it has no entry. */
  readonly until: string;
}

interface FoundStep {
  readonly orderId: string;
  readonly source: string;
  /** Of a foreign system's: whose order it must be. */
  readonly speaker: string | undefined;
  readonly step: LifeStep;
  readonly isPending: boolean;
}

interface Found {
  readonly steps: Map<string, FoundStep[]>;
  readonly records: Map<string, LoggedRecord>;
  /** Of each order the entry before the first that was read. */
  readonly before: Map<string, { readonly place: LogPlace; readonly previous: unknown }>;
  count: number;
}

const marginMs = 600_000;
const stepsMax = 2_000_000;
const ownersPage = 500;
const stepSubjects: ReadonlySet<unknown> = new Set([...lifeSubjects, subjects.decisionMade.name]);

/** What the log says of the day's records alone. */
export async function readLoggedRecords(
  ports: Pick<ServicePorts, "auditLog" | "timers" | "sha256OfBytes">,
  day: Omit<DayOfLog, "heardUntil">,
): Promise<Pick<LoggedDay, "records" | "until">> {
  const parts = await logParts(ports.auditLog);
  const from = await beginningOfDay(parts, day.date);
  const records = new Map<string, LoggedRecord>();
  const has = [`"subject":"${subjects.filingRecorded.name}"`];
  await scanLog(ports, parts, { from, has, signal: day.signal }, ({ data }) => {
    if (data["subject"] === subjects.filingRecorded.name) takeRecord(records, day, data["payload"]);
  });
  return { records, until: parts.at(-1)?.head.timestamp ?? "" };
}

/** Clocks of the platform's processes are the machine's, which may have been set back. */
function beginningOfDay(parts: readonly LogPart[], date: string): Promise<LogPlace> {
  return placeOf(parts, minusMilliseconds(parse(`${date}T00:00:00.000000Z`), marginMs));
}

export async function readLoggedDay(ports: DayPorts, day: DayOfLog): Promise<LoggedDay> {
  const { fundId, signal } = day;
  const parts = await logParts(ports.auditLog);
  const from = await beginningOfDay(parts, day.date);
  const found: Found = { steps: new Map(), records: new Map(), before: new Map(), count: 0 };
  const has = [`"fund_id":${JSON.stringify(fundId)}`];
  await scanLog(ports, parts, { from, has, signal }, (entry, place) => take(found, day, entry, place));
  await addOlder(parts, found, day, from);
  const sliced = slicedBefore(found, from);
  if (sliced !== undefined) {
    await scanLog(ports, parts, { from: sliced.since, before: from, has, signal }, (entry) => {
      for (const step of stepsOf(entry, day)) if (sliced.orderIds.has(step.orderId)) addStep(found, step, "sliced");
    });
  }
  await dropOthers(ports, found);
  return { orders: ordersOf(found), records: found.records, until: parts.at(-1)?.head.timestamp ?? "" };
}

function take(found: Found, day: DayOfLog, entry: EntryRecord, place: LogPlace): void {
  const { data } = entry;
  if (data["subject"] === subjects.filingRecorded.name) takeRecord(found.records, day, data["payload"]);
  const steps = stepsOf(entry, day);
  for (const step of steps) {
    addStep(found, step);
    if (step.step.kind === "sliced" || found.before.has(step.orderId)) continue;
    found.before.set(step.orderId, { place, previous: data["subject_previous"] });
  }
}

function takeRecord(
  records: Map<string, LoggedRecord>,
  { regime, fundId, date }: Pick<DayOfLog, "regime" | "fundId" | "date">,
  payload: unknown,
): void {
  const of = payload as Readonly<Record<string, unknown>>;
  if (of["regime"] !== regime || of["fund_id"] !== fundId || of["submission_date"] !== date) return;
  const record = {
    recordId: String(of["record_id"]),
    status: String(of["status"]),
    line: Number(of["line"]),
    sha256: String(of["sha256"]),
  };
  records.set(record.recordId, record);
}

function addStep(found: Found, one: FoundStep, kind?: LifeStep["kind"]): void {
  if (kind !== undefined && one.step.kind !== kind) return;
  const steps = found.steps.get(one.orderId) ?? [];
  // A step that was published twice is one.
  if (steps.some(({ step }) => step.id === one.step.id && step.kind === one.step.kind)) return;
  found.count += 1;
  if (found.count > stepsMax) {
    const sentence = `The audit log has more than ${stepsMax} steps of orders since that day began.`;
    throw new Fault("FILING_DAY_TOO_LARGE", sentence, { retry: "never" });
  }
  steps.push(one);
  found.steps.set(one.orderId, steps);
}

/** What an entry says of the lives of the fund's orders. */
function stepsOf({ data, timestamp }: EntryRecord, { fundId, heardUntil }: DayOfLog): readonly FoundStep[] {
  const { subject, source, event_id: id, at, payload } = data;
  if (!stepSubjects.has(subject) || data["refused"] !== undefined) return [];
  if (typeof subject !== "string" || typeof source !== "string" || typeof id !== "string" || typeof at !== "string") {
    return [];
  }
  const isPending = heardUntil === undefined || parse(timestamp) > heardUntil;
  if (subject === subjects.decisionMade.name) {
    const made = payload as DecisionMade;
    const step = made.decision.fund_id === fundId ? decidedStep(made) : undefined;
    return step === undefined ? [] : [{ orderId: step.order.order_id, source, speaker: undefined, step, isPending }];
  }
  const event: Pick<BusEvent, "id" | "subject" | "source" | "at" | "payload"> = {
    id,
    subject,
    source,
    at: parse(at),
    payload,
  };
  const foreign = isForeign(event);
  const speaker = foreign ? foreignSourceOf(event) : undefined;
  return stepsOfEvent(event, foreign)
    .filter((kept) => kept.fundId === fundId)
    .map(({ orderId, step }) => ({ orderId, source, speaker, step, isPending }));
}

/** Rule 2: of the orders that began before what was read. */
async function addOlder(parts: readonly LogPart[], found: Found, day: DayOfLog, from: LogPlace): Promise<void> {
  const whole = new Set([...found.steps].filter(([, steps]) => isWhole(steps)).map(([orderId]) => orderId));
  for (const orderId of [...found.steps.keys()]) {
    if (whole.has(orderId)) continue;
    const { place, previous } = found.before.get(orderId) ?? { place: from, previous: undefined };
    const first = previous === undefined ? await newestBefore(parts, orderId, place) : { part: place.part, previous };
    for await (const { entry, place: at } of allBefore(parts, orderId, first)) {
      for (const step of stepsOf(entry, day)) if (step.orderId === orderId) addStep(found, step);
      found.before.set(orderId, { place: at, previous: entry.data["subject_previous"] });
      if (entry.data["subject"] === subjects.ordersCreated.name) break;
    }
  }
}

const isWhole = (steps: readonly FoundStep[]): boolean => steps.some(({ step }) => step.kind === "created");

/** By the index, for what nothing that was read leads to. */
async function newestBefore(parts: readonly LogPart[], orderId: string, { part, sequence }: LogPlace) {
  const rows = (await parts[part]?.log.readSubject(orderId, 0, stepsOfOrderMax)) ?? [];
  return { part, previous: rows.filter((row) => row.sequence < sequence).at(-1)?.sequence };
}

const stepsOfOrderMax = 10_000;

/** Also in the logs that were closed before. */
async function* allBefore(
  parts: readonly LogPart[],
  orderId: string,
  first: { readonly part: number; readonly previous: unknown },
): ReturnType<typeof entriesBefore> {
  yield* entriesBefore(parts, first.part, first.previous);
  for (let part = first.part - 1; part >= 0; part -= 1) {
    const end = { part, sequence: parts[part]?.head.size ?? 0 };
    yield* entriesBefore(parts, part, (await newestBefore(parts, orderId, end)).previous);
  }
}

/** Orders that began before what was read and of which nobody says that they were routed themselves; since when. */
function slicedBefore({ steps, before }: Found, from: LogPlace) {
  const orderIds = new Set<string>();
  let since: LogPlace = from;
  for (const [orderId, { place }] of before) {
    const own = steps.get(orderId) ?? [];
    const isOlder = comparePlaces(place, from) < 0;
    if (!isOlder || own.some(({ step }) => step.kind === "moved" && step.to === "ROUTED")) continue;
    orderIds.add(orderId);
    if (comparePlaces(place, since) < 0) since = place;
  }
  return orderIds.size === 0 ? undefined : { orderIds, since };
}

const comparePlaces = (one: LogPlace, other: LogPlace): number =>
  one.part - other.part || one.sequence - other.sequence;

/** Rule 4. */
async function dropOthers(ports: DayPorts, found: Found): Promise<void> {
  const spoken = [...found.steps]
    .filter(([, steps]) => steps.some(({ speaker }) => speaker !== undefined))
    .map(([orderId]) => orderId);
  for (let from = 0; from < spoken.length; from += ownersPage) {
    const ids = spoken.slice(from, from + ownersPage);
    const owners = await ownersOf(ports, ids);
    for (const orderId of ids) {
      const steps = found.steps.get(orderId) ?? [];
      const { owners: those, isUnclaimed } = owners(orderId);
      const own = steps.filter(({ speaker }) => speaker === undefined || isUnclaimed || those.includes(speaker));
      found.steps.set(orderId, own);
    }
  }
}

function ordersOf({ steps }: Found): ReadonlyMap<string, LoggedOrder> {
  const orders = new Map<string, LoggedOrder>();
  for (const [orderId, found] of steps) {
    const lives = found.filter(({ step }) => step.kind !== "decided");
    if (lives.length === 0) continue;
    const beginning = beginningOf(found.map(({ step }) => step).toSorted((one, other) => one.at - other.at));
    const source = found.find(({ step }) => step === beginning && step.kind === "created")?.source ?? lives[0]?.source;
    const pending = new Set(found.filter(({ isPending }) => isPending).map(({ step }) => step.id));
    orders.set(orderId, { orderId, source: source ?? "", steps: found.map(({ step }) => step), pending });
  }
  return orders;
}
