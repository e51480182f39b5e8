// Reads an event of a program outside as it came over gRPC: what it is, if it may come from this caller and can be read; and of what cannot be read whatever
// is needed to tell of it, because an unreadable fill of a fund may be a true one.
import { mayCall } from "../../../contracts/src/authority.ts";
import { messageOf } from "../../../contracts/src/fault.ts";
import { foreignPublisherOf } from "../../../contracts/src/foreign-events.ts";
import type { ForeignEvent, ForeignReceipt } from "../../../contracts/src/generated/svc/v1/foreign.ts";
import { type Instant, parse } from "../../../contracts/src/instant.ts";
import { fundsRefusal } from "../../../contracts/src/ownership/whose.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import { countNumber, idText } from "../../../contracts/src/records/fields.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import type { Subject } from "../../../contracts/src/subject.ts";
import { eventByName, subjectByName } from "../../../contracts/src/subjects.ts";
import { foreignKindOf } from "../../../core/foreign/judge-event.ts";
import type { ForeignKind } from "../../../core/foreign/numbering.ts";
import { isAhead } from "../../../core/state/dated.ts";
import type { RpcCall } from "../../../ports/rpc.ts";

/** One event must be one that every transport can carry. */
export const payloadBytesMax = 1_000_000;
const encoder = new TextEncoder();

export type Refused = Pick<ForeignReceipt, "code" | "reason">;

/** An event that could be read. */
export interface Taken {
  readonly source: string;
  readonly id: string;
  readonly subject: Subject<unknown>;
  readonly payload: unknown;
}

/** One that could not, or that is about a fund of others, of a publisher who may publish it. */
export interface Unread extends Refused {
  readonly source: string;
  readonly id: string;
  readonly subject: Subject<unknown>;
  readonly kind: ForeignKind;
  readonly fundId: string;
  readonly sequence: number | undefined;
  /** As it came. */
  readonly text: string;
  /** The publisher's token does not name the fund: nothing that it says touches that fund. */
  readonly isStrange?: true;
}

export type Read = { readonly taken: Taken } | { readonly unread: Unread } | { readonly refused: Refused };

export function readEvent(event: ForeignEvent, { identity }: Pick<RpcCall, "identity">, now: Instant): Read {
  const publishes = foreignPublisherOf(event.subject);
  const subject = subjectByName(event.subject);
  if (publishes === undefined || subject === undefined) {
    const reason = `No program outside may publish ${JSON.stringify(event.subject.slice(0, 100))}: docs/foreign-systems.md lists what may be.`;
    return { refused: { code: "BUS_SUBJECT_FOREIGN", reason } };
  }
  if (!mayCall(publishes.operation, identity)) {
    const reason = `${event.subject} needs a token that names ${publishes.operation}.`;
    return { refused: { code: "PERMISSION_DENIED", reason } };
  }
  const { id, payload_json: text } = event;
  const source = identity.name;
  const { value, wrong } = jsonIn(text);
  const about = aboutOf(value, subject);
  const strange = about && strangeFund(subject, about.fundId, identity);
  if (about !== undefined && strange !== undefined) {
    // Its number counts nowhere: it is one of a fund that this publisher has no numbers in.
    return { unread: { ...strange, ...about, sequence: undefined, source, id, subject, text, isStrange: true } };
  }
  const isPrice = subject.delivery !== "durable";
  // A price goes out under the name that was proved, whatever it says.
  const named = isPrice && typeof value === "object" && value !== null ? { ...value, source } : value;
  const checked = wrong === undefined ? subject.schema.safeParse(named) : undefined;
  const refused =
    wrong ??
    wrongId(id, isPrice) ??
    (checked?.success === true
      ? datedAhead(subject, checked.data, now)
      : mismatch(subject, checked?.error.issues ?? []));
  if (refused === undefined) return { taken: { source, id, subject, payload: checked?.data } };
  return about === undefined ? { refused } : { unread: { ...refused, ...about, source, id, subject, text } };
}

/** By what the event declares (contracts/src/ownership/whose.ts). */
function strangeFund({ name }: Subject<unknown>, fundId: string, { funds }: RpcCall["identity"]): Refused | undefined {
  if (eventByName(name)?.whose.includes("fund") !== true) return undefined;
  const reason = fundsRefusal([fundId], funds);
  return reason === undefined ? undefined : { code: "EVENT_FUND_NOT_YOURS", reason };
}

function jsonIn(text: string): { readonly value?: unknown; readonly wrong?: Refused } {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (thrown) {
    return { wrong: { code: "BUS_PAYLOAD_INVALID", reason: `payload_json is no JSON: ${messageOf(thrown)}.` } };
  }
  // Every character is one byte at least.
  if (text.length <= payloadBytesMax && encoder.encode(text).length <= payloadBytesMax) return { value };
  const reason = `The payload is larger than ${payloadBytesMax} bytes; send less in one event.`;
  return { value, wrong: { code: "MESSAGE_TOO_LARGE", reason } };
}

function wrongId(id: string, isPrice: boolean): Refused | undefined {
  if (isPrice || idText.safeParse(id).success) return undefined;
  const reason =
    "An event needs an id of your own that never repeats: 1 to 128 letters, digits and . _ : @ / -, the first a letter or digit.";
  return { code: "INVALID_ARGUMENT", reason };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function mismatch(subject: Subject<unknown>, issues: readonly Issue[]): Refused {
  const mistakes = issues.slice(0, 5).map(({ path, message }) => `${path.join(".") || "(whole)"}: ${message}`);
  const reason = `${subject.name} does not match its schema (docs/events.md): ${mistakes.join("; ")}.`;
  return { code: "BUS_PAYLOAD_INVALID", reason };
}

/** A price; what is dated otherwise is judged where it counts. */
function datedAhead({ name, delivery }: Subject<unknown>, payload: unknown, now: Instant): Refused | undefined {
  if (delivery === "durable") return undefined;
  const { at } = payload as Mark;
  if (!isAhead(parse(at), now)) return undefined;
  return { code: "BUS_PAYLOAD_INVALID", reason: `${name} is dated ahead of the platform's clock: ${at}.` };
}

/** What can be read of it all the same; undefined when it names no fund. */
function aboutOf(value: unknown, { name }: Subject<unknown>): Pick<Unread, "kind" | "fundId" | "sequence"> | undefined {
  const kind = foreignKindOf(name);
  if (kind === undefined || typeof value !== "object" || value === null) return undefined;
  const { fund_id, sequence } = value as Readonly<Record<string, unknown>>;
  const [fund, number] = [idText.safeParse(fund_id), countNumber.safeParse(sequence)];
  return fund.success ? { kind, fundId: fund.data, sequence: number.data } : undefined;
}
