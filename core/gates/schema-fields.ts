// The shape of an order, field by field: there, of its kind, not too long, one of the known words. The rules are those of the order's record;
// here they are loops over characters, because every order pays for them.
import type { Denial } from "../../contracts/src/codes.ts";
import type { Order } from "../../contracts/src/generated/svc/v1/order.ts";
import {
  currencyFirst,
  currencyRest,
  idFirst,
  idRest,
  isMadeOf,
  isOneLine,
  symbolFirst,
  symbolRest,
} from "../state/text-kinds.ts";
import { quoted } from "../state/wording.ts";

interface Kind {
  readonly lengthMax: number;
  readonly expected: string;
  fits(text: string): boolean;
}

const line: Kind = { lengthMax: 200, expected: "one line without control characters", fits: isOneLine };
const id: Kind = {
  lengthMax: 128,
  expected: "letters, digits and . _ : @ / -",
  fits: (text) => isMadeOf(text, idFirst, idRest),
};
const symbol: Kind = {
  lengthMax: 64,
  expected: "a symbol in capitals",
  fits: (text) => isMadeOf(text, symbolFirst, symbolRest),
};
const currency: Kind = {
  lengthMax: 10,
  expected: "a currency such as USD",
  fits: (text) => text.length >= 3 && isMadeOf(text, currencyFirst, currencyRest),
};
const prose: Kind = { lengthMax: 4_096, expected: "text", fits: () => true };
/** Words and numbers are judged later; here it counts that something is there. */
const anything: Kind = { lengthMax: 64, expected: "text", fits: () => true };

function required(name: keyof Order, text: unknown, kind: Kind): Denial | undefined {
  if (text === undefined || text === "" || text === null) {
    return { code: "SCHEMA_FIELD_MISSING", reason: `${name} is missing.` };
  }
  return optional(name, text, kind);
}

function optional(name: keyof Order, text: unknown, kind: Kind): Denial | undefined {
  if (text === undefined) return undefined;
  if (typeof text !== "string" || text === "") {
    return { code: "SCHEMA_FIELD_INVALID", reason: `${name} must be ${kind.expected}.` };
  }
  if (text.length > kind.lengthMax) {
    const reason = `${name} has ${text.length} characters; ${kind.lengthMax} is the most.`;
    return { code: "SCHEMA_FIELD_TOO_LONG", reason };
  }
  if (kind.fits(text)) return undefined;
  return { code: "SCHEMA_FIELD_INVALID", reason: `${name} must be ${kind.expected}, not ${quoted(text)}.` };
}

function flag(name: keyof Order, value: unknown): Denial | undefined {
  if (value === undefined || typeof value === "boolean") return undefined;
  return { code: "SCHEMA_FIELD_INVALID", reason: `${name} must be true or false, not ${quoted(value)}.` };
}

function word(name: keyof Order, value: string, known: readonly string[]): Denial | undefined {
  if (known.includes(value)) return undefined;
  const reason = `${name} must be one of ${known.join(", ")}, not ${quoted(value)}.`;
  return { code: "SCHEMA_VALUE_UNKNOWN", reason };
}

const sides = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const;
const orderTypes = ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"] as const;
const tifs = ["DAY", "GTC", "IOC", "FOK", "GTD"] as const;
const assetClasses = ["EQUITY", "CRYPTO", "OPTION"] as const;

/** The first field that is not as it must be. Numbers and times are not read here; `textsFit` is what the view says of them. */
export function fieldDenial(order: Order, textsFit: boolean | undefined): Denial | undefined {
  return isOrdinary(order) && (textsFit === true || haveFittingTexts(order)) ? undefined : firstDenial(order);
}

/** Whether nothing but perhaps a character is wrong with an order that says no more than most do: the same rules in one go. */
function isOrdinary(order: Order): boolean {
  return (
    isText(order.idempotency_key, line.lengthMax) &&
    isText(order.order_id, id.lengthMax) &&
    isText(order.fund_id, id.lengthMax) &&
    isText(order.strategy_id, id.lengthMax) &&
    isText(order.symbol, symbol.lengthMax) &&
    isText(order.quantity, anything.lengthMax) &&
    isText(order.broker, line.lengthMax) &&
    isText(order.actor, line.lengthMax) &&
    (order.limit_price === undefined || isText(order.limit_price, anything.lengthMax)) &&
    order.stop_price === undefined &&
    order.expires_at === undefined &&
    order.created_at === undefined &&
    order.venue === undefined &&
    order.currency === undefined &&
    order.thesis === undefined &&
    (order.reduce_only === undefined || typeof order.reduce_only === "boolean") &&
    (order.dry_run === undefined || typeof order.dry_run === "boolean") &&
    (order.side === "BUY" || order.side === "SELL") &&
    (order.order_type === "LIMIT" || order.order_type === "MARKET") &&
    (order.tif === "DAY" || order.tif === "GTC") &&
    (order.asset_class === "EQUITY" || order.asset_class === "CRYPTO" || order.asset_class === "OPTION")
  );
}

function haveFittingTexts(order: Order): boolean {
  return (
    line.fits(order.idempotency_key) &&
    id.fits(order.order_id) &&
    id.fits(order.fund_id) &&
    id.fits(order.strategy_id) &&
    symbol.fits(order.symbol) &&
    line.fits(order.broker) &&
    line.fits(order.actor)
  );
}

/** A message made from JSON may hold anything, so the type is checked and not believed. */
function isText(text: unknown, lengthMax: number): boolean {
  return typeof text === "string" && text.length > 0 && text.length <= lengthMax;
}

function firstDenial(order: Order): Denial | undefined {
  return (
    required("idempotency_key", order.idempotency_key, line) ??
    required("order_id", order.order_id, id) ??
    required("fund_id", order.fund_id, id) ??
    required("strategy_id", order.strategy_id, id) ??
    required("symbol", order.symbol, symbol) ??
    required("side", order.side, anything) ??
    required("quantity", order.quantity, anything) ??
    required("order_type", order.order_type, anything) ??
    required("tif", order.tif, anything) ??
    required("broker", order.broker, line) ??
    required("asset_class", order.asset_class, anything) ??
    required("actor", order.actor, line) ??
    optional("limit_price", order.limit_price, anything) ??
    optional("stop_price", order.stop_price, anything) ??
    optional("expires_at", order.expires_at, anything) ??
    optional("created_at", order.created_at, anything) ??
    optional("venue", order.venue, line) ??
    optional("currency", order.currency, currency) ??
    (order.thesis === "" ? undefined : optional("thesis", order.thesis, prose)) ??
    flag("reduce_only", order.reduce_only) ??
    flag("dry_run", order.dry_run) ??
    word("side", order.side, sides) ??
    word("order_type", order.order_type, orderTypes) ??
    word("tif", order.tif, tifs) ??
    word("asset_class", order.asset_class, assetClasses)
  );
}
