// The fields of an alert, one by one: exactly those that were agreed, each of its kind. A field that is not known is refused by name, because one that is
// silently ignored is an order that its sender believes to be another.
import * as decimal from "../../contracts/src/decimal.ts";
import { type Instant, tryParse } from "../../contracts/src/instant.ts";
import { idText, lineText, nameText } from "../../contracts/src/records/fields.ts";
import { orderType, side, tif } from "../../contracts/src/records/values.ts";
import type { Schema } from "../../contracts/src/schema.ts";

type FieldDenialCode = "WEBHOOK_FIELD_INVALID" | "WEBHOOK_PLACEHOLDER_UNRESOLVED" | "WEBHOOK_NOT_A_NUMBER";

export interface AlertDenial<Code extends string = string> {
  readonly code: Code;
  /** What to change in the alert. */
  readonly detail: string;
}

export type MarketPosition = "LONG" | "SHORT" | "FLAT";
type Side = (typeof side.options)[number];
type OrderType = (typeof orderType.options)[number];

export interface AlertFields {
  readonly fund_id: string;
  readonly strategy_id: string;
  /** As it was sent. */
  readonly symbol: string;
  readonly side: Side;
  readonly quantity: string;
  readonly order_type: OrderType;
  readonly tif: (typeof tif.options)[number];
  readonly idempotency_key: string;
  readonly limit_price: string | undefined;
  readonly stop_price: string | undefined;
  readonly actor: string | undefined;
  readonly thesis: string | undefined;
  readonly timestamp: Instant | undefined;
  readonly reduce_only: boolean;
  readonly market_position: MarketPosition | undefined;
  readonly market_position_size: string | undefined;
  readonly prev_market_position: MarketPosition | undefined;
  readonly prev_market_position_size: string | undefined;
}

/** What an alert must have; its secret was proved and removed before it is read here. */
const required = ["strategy_id", "fund_id", "symbol", "side", "quantity", "order_type", "idempotency_key"];
const optional = [
  "limit_price",
  "tif",
  "actor",
  "thesis",
  "timestamp",
  "stop_price",
  "reduce_only",
  "market_position",
  "market_position_size",
  "prev_market_position",
  "prev_market_position_size",
];
const decimals = new Set([
  "quantity",
  "limit_price",
  "stop_price",
  "market_position_size",
  "prev_market_position_size",
]);
const known = new Set([...required, ...optional]);
const knownText = ["secret", ...known].join(", ");
/** What a script writes where it has no value. */
const notANumber = /^[+-]?(?:nan|na|n\/a|inf|infinity|∞)$/i;
const positions: readonly MarketPosition[] = ["LONG", "SHORT", "FLAT"];
const thesisLengthMax = 2_000;
const keyText = lineText(200).min(1);
const symbolLengthMax = 64;

class Refused extends Error {
  readonly denial: AlertDenial<FieldDenialCode>;

  constructor(code: FieldDenialCode, detail: string) {
    super(detail);
    this.denial = { code, detail };
  }
}

type Body = Readonly<Record<string, unknown>>;

/** The body is an object without its secret, which was found right. */
export function readAlertFields(body: Body): { readonly fields: AlertFields } | AlertDenial<FieldDenialCode> {
  try {
    const texts = readTexts(body);
    const fields = fieldsOf(texts, body);
    return { fields };
  } catch (thrown) {
    if (thrown instanceof Refused) return thrown.denial;
    throw thrown;
  }
}

/** Every field but reduce_only as text; empty ones are absent. */
function readTexts(body: Body): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (!known.has(name)) throw invalid(shown(name), `is no field of an alert; the fields are ${knownText}`);
    if (name === "reduce_only" && typeof value === "boolean") texts.set(name, String(value));
    else if (typeof value !== "string") throw invalid(name, wantedInstead(name, value));
    else if (value !== "") texts.set(name, value);
  }
  for (const name of required) if (!texts.has(name)) throw invalid(name, "is missing, and every alert needs it");
  for (const [name, text] of texts) {
    if (text.includes("{{")) {
      throw new Refused(
        "WEBHOOK_PLACEHOLDER_UNRESOLVED",
        `${name}: ${shown(text)} was sent as it stands: this kind of alert does not know that placeholder.`,
      );
    }
    if (decimals.has(name) && notANumber.test(text)) {
      throw new Refused(
        "WEBHOOK_NOT_A_NUMBER",
        `${name}: ${shown(text)} is no number: the script had no value there when the alert fired.`,
      );
    }
  }
  return texts;
}

function fieldsOf(texts: ReadonlyMap<string, string>, body: Body): AlertFields {
  const text = (name: string): string => texts.get(name) ?? "";
  const type = word(text("order_type"), "order_type", orderType.options);
  return {
    fund_id: text("fund_id"),
    strategy_id: checked("strategy_id", text("strategy_id"), idText),
    symbol: short("symbol", text("symbol"), symbolLengthMax),
    side: word(text("side"), "side", side.options),
    quantity: positive("quantity", text("quantity")),
    order_type: type,
    tif: timeInForce(texts.get("tif")),
    idempotency_key: checked("idempotency_key", text("idempotency_key"), keyText),
    limit_price: price("limit_price", texts, type === "LIMIT" || type === "STOP_LIMIT", type),
    stop_price: price("stop_price", texts, type === "STOP" || type === "STOP_LIMIT", type),
    actor: texts.has("actor") ? checked("actor", text("actor"), nameText) : undefined,
    thesis: texts.has("thesis") ? short("thesis", text("thesis"), thesisLengthMax) : undefined,
    timestamp: time(texts.get("timestamp")),
    reduce_only: flag(body["reduce_only"]),
    market_position: position("market_position", texts),
    market_position_size: size("market_position_size", texts),
    prev_market_position: position("prev_market_position", texts),
    prev_market_position_size: size("prev_market_position_size", texts),
  };
}

function timeInForce(sent: string | undefined): AlertFields["tif"] {
  const given = word(sent ?? "DAY", "tif", tif.options);
  if (given === "GTD") throw invalid("tif", "GTD needs an end, which an alert cannot carry: write DAY or GTC");
  return given;
}

function price(
  name: string,
  texts: ReadonlyMap<string, string>,
  isNeeded: boolean,
  type: OrderType,
): string | undefined {
  const sent = texts.get(name);
  if (sent === undefined) {
    if (isNeeded) throw invalid(name, `is missing, and a ${type} order needs it`);
    return undefined;
  }
  // Leaving it out in silence would make another order of it than its sender believes.
  if (!isNeeded) throw invalid(name, `a ${type} order has none: remove it, or write another order_type`);
  return positive(name, sent);
}

function positive(name: string, sent: string): string {
  const value = decimal.tryParse(sent);
  if (value === undefined || value <= 0n)
    throw invalid(name, `${shown(sent)} is no plain decimal above zero, such as "12.5"`);
  return sent;
}

function size(name: string, texts: ReadonlyMap<string, string>): string | undefined {
  const sent = texts.get(name);
  if (sent === undefined) return undefined;
  const value = decimal.tryParse(sent);
  if (value === undefined || value < 0n) throw invalid(name, `${shown(sent)} is no plain decimal of zero or more`);
  return sent;
}

function position(name: string, texts: ReadonlyMap<string, string>): MarketPosition | undefined {
  const sent = texts.get(name);
  return sent === undefined ? undefined : word(sent, name, positions);
}

function flag(sent: unknown): boolean {
  if (sent === undefined || sent === "" || sent === false) return false;
  if (sent === true) return true;
  const written = String(sent).toLowerCase();
  if (written === "true" || written === "false") return written === "true";
  throw invalid("reduce_only", `${shown(String(sent))} is neither true nor false`);
}

function time(sent: string | undefined): Instant | undefined {
  if (sent === undefined) return undefined;
  const at = tryParse(sent);
  if (at === undefined) throw invalid("timestamp", `${shown(sent)} is no time: write "{{timenow}}"`);
  return at;
}

/** Placeholders write words in small letters. */
function word<Word extends string>(sent: string, name: string, words: readonly Word[]): Word {
  const found = /^[a-z_]+$/i.test(sent) ? words.find((one) => one === sent.toUpperCase()) : undefined;
  if (found === undefined) throw invalid(name, `${shown(sent)} is none of ${words.join(", ")}`);
  return found;
}

function checked(name: string, sent: string, schema: Schema<string>): string {
  if (schema.safeParse(sent).success) return sent;
  throw invalid(name, `${shown(sent)} cannot stand there: too long, or with characters that it may not have`);
}

function short(name: string, sent: string, lengthMax: number): string {
  if (sent.length <= lengthMax) return sent;
  throw invalid(name, `has ${sent.length} characters, and may have ${lengthMax}`);
}

function wantedInstead(name: string, value: unknown): string {
  if (typeof value === "number" && decimals.has(name)) {
    return `is a number, which loses digits on its way: write it in quotation marks, "${name}": "${value}"`;
  }
  const kind = value === null ? "null" : Array.isArray(value) ? "a list" : `of the kind ${typeof value}`;
  return `is ${kind} and must be text in quotation marks`;
}

/** What came from outside, short and on one line. */
function shown(text: string): string {
  return JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text);
}

function invalid(name: string, what: string): Refused {
  return new Refused("WEBHOOK_FIELD_INVALID", `${name}: ${what}.`);
}
