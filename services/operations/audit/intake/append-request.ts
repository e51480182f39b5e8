// What an event becomes in the log: its action, whom it is about, who did it as far as that is proved, and what it said.
import { auditRuleOf } from "../../../../contracts/src/audit-actions.ts";
import { Defect } from "../../../../contracts/src/fault.ts";
import { format } from "../../../../contracts/src/instant.ts";
import { parseJson } from "../../../../contracts/src/parse-json.ts";
import { canonicalJson } from "../../../../core/audit/canonical/canonical-json.ts";
import type { EntryRecord } from "../../../../core/audit/entry.ts";
import { asHash, hexOfHash, type Sha256OfBytes } from "../../../../core/audit/hash.ts";
import type { BusEvent, Claimed, Unread } from "../../../../ports/bus.ts";
import { refusedSpeaker } from "../../../shared/foreign-intake.ts";
import type { AppendRequest } from "../log/append-request.ts";
import { fitActor, fitPayload, fitSubjectId } from "../log/event-data.ts";
import type { Seal } from "../personal/sealing.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/**
 * Under which id it is in the log at most once. Our own events have a UUID; whoever publishes from outside chooses freely, and must not be able
 * to take an id that the log itself will need, or that an event of ours has which has not arrived yet: that would be found to stand there already.
 */
export function idOf({ id, claimed }: BusEvent): string {
  return claimed === undefined && uuid.test(id) ? id : `bus/${id}`;
}

/**
 * The id under which it stands in the log if it was one of ours after all and had its entry before the database forgot its row; undefined when
 * there is nothing to ask.
 */
export function ownIdOf({ id, claimed }: BusEvent): string | undefined {
  return claimed !== undefined && uuid.test(id) ? id : undefined;
}

/** What an event becomes; undefined when it is none of the audit log's business. */
export function requestOf(event: BusEvent, sha256: Sha256OfBytes, seal: Seal | undefined): AppendRequest | undefined {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule) return undefined;
  const subjectId = fitSubjectId(rule.subjectIdOf(event.payload), sha256);
  return {
    eventId: idOf(event),
    actor: fitActor(rule.actorOf(event), sha256),
    action: rule.actionOf(event.payload),
    subjectId,
    data: {
      at: format(event.at),
      event_id: event.id,
      ...(event.unread === undefined
        ? { payload: fitPayload(sealedPayload(event, subjectId, sha256, seal), sha256) }
        : unreadData(event.unread, rule.personal.length > 0, sha256)),
      source: event.source,
      ...(event.login === undefined ? {} : { login: event.login, ...refusedData(event) }),
      subject: event.unread === undefined ? event.subject : fitSubjectId(event.subject, sha256),
      ...(event.claimed === undefined ? {} : claimedData(event.claimed, sha256)),
    },
  };
}

/** What a login says whose token is revoked, or does not name the fund, changes nothing anywhere, and its entry says so. */
function refusedData(event: BusEvent): Readonly<Record<string, string>> {
  const refused = event.unread === undefined ? refusedSpeaker(event) : undefined;
  return refused === undefined ? {} : { refused: refused.code };
}

function claimedData({ source, at }: Claimed, sha256: Sha256OfBytes): Readonly<Record<string, string>> {
  return {
    ...(source === undefined ? {} : { claimed_source: fitActor(source, sha256) }),
    ...(at === undefined ? {} : { claimed_at: format(at) }),
  };
}

/** Whatever is to stand beside a payload that is as long as it may be. */
const reasonUnitsMax = 300;

/** What may be about a person and cannot be distinguished is not written down at all: nothing could ever take it back. */
function unreadData(unread: Unread, isPersonal: boolean, sha256: Sha256OfBytes): Readonly<Record<string, unknown>> {
  const { bytes, reason } = unread;
  const digest = { length: bytes.length, sha256: hexOfHash(asHash(sha256(bytes))) };
  if (isPersonal) return { payload: digest, reason: "the payload does not match its schema" };
  return {
    payload: jsonOf(bytes, sha256) ?? digest,
    reason: fitPayload(reason.slice(0, reasonUnitsMax), sha256),
  };
}

/** Undefined when it is no JSON, or nested deeper than anybody could write it down. */
function jsonOf(bytes: Uint8Array, sha256: Sha256OfBytes): unknown {
  try {
    // Not UTF-8 is a TypeError, too deep for the stack a RangeError.
    return fitPayload(parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes)), sha256);
  } catch (thrown) {
    if (thrown instanceof SyntaxError || thrown instanceof TypeError || thrown instanceof RangeError) return undefined;
    throw thrown;
  }
}

/**
 * Whether an entry tells of this very event: the same id, subject and payload. What is about a person is not compared, because its key may have
 * been destroyed since; nor is what an event says of its publisher.
 */
export function isReportedBy(record: EntryRecord, event: BusEvent, sha256: Sha256OfBytes): boolean {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule) return true;
  const request = requestOf({ ...event, payload: without(rule.personal, event.payload) }, sha256, undefined);
  const { data } = record;
  return (
    record.action === request?.action &&
    data["event_id"] === event.id &&
    data["subject"] === request.data["subject"] &&
    canonicalJson(without(rule.personal, data["payload"])) === canonicalJson(request.data["payload"])
  );
}

function without(members: readonly string[], payload: unknown): unknown {
  if (members.length === 0 || typeof payload !== "object" || payload === null || Array.isArray(payload)) return payload;
  return Object.fromEntries(Object.entries(payload).filter(([name]) => !members.includes(name)));
}

interface Personal {
  readonly person: string;
  /** Of the entry that the event becomes. */
  readonly action: string;
  /** Members of the payload. */
  readonly fields: readonly string[];
}

/** Which members of an event's payload are about whom; undefined when none is. */
export function personalIn(event: BusEvent, sha256: Sha256OfBytes): Personal | undefined {
  const rule = auditRuleOf(event);
  if ("notAudited" in rule || rule.personal.length === 0 || event.unread !== undefined) return undefined;
  const payload = event.payload as Readonly<Record<string, unknown>>;
  const fields = rule.personal.filter((field) => payload[field] !== undefined);
  if (fields.length === 0) return undefined;
  return { person: fitSubjectId(rule.personOf(payload), sha256), action: rule.actionOf(payload), fields };
}

/** Sealed before anything is cut or measured, so that no part of it is written in plain text. */
function sealedPayload(event: BusEvent, subjectId: string, sha256: Sha256OfBytes, seal: Seal | undefined): unknown {
  const personal = personalIn(event, sha256);
  if (personal === undefined) return event.payload;
  if (seal === undefined) throw new Defect(`${event.subject} is about a person, and no key was made ready`);
  const payload: Record<string, unknown> = { ...(event.payload as Readonly<Record<string, unknown>>) };
  const { person, action, fields } = personal;
  for (const field of fields) {
    const place = { person, action, subjectId, eventId: event.id, path: `payload/${field}` };
    payload[field] = seal(place, fitPayload(payload[field], sha256));
  }
  return payload;
}
