// How an event looks on NATS: the payload is its JSON bytes, and four headers say the rest. A program outside the platform
// sends plain JSON without headers; what is missing then comes from the subject's schema and from the server.
import { headers, type MsgHdrs } from "@nats-io/transport-node";
import { messageOf } from "../../contracts/src/fault.ts";
import { loginOfSource, ofLogin } from "../../contracts/src/foreign-events.ts";
import { fromMicroseconds, type Instant } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import type { Subject } from "../../contracts/src/subject.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import type { BusEvent, Claimed, Unread } from "../../ports/bus.ts";

const idHeader = "Nats-Msg-Id";
/** Where the server's own header could not carry the id, because somebody else's message had taken it. */
const takenIdHeader = "Portcullis-Id";
const keyHeader = "Portcullis-Key";
const atHeader = "Portcullis-At";
const sourceHeader = "Portcullis-Source";
const positionHeader = "Portcullis-Position";

/**
 * Conflated events travel under this word in front of their subject: the stream stores everything under the plain names,
 * and a mark must not be stored. Foreign feeds should use it too; marks sent under the plain name are heard all the same.
 */
const conflatedPrefix = "transient.";

/**
 * Prices of ours travel a second time below this, where no login but ours may publish: under the name that foreign feeds use too, nobody can tell whose they
 * are. Whoever values funds hears them there all the same.
 */
const ownPrefix = `${conflatedPrefix}own.`;

export const ownName = (subject: string): string => ownPrefix + subject;

/** Tried when the server's permissions are (guard.ts); nobody listens to it. */
export const probeSubject = everySubject.replace(">", "probe");

export function isProbe(subject: string): boolean {
  return [probeSubject, conflatedName(probeSubject), ownName(probeSubject)].includes(subject);
}

interface WireName {
  /** The subject that we know; of anything else below a prefix the whole name, which is nobody's subject. */
  readonly subject: string;
  /** Whose own subject it is. */
  readonly login?: string;
  /** It came where only we publish. */
  readonly isOwn: boolean;
}

export function readName(name: string): WireName {
  if (name.startsWith(ownPrefix)) return { subject: name.slice(ownPrefix.length), isOwn: true };
  const plain = name.startsWith(conflatedPrefix) ? name.slice(conflatedPrefix.length) : name;
  return { subject: plain, ...ofLogin(plain), isOwn: false };
}

export type SubjectLookup = (name: string) => Subject<unknown> | undefined;

export interface Envelope {
  readonly id: string;
  readonly subject: string;
  readonly key: string;
  readonly at: Instant;
  readonly source: string;
  readonly login?: string;
}

export interface Arrival {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly headers: MsgHdrs | undefined;
  /** The id of an event that brings none. */
  fallbackId(): string;
  /** When the server took it, or now on a path without a server's timestamp. */
  receivedAt(): Instant;
}

export type Decoded =
  | { readonly ok: true; readonly event: BusEvent; readonly subject: Subject<unknown> | undefined }
  | { readonly ok: false; readonly envelope: Envelope; readonly kind: Unread["kind"]; readonly reason: string };

export function encodeHeaders(envelope: Envelope, position?: bigint): MsgHdrs {
  const made = headers();
  made.set(idHeader, envelope.id);
  // Percent-encoded, because a header is a line of text and a key may hold anything.
  made.set(keyHeader, encodeURIComponent(envelope.key));
  made.set(atHeader, String(envelope.at));
  made.set(sourceHeader, envelope.source);
  if (position !== undefined) made.set(positionHeader, String(position));
  return made;
}

/** The same under an id for the server that nobody else can have, because the event's own was taken. */
export function encodeHeadersAnew(envelope: Envelope, position: bigint, serverId: string): MsgHdrs {
  const made = encodeHeaders({ ...envelope, id: serverId }, position);
  made.set(takenIdHeader, envelope.id);
  return made;
}

/** The event's id; empty when it brings none. */
export function idIn(found: MsgHdrs | undefined): string {
  return found?.get(takenIdHeader) || (found?.get(idHeader) ?? "");
}

/** The place in the outbox that one of our own messages came from, or undefined for a foreign one. */
export function positionOf(found: MsgHdrs | undefined): bigint | undefined {
  const text = found?.get(positionHeader) ?? "";
  return /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
}

export function conflatedName(subject: string): string {
  return conflatedPrefix + subject;
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Turns what arrived into an event that matches its subject's schema, or says why it is none. */
export function decode(arrival: Arrival, lookup: SubjectLookup): Decoded {
  const { subject: name, login } = readName(arrival.subject);
  const envelope = envelopeOf(arrival, name, login);
  const subject = lookup(name);
  if (subject === undefined)
    return { ok: false, envelope, kind: "unknown subject", reason: `nobody knows the subject ${name}` };
  let said: unknown;
  try {
    said = parseJson(utf8.decode(arrival.data));
  } catch (thrown) {
    return { ok: false, envelope, kind: "malformed", reason: `the payload is not JSON: ${messageOf(thrown)}` };
  }
  const checked = subject.schema.safeParse(said);
  if (!checked.success) {
    return {
      ok: false,
      envelope,
      kind: "malformed",
      reason: `the payload does not match the schema of ${name}: ${checked.error.message}`,
    };
  }
  const isNamed = login === undefined && arrival.headers?.has(keyHeader);
  const key = isNamed ? envelope.key : cleanedKey(subject.key(checked.data));
  const payload = checked.data;
  // What a login says of itself is a claim, whoever asks.
  const event = login === undefined ? { payload } : { payload, login, claimed: claimedBy(arrival.headers) };
  return { ok: true, event: { ...envelope, key, ...event }, subject };
}

/** A longer id would not fit an index of the database, and a message of somebody else's may carry any. */
const idLengthMax = 200;
/** For the subject and the source. */
const wordLengthMax = 200;
const keyLengthMax = 1_000;

function envelopeOf(arrival: Arrival, subject: string, login: string | undefined): Envelope {
  const found = arrival.headers;
  const id = idIn(found);
  const { at, source } = claimedBy(found);
  const named = { subject: cleaned(subject), key: cleanedKey(decodeKey(found?.get(keyHeader) ?? "")) };
  if (login === undefined) {
    const usable = isUsableId(id) ? id : arrival.fallbackId();
    // What only a subject can say is not believed of a header.
    const isClaim = source !== undefined && loginOfSource(source) === undefined;
    return { ...named, id: usable, at: at ?? arrival.receivedAt(), source: isClaim ? source : foreignSource };
  }
  // Two logins may use one id, and neither may take that of an event of ours.
  const own = `${login}:${id}`;
  const usable = id !== "" && isUsableId(own) ? own : arrival.fallbackId();
  return { ...named, id: usable, at: arrival.receivedAt(), source: foreignSource, login };
}

/** Who nobody knows to be one of us. */
export const foreignSource = "foreign";

/** What a message's publisher says of itself. */
export function claimedBy(found: MsgHdrs | undefined): Claimed {
  const at = Number(found?.get(atHeader) || Number.NaN);
  const source = cleaned(found?.get(sourceHeader) ?? "");
  return {
    ...(source === "" ? {} : { source }),
    ...(Number.isSafeInteger(at) ? { at: fromMicroseconds(at) } : {}),
  };
}

function isUsableId(id: string): boolean {
  return id !== "" && id.length <= idLengthMax && !hasControl(id);
}

/** Character by character, because every event that arrives is asked. */
function hasControl(text: string): boolean {
  for (let place = 0; place < text.length; place++) {
    if (isControl(text.charCodeAt(place))) return true;
  }
  return false;
}

function isControl(code: number): boolean {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/** What the database can store and a person can read: no control characters, and of bearable length. */
function cleaned(text: string): string {
  const short = text.slice(0, wordLengthMax);
  return hasControl(short) ? [...short].filter((character) => !isControl(character.charCodeAt(0))).join("") : short;
}

/** A key of ours may hold line breaks and the like; only the zero character has no place in the database's text. */
function cleanedKey(key: string): string {
  return key.slice(0, keyLengthMax).replaceAll("\0", "");
}

/** A foreign program may put anything into a header; what does not decode stands as it came. */
function decodeKey(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (thrown) {
    if (thrown instanceof URIError) return text;
    throw thrown;
  }
}
