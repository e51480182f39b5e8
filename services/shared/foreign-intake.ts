// Judges an event of a foreign system in the unit of work that takes or refuses it, keeps where its publisher's numbering stands by then, and alarms: the
// same at the gRPC door and where NATS messages are taken.
import { type AlarmCode, alarms } from "../../contracts/src/codes/alarms.ts";
import { contentOf } from "../../contracts/src/event-content.ts";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { sourceOfLogin } from "../../contracts/src/foreign-events.ts";
import { format, type Instant, parse } from "../../contracts/src/instant.ts";
import { fundsRefusal } from "../../contracts/src/ownership/whose.ts";
import { isOwnSource } from "../../contracts/src/platform-services.ts";
import type { RefusedForeignEvent } from "../../contracts/src/records/foreign.ts";
import { subjectByName, subjects } from "../../contracts/src/subjects.ts";
import { type Judged, judgeForeign } from "../../core/foreign/judge.ts";
import {
  type EventStanding,
  type ForeignEvent,
  foreignKindOf,
  type KnownReference,
  natsSourceOf,
  numberOf,
} from "../../core/foreign/judge-event.ts";
import { type Refusal, reusedId } from "../../core/foreign/refusal.ts";
import { isAhead } from "../../core/state/dated.ts";
import type { BusEvent } from "../../ports/bus.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "./one-line.ts";
import type { ServicePorts } from "./service.ts";

/** What a foreign program published, straight onto NATS or under the name of its token over gRPC. */
export const isForeign = ({ source }: Pick<BusEvent, "source">): boolean => !isOwnSource(source);

/** Of an event straight from NATS (adapters/nats/wire.ts). */
const unnamed = "foreign";

/**
 * Who published it: the token's name over gRPC, and over NATS where one names the login; else the login, which alone may publish the subject or below the
 * prefix.
 */
export function foreignSourceOf({ source, subject }: Pick<BusEvent, "source" | "subject">): string {
  const kind = foreignKindOf(subject);
  return source === unnamed && kind !== undefined ? natsSourceOf(kind) : source;
}

/** Under which name it is numbered: a login counts for itself, also where a token speaks through it, because each way in loses what it loses. */
export function numberedBy(event: Pick<BusEvent, "source" | "subject" | "login">): string {
  return event.login === undefined ? foreignSourceOf(event) : sourceOfLogin(event.login);
}

/** Why what a login published is refused whose token is revoked, or does not name the fund. Over gRPC the door sees to that. */
export function refusedSpeaker(event: BusEvent): Refusal | undefined {
  const { payload, funds, source, login, isRevoked } = event;
  if (isRevoked === true) {
    const sentence = `The token of ${source}, for which the login ${login} speaks, was revoked before this came. Take the login away at the server; if this is true, name the login in another token and try it again (ctl operations parked retry).`;
    return { code: "EVENT_TOKEN_REVOKED", sentence };
  }
  const sentence = fundsRefusal([numberOf({ subject: "", payload }).fundId], funds);
  return sentence === undefined ? undefined : { code: "EVENT_FUND_NOT_YOURS", sentence };
}

/** Straight from NATS, where nobody looked at its id before it was stored. */
const isFromNats = ({ source, login }: BusEvent): boolean => login !== undefined || source === unnamed;

/**
 * Whether it came under one of the three logins while no token names any: nobody can say for which of the programs outside it speaks, so it speaks for each
 * of them. From the first that a token names on, a login speaks for its token, or for itself alone (adapters/nats/logins).
 */
export const isUnpairedLogin = ({ source }: Pick<BusEvent, "source">): boolean => source === unnamed;

/**
 * Why an event straight from NATS is refused whose id said something else before, as the inbox of the asking service remembers it. Of one over gRPC the
 * door has seen to that, and its id is ours.
 */
export async function refusedReuse(
  { store, sha256 }: Pick<ServicePorts, "store" | "sha256">,
  inbox: string,
  event: BusEvent,
): Promise<Refusal | undefined> {
  const subject = subjectByName(event.subject);
  if (!isFromNats(event) || subject === undefined) return undefined;
  const source = numberedBy(event);
  const hash = Buffer.from(sha256(contentOf(subject, event.payload))).toString("hex");
  const eventId = `${source} ${event.id}`;
  const known = await store.transact("foreign.heard", (unit) => unit.handled.contents(inbox, [{ eventId, hash }]));
  return known.get(eventId) === "OTHER" ? reusedId(source, event.id) : undefined;
}

interface ForeignIntake {
  readonly event: Omit<ForeignEvent, "source" | "numberedBy"> & { readonly id: string };
  /** Whose it is. */
  readonly source: string;
  /** Under which name it is numbered, where that is another one. */
  readonly numberedBy?: string | undefined;
  /** Who judges, for the alarm. */
  readonly service: string;
  readonly known: KnownReference;
  readonly standing?: EventStanding | undefined;
  readonly reused?: Refusal | undefined;
  readonly at: Instant;
  /** Names the gap that it may open. */
  readonly gapId: string;
}

/** The position that comes of it is kept; what is refused, and the first event without a number of its own, is an alarm in the same unit. */
export async function judgeInUnit(
  unit: Pick<UnitOfWork, "foreign" | "events">,
  intake: ForeignIntake,
): Promise<Judged> {
  const { event, source, known, at } = intake;
  const kind = foreignKindOf(event.subject);
  if (kind === undefined) throw new Defect(`no foreign system publishes ${event.subject}`);
  const { fundId, sequence } = numberOf(event);
  const stream = { source: intake.numberedBy ?? source, fundId, kind };
  const isCounted = sequence !== undefined && known.fund(fundId) !== undefined;
  const position = isCounted ? await unit.foreign.lock(stream) : undefined;
  const judged = judgeForeign({ ...intake, event: { ...event, source, numberedBy: intake.numberedBy }, position });
  if (isCounted && judged.position !== position) await unit.foreign.put(stream, judged.position, at);
  if (judged.numbering === "UNNUMBERED" && (await unit.foreign.noteUnnumbered(source, at))) {
    const sentence = `${source} publishes events without a number (first ${event.subject} ${event.id} for ${fundId}): one that is lost is not noticed. Number orders, fills and values by fund and kind as \`sequence\`.`;
    await raise(unit, intake, "EVENT_UNNUMBERED", sentence);
  }
  if (judged.numbering === "REPEATED" && isNewUnderOldNumber(intake, position?.at)) {
    const about = `${source}: ${kind} of ${fundId}`;
    if (await unit.foreign.noteUnnumbered(about, at)) {
      const sentence = `${source} numbers its ${kind} of ${fundId} from ${sequence} on again, below the ${judged.position.last} that was heard before (${event.subject} ${event.id}): one that is lost is not noticed. Go on above the last number.`;
      await raise(unit, intake, "EVENT_UNNUMBERED", sentence, about);
    }
  }
  if (judged.refusal !== undefined && !isNotYours(judged.refusal) && !isGathered(judged.refusal)) {
    await raiseRefused(unit, intake, judged.refusal);
  }
  return judged;
}

/** Whether it is told with others like it of its source, by the risk engine, and not one by one. */
export const isGathered = ({ code }: Pick<Refusal, "code">): boolean => code === "EVENT_ORDER_NOT_YOURS";

/** Dated later than the last number was heard: neither that event again nor one that was late. */
function isNewUnderOldNumber({ event }: ForeignIntake, heardAt: Instant | undefined): boolean {
  const { filled_at, as_of, at, created_at } = event.payload as Readonly<Record<string, string | undefined>>;
  const dated = filled_at ?? as_of ?? at ?? created_at;
  return heardAt !== undefined && dated !== undefined && isAhead(parse(dated), heardAt);
}

type Raising = Pick<ForeignIntake, "event" | "source" | "service" | "at">;

/** Of what is another source's: it may come with every second, so it is told together, and never put aside. */
export const isNotYours = ({ code }: Pick<Refusal, "code">): boolean => code === "EVENT_VALUE_NOT_YOURS";

/** Names publisher, event and reason. */
export async function raiseRefused(
  unit: Pick<UnitOfWork, "events">,
  intake: Raising,
  { code, sentence }: { readonly code: string; readonly sentence: string },
): Promise<void> {
  const { event, source } = intake;
  const said = `${source} published ${event.subject} ${event.id}: ${code}. ${sentence}`;
  await raise(unit, intake, "EVENT_REFUSED", said);
}

async function raise(
  { events }: Pick<UnitOfWork, "events">,
  { event, source, service, at }: Raising,
  code: AlarmCode,
  sentence: string,
  about = code === "EVENT_UNNUMBERED" ? source : `${source} ${event.id}`,
): Promise<void> {
  const { fundId } = numberOf(event);
  const facts = { about, source, event_id: event.id, subject: event.subject, fund_id: fundId };
  const level = alarms[code].level;
  const raised = { code, level, service, sentence: line(sentence, 2_000), facts, at: format(at) };
  await events.publish(subjects.alarmRaised, raised);
}

/** What a consumer throws of a fill that was refused and may be true: what comes behind it in its fund waits. */
export function heldFill({ source, event_id: id, code, reason }: RefusedForeignEvent): Fault {
  const sentence = `${source} published fill event ${id}, which was refused: ${code}. ${reason}`;
  return new Fault("FOREIGN_FILL_HELD", sentence, { retry: "never", facts: { code } });
}

/** What a consumer throws of an event that it refuses: it is put aside at once, and nothing waits behind it. */
export function refusedEvent({ code, sentence }: { readonly code: string; readonly sentence: string }): Fault {
  return new Fault("FOREIGN_EVENT_REFUSED", `Refused: ${code}. ${sentence}`, { retry: "never", facts: { code } });
}
