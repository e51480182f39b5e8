// OATS: archives in the form of the order audit trail that FINRA retired in 2021. Nobody takes them any more; who must keep them has them as files.
//
//  1. NW, RT and CL are made; everything else of an order is no record.
//  2. The layout of NW and CL is that of 2004. That of RT is not verified, and each field of it that nobody needs is left empty.
//  3. A field never holds what separates fields: such a record is put aside.
import * as decimal from "../../../contracts/src/decimal.ts";
import { tryParse } from "../../../contracts/src/instant.ts";
import type { FiledEventType, OatsSettings } from "../../../contracts/src/records/filing.ts";
import { catDate, easternDate, easternSecond } from "../eastern-time.ts";
import type { FilingMistake } from "../mistake.ts";
import {
  beginnings,
  type HexSha256,
  type KnownOrders,
  type RegimeRecord,
  type RegulatoryEvent,
} from "../regulatory-event.ts";

interface Case {
  readonly event: RegulatoryEvent;
  readonly orderId: string;
}

type Fields = readonly (string | undefined)[];

const types: Partial<Readonly<Record<FiledEventType, "NW" | "RT" | "CL">>> = {
  new_order: "NW",
  order_received: "NW",
  child_order: "NW",
  order_routed: "RT",
  order_cancelled: "CL",
};
const sides = { BUY: "B", BUY_TO_COVER: "B", SELL: "S", SELL_SHORT: "SS" } as const;
const idLengthMax = 20;
const roeLength = 12;
/** How many fields of a new order carry special handling. */
const handlingFields = 5;

/** One record for the archive. */
export function oatsRecordOf(
  event: RegulatoryEvent,
  settings: OatsSettings,
  known: KnownOrders,
  sha256: HexSha256,
): RegimeRecord {
  const type = types[event.type];
  if (type === undefined) return { status: "NOT_REPORTABLE", reason: "Archives of OATS have NW, RT and CL alone." };
  if (event.order.asset_class !== "EQUITY") return { status: "NOT_REPORTABLE", reason: "OATS took equities alone." };
  const mistakes = whyAside(event, known);
  if (mistakes.length > 0) return { status: "QUARANTINED", type, mistakes };
  const of = { event, orderId: shortId(event.order.order_id, sha256) };
  const began = known.order?.beganAt ?? event.at;
  const head: Fields = [
    ...[
      "#OE#",
      type,
      "N",
      hashOf(JSON.stringify([event.key, type]), roeLength, sha256),
      undefined,
      undefined,
      settings.mpid,
    ],
    ...[`${catDate(easternDate(began))}000000`, of.orderId],
  ];
  const rest = { NW: newOrder, RT: route, CL: cancellation }[type](of);
  const fields = [...head, ...rest].map((field) => field ?? "");
  const odd = fields.findIndex((field) => /[^\x20-\x7e]|,/.test(field));
  if (odd >= 0) {
    const sentence = `Field ${odd + 1} holds a character that the form does not take.`;
    return {
      status: "QUARANTINED",
      type,
      mistakes: [{ code: "FILING_FIELD_INVALID", field: String(odd + 1), sentence }],
    };
  }
  return { status: "WRITTEN", type, line: fields.join(",") };
}

function whyAside({ type, order }: RegulatoryEvent, known: KnownOrders): readonly FilingMistake[] {
  const begins = beginnings.includes(type);
  if (begins === (known.order === undefined)) return [];
  const sentence = begins
    ? `Order ${order.order_id} was reported as new before, under another event.`
    : `No record says how order ${order.order_id} began.`;
  return [{ code: begins ? "FILING_ORDER_KNOWN" : "FILING_ORDER_UNKNOWN", field: "9", sentence }];
}

/** 20 characters; of a longer id a hash. */
function shortId(id: string, sha256: HexSha256): string {
  return id.length <= idLengthMax ? id : hashOf(id, idLengthMax, sha256);
}

function hashOf(text: string, length: number, sha256: HexSha256): string {
  return sha256(text).slice(0, length).toUpperCase();
}

function newOrder({ event: { order, at } }: Case): Fields {
  const isLimit = order.order_type === "LIMIT" || order.order_type === "STOP_LIMIT";
  const until = order.tif === "GTD" ? tryParse(order.expires_at ?? "") : undefined;
  const expiry = until === undefined ? "" : moment(until);
  const handling = [order.tif === "IOC" || order.tif === "FOK" ? order.tif : undefined];
  return [
    ...[undefined, undefined, moment(at), "E", order.symbol, sides[order.side], numberText(order.quantity)],
    ...[isLimit ? numberText(order.limit_price) : undefined, isLimit ? "N" : undefined, numberText(order.stop_price)],
    ...[order.tif === "GTC" || order.tif === "GTD" ? order.tif : "DAY", expiry.slice(0, 8), expiry.slice(8), undefined],
    ...Array.from({ length: handlingFields }, (_, index) => handling[index]),
    ...[undefined, undefined, undefined, "A", "N", "N", undefined],
  ];
}

/** Not verified: the end of a combined order and route, as a record of its own. */
function route({ event: { order, details, at }, orderId }: Case): Fields {
  const sent = details.routed_order_id ?? orderId;
  return [order.symbol, sent, undefined, moment(at), numberText(order.quantity), "E", "N", undefined, undefined];
}

function cancellation({ event: { order, details, at } }: Case): Fields {
  const left = numberText(details.leaves_quantity ?? "0");
  const quantity = numberText(details.cancel_quantity ?? order.quantity);
  const isWhole = left === "0";
  return [order.symbol, moment(at), isWhole ? "F" : "P", quantity, left, details.initiator ?? "F", undefined];
}

/** Eastern, to the second: YYYYMMDDHHMMSS. */
function moment(at: RegulatoryEvent["at"]): string {
  return `${catDate(easternDate(at))}${easternSecond(at)}`;
}

function numberText(number: string | undefined): string | undefined {
  const parsed = number === undefined ? undefined : decimal.tryParse(number);
  return parsed === undefined ? number : decimal.format(parsed);
}
