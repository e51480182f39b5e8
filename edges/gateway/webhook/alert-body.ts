// An alert as JSON: its fields for the reference, and what of it may leave the gateway. Which of them are right is judged behind the secret, so that a
// stranger learns nothing; here every field may be anything.
import { z } from "zod";
import { atMost } from "../../../contracts/src/bounds/at-most.ts";

const field = (description: string) => z.unknown().optional().meta({ description });

const alertFields = z
  .looseObject({
    secret: field("The fund's webhook secret."),
    strategy_id: field("The strategy, one of the fund's."),
    fund_id: field("The fund."),
    symbol: field("{{exchange}}:{{ticker}}, or one of our own symbols."),
    side: field("BUY, SELL, SELL_SHORT or BUY_TO_COVER, in any case."),
    quantity: field("A decimal as text."),
    order_type: field("MARKET, LIMIT, STOP or STOP_LIMIT."),
    limit_price: field("A decimal as text; needed by LIMIT and STOP_LIMIT."),
    stop_price: field("A decimal as text; needed by STOP and STOP_LIMIT."),
    tif: field("DAY when absent, GTC, IOC or FOK."),
    actor: field("Who is behind it, as they say themselves."),
    idempotency_key: field("Once in five minutes; ends best with {{timenow}}."),
    thesis: field("Why, as free text."),
    timestamp: field("When it fired: {{timenow}}."),
    reduce_only: field("Whether it must only reduce."),
    market_position: field("The position afterwards: long, short or flat."),
    market_position_size: field("Its size."),
    prev_market_position: field("The position before: long, short or flat."),
    prev_market_position_size: field("Its size."),
  })
  .meta({ description: "An alert of the charting platform. Decimals are strings." });

/** As much as the longest alert that the webhook takes can hold. */
export const alertBody = atMost(alertFields, { any: { values: 2_048, characters: 4_096 } });

export type AlertBody = Readonly<Record<string, unknown>>;

/** What of an alert that proved nothing may be kept: people put secrets into fields of other names. */
const plainFields = ["fund_id", "strategy_id", "symbol", "side", "quantity", "order_type", "idempotency_key"] as const;
const removed = "[secret removed]";
/** A shorter one would be found in words that are none. */
const secretLengthMin = 8;

/** The alert as text without its secret, wherever that stands in it. */
export function withoutSecret({ secret, ...rest }: AlertBody): string {
  const text = JSON.stringify(rest);
  if (typeof secret !== "string" || secret.length < secretLengthMin) return text;
  return text.replaceAll(JSON.stringify(secret).slice(1, -1), removed);
}

/** What is kept of one whose secret was wrong. */
export function plainPart(body: AlertBody): string {
  const kept = plainFields.flatMap((name) => (typeof body[name] === "string" ? [[name, body[name]]] : []));
  return withoutSecret({ secret: body["secret"], ...Object.fromEntries(kept) });
}
