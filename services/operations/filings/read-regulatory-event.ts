// Reads an event for the regulators as it came over gRPC; whatever is wrong with it is answered by name.
import { Fault } from "../../../contracts/src/fault.ts";
import type { RegulatoryEvent as Wire } from "../../../contracts/src/generated/svc/v1/operations.ts";
import { type Instant, parse } from "../../../contracts/src/instant.ts";
import {
  type FiledDetails,
  type FiledEventType,
  type FiledOrder,
  filedDetails,
  filedEventType,
  filedOrder,
} from "../../../contracts/src/records/filing.ts";
import type { HexSha256, RegulatoryEvent } from "../../../core/filings/regulatory-event.ts";

interface ReadRegulatoryEvent {
  readonly event: RegulatoryEvent;
  /** Of what was said, to tell the same event from another under its name. */
  readonly contentHash: string;
}

/** What an event cannot be understood without. */
const neededDetails: Partial<Readonly<Record<FiledEventType, readonly (keyof FiledDetails)[]>>> = {
  child_order: ["parent_order_id"],
  order_received: ["sender_imid"],
  fill: ["fill_id", "quantity", "price"],
  fill_busted: ["fill_id"],
};

/** `source` says it; its events have names of their own. */
export function readRegulatoryEvent(wire: Wire, source: string, now: Instant, sha256: HexSha256): ReadRegulatoryEvent {
  const type = filedEventType.safeParse(wire.event_type);
  if (!type.success) {
    throw wrong(
      "event_type",
      `${JSON.stringify(wire.event_type.slice(0, 64))} is not one of ${filedEventType.options.join(", ")}`,
    );
  }
  if (wire.order === undefined) throw wrong("order", "it is missing");
  const order = parsed(filedOrder, venueOf(wire), "order");
  const details = parsed(filedDetails, wire.details ?? {}, "details");
  const missing = (neededDetails[type.data] ?? []).find((name) => details[name] === undefined);
  if (missing !== undefined) throw wrong(`details.${missing}`, `${type.data} needs it`);
  const at = details.event_timestamp === undefined ? now : parse(details.event_timestamp);
  if (at > now) throw wrong("details.event_timestamp", `${details.event_timestamp} is in the future`);
  const content = canonical({ type: type.data, order, details, actor: wire.actor });
  const contentHash = sha256(content);
  const key = JSON.stringify(["call", source, details.event_id ?? contentHash]);
  return { event: { type: type.data, at, order, details, key }, contentHash };
}

/** The order with the venue that the event names beside it. */
function venueOf({ order, venue }: Wire): object {
  return venue === "" ? { ...order } : { ...order, venue };
}

interface Schema<Value> {
  safeParse(value: unknown): {
    readonly success: boolean;
    readonly data?: Value | undefined;
    readonly error?:
      | { readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[] }
      | undefined;
  };
}

function parsed<Value extends FiledOrder | FiledDetails>(schema: Schema<Value>, value: object, name: string): Value {
  const { data, error } = schema.safeParse(withoutAbsent(value));
  if (data !== undefined) return data;
  const [issue] = error?.issues ?? [];
  throw wrong([name, ...(issue?.path ?? [])].join("."), issue?.message ?? "it cannot be read");
}

/** On the wire an absent text is an empty one. */
function withoutAbsent(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined && member !== ""));
}

/** The same for the same members, in whatever order they came. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
}

function wrong(field: string, what: string): Fault {
  return new Fault("INVALID_ARGUMENT", `${field}: ${what}.`, { retry: "never" });
}
