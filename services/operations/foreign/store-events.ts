// Makes events of programs outside durable in the order in which they came, many in one transaction and one transaction at a time.
//
//  1. An event id is its content: under one that said something else before nothing is taken. It is refused, and told.
//  2. What is refused before it is published, because it cannot be read or its id was used, is told in an event of ours: a fill's fund waits for somebody to
//     deal with it (`foreign.held`), anything else is listed (`foreign.refused`). Each once, however often it is sent. What is about a fund that the token
//     does not name holds nothing there, and is told once a day for each source and fund.
//  3. A dry run does the same in a transaction that is rolled back.
import { contentOf } from "../../../contracts/src/event-content.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import { format } from "../../../contracts/src/instant.ts";
import { idText } from "../../../contracts/src/records/fields.ts";
import type { RefusedForeignEvent } from "../../../contracts/src/records/foreign.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { foreignKindOf, numberOf } from "../../../core/foreign/judge-event.ts";
import { reusedId } from "../../../core/foreign/refusal.ts";
import type { KnownContent, UnitOfWork } from "../../../ports/store.ts";
import { line } from "../../shared/one-line.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { DoorJudge } from "./judge-at-door.ts";
import type { Refused, Taken, Unread } from "./read-event.ts";

/** Where ids are remembered: of those that were published, of those of them that the engine refuses, what each said, and what was reported. */
const inboxes = {
  published: "operations.foreign-events",
  refused: "operations.foreign-refused",
  contents: "operations.foreign-contents",
  reported: "operations.foreign-reported",
} as const;
/** Events of one transaction, and events of all programs that may wait for theirs. */
const batchMax = 100;
export const waitingMax = 1_024;
const shownMax = 4_000;

interface Arrived {
  readonly event: { readonly taken: Taken } | { readonly unread: Unread };
  readonly isDry: boolean;
}

/** What became of an event. */
export interface Stored {
  /** It was durable before. */
  readonly repeated: boolean;
  readonly refusal: Refused | undefined;
  readonly numberUsed: boolean;
}

interface Waiting {
  readonly arrived: Arrived;
  readonly done: (stored: Stored) => void;
  readonly failed: (thrown: unknown) => void;
}

/** An event with all that is known of it before it is written. */
interface Judged {
  readonly event: Arrived["event"];
  readonly hash: string;
  readonly refusal: Refused | undefined;
  readonly knowsFund: boolean;
}

type StorePorts = Pick<ServicePorts, "store" | "clock" | "sha256">;

/** Takes the work of a dry run back. */
const rolledBack = new Error("a dry run is rolled back");

export function storeInOrder(ports: StorePorts, judge: DoorJudge): (arrived: Arrived) => Promise<Stored> {
  const waiting: Waiting[] = [];
  let running = false;

  async function drain(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = nextBatch(waiting);
      try {
        const stored = await storeTogether(ports, judge, batch);
        for (const [index, { done }] of batch.entries()) done(stored[index] as Stored);
      } catch (thrown) {
        for (const { failed } of batch) failed(thrown);
      }
    }
    running = false;
  }

  return (arrived) => {
    if (waiting.length >= waitingMax) {
      const sentence = `${waitingMax} events of programs outside wait to be stored, as many as may: send again what was not answered, under the same ids.`;
      throw new Fault("RESOURCE_EXHAUSTED", sentence, { retry: "later" });
    }
    return new Promise((done, failed) => {
      waiting.push({ arrived, done, failed });
      if (!running) void drain();
    });
  };
}

/** A dry run stands alone, behind what came before it. */
function nextBatch(waiting: Waiting[]): readonly Waiting[] {
  const firstDry = waiting.slice(0, batchMax).findIndex(({ arrived }) => arrived.isDry);
  return waiting.splice(0, firstDry < 0 ? batchMax : Math.max(firstDry, 1));
}

async function storeTogether(
  { store, clock, sha256 }: StorePorts,
  judge: DoorJudge,
  batch: readonly Waiting[],
): Promise<readonly Stored[]> {
  const events = batch.map(({ arrived }) => arrived.event);
  const isDry = batch[0]?.arrived.isDry === true;
  const refusals = await judge.events(events.flatMap((event) => ("taken" in event ? [event.taken] : [])));
  const left = [...refusals];
  const at = format(clock.now());
  const day = at.slice(0, 10);
  const hashOf = (text: string): string => Buffer.from(sha256(text)).toString("hex");
  const judged = events.map((event): Judged => {
    if ("unread" in event) {
      const { code, reason, fundId, subject, text, isStrange } = event.unread;
      const hash = isStrange === true ? `${fundId} ${day}` : hashOf(`${subject.name}\n${text}`);
      return { event, hash, refusal: { code, reason }, knowsFund: judge.knowsFund(fundId) };
    }
    const { subject, payload } = event.taken;
    const refusal = left.shift();
    const { fundId } = numberOf({ subject: subject.name, payload });
    return {
      event,
      hash: hashOf(contentOf(subject, payload)),
      refusal: refusal && { code: refusal.code, reason: refusal.sentence },
      knowsFund: judge.knowsFund(fundId),
    };
  });
  if (!isDry) return store.transact("foreign.publish", (unit) => write(unit, judged, at));
  let tried: readonly Stored[] = [];
  const trying = store.transact("foreign.dry-run", async (unit) => {
    tried = await write(unit, judged, at);
    throw rolledBack;
  });
  await trying.catch((thrown: unknown) => {
    if (thrown !== rolledBack) throw thrown;
  });
  return tried.map((one) => ({ ...one, numberUsed: false }));
}

async function write(unit: UnitOfWork, judged: readonly Judged[], at: string): Promise<readonly Stored[]> {
  const contents = await contentsIn(unit, judged);
  const placed = judged.map((one, index) => {
    const isReused = contents[index] === "OTHER";
    const refusal = isReused && "taken" in one.event ? reusedIn(one.event.taken) : one.refusal;
    return { ...one, refusal, isReported: isReused || "unread" in one.event };
  });
  const left = await firstTimesIn(unit, placed.map(inboxOf), placed.map(keyOf));
  const stored: Stored[] = [];
  for (const one of placed) {
    // Of several under one key the first is it.
    const isFresh = left.get(inboxOf(one))?.delete(keyOf(one)) === true;
    if (isFresh && one.isReported) await report(unit, one, at);
    else if (isFresh && "taken" in one.event) {
      const { source, subject, payload } = one.event.taken;
      await unit.events.publishFor(source, subject, payload);
    }
    stored.push({ repeated: !isFresh && !isStrange(one.event), refusal: one.refusal, numberUsed: usesNumber(one) });
  }
  return stored;
}

interface Placed extends Judged {
  readonly isReported: boolean;
}

const eventOf = (event: Judged["event"]): Taken | Unread => ("taken" in event ? event.taken : event.unread);

const isStrange = (event: Judged["event"]): boolean => "unread" in event && event.unread.isStrange === true;

function inboxOf({ isReported, refusal }: Placed): string {
  if (isReported) return inboxes.reported;
  return refusal === undefined ? inboxes.published : inboxes.refused;
}

function keyOf({ event, isReported, hash }: Placed): string {
  const { source, id } = eventOf(event);
  if (!isReported) return `${source} ${id}`;
  return isStrange(event) ? `${source} not theirs: ${hash}` : `${source} ${shownId(id)} ${hash}`;
}

/** What the ids of those that could be read said before, in the order of the batch. */
async function contentsIn(unit: UnitOfWork, judged: readonly Judged[]): Promise<readonly (KnownContent | undefined)[]> {
  const first = new Map<string, string>();
  for (const { event, hash } of judged) {
    if (!("taken" in event)) continue;
    const key = `${event.taken.source} ${event.taken.id}`;
    if (!first.has(key)) first.set(key, hash);
  }
  const hashed = [...first].map(([eventId, hash]) => ({ eventId, hash }));
  const known = hashed.length === 0 ? new Map() : await unit.handled.contents(inboxes.contents, hashed);
  const found: (KnownContent | undefined)[] = [];
  for (const { event, hash } of judged) {
    const key = "taken" in event ? `${event.taken.source} ${event.taken.id}` : undefined;
    if (key === undefined) found.push(undefined);
    else if (first.get(key) === hash) found.push(known.get(key));
    else found.push((await unit.handled.contents(inboxes.contents, [{ eventId: key, hash }])).get(key));
  }
  return found;
}

async function firstTimesIn(
  unit: UnitOfWork,
  places: readonly string[],
  keys: readonly string[],
): Promise<ReadonlyMap<string, Set<string>>> {
  const left = new Map<string, Set<string>>();
  for (const inbox of Object.values(inboxes)) {
    const own = keys.filter((_, index) => places[index] === inbox);
    if (own.length > 0) left.set(inbox, new Set(await unit.handled.firstTimes(inbox, [...new Set(own)])));
  }
  return left;
}

function reusedIn({ source, id }: Taken): Refused {
  const { code, sentence } = reusedId(source, id);
  return { code, reason: sentence };
}

/** By the one rule of docs/foreign-systems.md: it could be read, and its fund is known. */
function usesNumber({ event, knowsFund }: Judged): boolean {
  if (!("taken" in event) || !knowsFund) return false;
  const { subject, payload } = event.taken;
  return numberOf({ subject: subject.name, payload }).sequence !== undefined;
}

/** Invariant 2. What cannot be read and is about a fund that nobody knows is answered, and that is all. */
async function report(unit: UnitOfWork, placed: Placed, at: string): Promise<void> {
  const { event, knowsFund, refusal } = placed;
  if (!knowsFund && "unread" in event) return;
  const { source, id, subject } = eventOf(event);
  const about = "taken" in event ? aboutTaken(event.taken) : event.unread;
  const { kind, fundId, sequence } = about;
  const text = "taken" in event ? JSON.stringify(event.taken.payload) : event.unread.text;
  const refused: RefusedForeignEvent = {
    source,
    event_id: shownId(id),
    subject: subject.name,
    kind,
    fund_id: fundId,
    ...(sequence !== undefined && { sequence }),
    number_used: usesNumber(placed),
    code: refusal?.code ?? "",
    reason: line(refusal?.reason ?? "", 2_000),
    payload: text.replaceAll("\0", "").slice(0, shownMax),
    at,
  };
  const isHeld = kind === "fills" && knowsFund && !isStrange(event);
  await unit.events.publish(isHeld ? subjects.foreignHeld : subjects.foreignRefused, refused);
}

function aboutTaken({ subject, payload }: Taken): Pick<Unread, "kind" | "fundId" | "sequence"> {
  const kind = foreignKindOf(subject.name) ?? "orders";
  return { kind, ...numberOf({ subject: subject.name, payload }) };
}

function shownId(id: string): string {
  return idText.safeParse(id).success ? id : "unreadable";
}
