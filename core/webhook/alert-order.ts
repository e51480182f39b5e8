// What an alert means as an order: which side it is on, whether it only reduces, how old it is. Pure: what it needs to know is handed in.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween, tryParse } from "../../contracts/src/instant.ts";
import type { AlertDenial, AlertFields, MarketPosition } from "./alert-fields.ts";

type OrderDenialCode = "WEBHOOK_REVERSAL" | "WEBHOOK_FIELD_INVALID";

interface AlertOrder {
  readonly side: AlertFields["side"];
  readonly reduce_only: boolean;
}

type Positions = Pick<
  AlertFields,
  "market_position" | "market_position_size" | "prev_market_position" | "prev_market_position_size"
>;
type Asked = Positions & Pick<AlertFields, "side" | "quantity" | "reduce_only">;

/** A chart knows buy and sell; the position before says whether that opens or closes. Crypto has one pair of sides and may cross zero. */
export function alertOrder(asked: Asked, assetClass: string): AlertOrder | AlertDenial<OrderDenialCode> {
  const crosses = assetClass === "CRYPTO";
  const { prev_market_position: before } = asked;
  if (!crosses && isReversal(asked)) return reversal(asked);
  const side = crosses ? asked.side : sideFrom(asked.side, before);
  const reduce_only = asked.reduce_only || reduces(asked);
  if (reduce_only && side === "SELL_SHORT") {
    return {
      code: "WEBHOOK_FIELD_INVALID",
      detail:
        "side: SELL_SHORT opens or adds, and the alert says that the position gets smaller; write sell or buy_to_cover.",
    };
  }
  return { side, reduce_only };
}

function sideFrom(side: AlertFields["side"], before: MarketPosition | undefined): AlertFields["side"] {
  if (side === "SELL" && (before === "FLAT" || before === "SHORT")) return "SELL_SHORT";
  if (side === "BUY" && before === "SHORT") return "BUY_TO_COVER";
  return side;
}

/** Said by the two positions, or by an order against the position before that is larger than it. */
function isReversal({ side, quantity, ...positions }: Asked): boolean {
  const { market_position: now, prev_market_position: before, prev_market_position_size: size } = positions;
  if (before === undefined || before === "FLAT") return false;
  if (now !== undefined) return now !== before && now !== "FLAT";
  const isAgainst = before === "LONG" ? side === "SELL" : side === "BUY" || side === "BUY_TO_COVER";
  return isAgainst && size !== undefined && decimal.compare(decimal.parse(quantity), decimal.parse(size)) > 0;
}

/** Flat, or smaller than before on the same side. */
function reduces(positions: Positions): boolean {
  const { market_position: now, prev_market_position: before } = positions;
  if (now === "FLAT") return true;
  if (now === undefined || now !== before) return false;
  const [size, sizeBefore] = [positions.market_position_size, positions.prev_market_position_size];
  if (size === undefined || sizeBefore === undefined) return false;
  return decimal.compare(decimal.parse(size), decimal.parse(sizeBefore)) < 0;
}

function reversal({ prev_market_position: before, prev_market_position_size: was, market_position_size: is }: Asked) {
  const [close, open] = before === "LONG" ? ["sell", "sell_short"] : ["buy_to_cover", "buy"];
  const detail =
    "side: the position would change its sign in one order. Write two alerts: " +
    `first "side": "${close}", "quantity": "${was ?? "what is held"}", "market_position": "flat"; ` +
    `then "side": "${open}", "quantity": "${is ?? "what is wanted"}".`;
  return { code: "WEBHOOK_REVERSAL", detail } as const;
}

const timeAtEnd = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

/** When the alert says that it fired: its timestamp, else the time that ends its key. */
export function alertTime({
  timestamp,
  idempotency_key,
}: Pick<AlertFields, "timestamp" | "idempotency_key">): Instant | undefined {
  if (timestamp !== undefined) return timestamp;
  const [ending] = timeAtEnd.exec(idempotency_key) ?? [];
  return ending === undefined ? undefined : tryParse(ending);
}

/** An alert is never good for longer, whatever is configured. */
export const alertAgeSMax = 300;
const alertAheadMsMax = 60_000;

type AgeDenialCode = "WEBHOOK_ALERT_TOO_OLD" | "WEBHOOK_ALERT_AHEAD";

/** Undefined when its age is right. */
export function ageDenial(at: Instant, now: Instant, ageMsMax: number): AlertDenial<AgeDenialCode> | undefined {
  const ageMs = millisecondsBetween(at, now);
  if (ageMs > ageMsMax) {
    const detail = `The alert fired at ${format(at)}, ${Math.floor(ageMs / 1_000)} s ago; ${ageMsMax / 1_000} s are allowed.`;
    return { code: "WEBHOOK_ALERT_TOO_OLD", detail };
  }
  if (-ageMs > alertAheadMsMax) {
    const detail = `The alert says that it fires at ${format(at)}, ${Math.floor(-ageMs / 1_000)} s from now: send "{{timenow}}".`;
    return { code: "WEBHOOK_ALERT_AHEAD", detail };
  }
  return undefined;
}
