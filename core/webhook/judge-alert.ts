// One alert, from its body to the order that it asks for, or to the first rule that says no. Pure: instruments, strategies, settings and the time are
// handed in. The symbol is read before the instrument can be looked for, so there are two steps.
import type { CommandDenialCode } from "../../contracts/src/codes/denials.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { Order } from "../../contracts/src/records/order.ts";
import type { AssetClass, FundMode } from "../../contracts/src/records/values.ts";
import { type AlertFields, readAlertFields } from "./alert-fields.ts";
import { ageDenial, alertOrder, alertTime } from "./alert-order.ts";
import { translateSymbol } from "./translate-symbol.ts";

export interface AlertRefusal {
  readonly code: CommandDenialCode;
  /** What to change in the alert. */
  readonly detail: string;
}

/** As far as it could be read. */
export interface ReadAlert {
  readonly fields?: AlertFields;
  readonly alertAt?: Instant;
  /** The translated symbol. */
  readonly symbol?: string;
  readonly refusal?: AlertRefusal;
}

interface FundRules {
  readonly fundId: string;
  readonly mode: FundMode;
  readonly symbols: Readonly<Record<string, string>>;
  readonly liveFunds: readonly string[];
}

/** What the body says. */
export function readAlert(body: Readonly<Record<string, unknown>>, rules: FundRules): ReadAlert {
  const read = readAlertFields(body);
  if (!("fields" in read)) return { refusal: read };
  const { fields } = read;
  const alertAt = alertTime(fields);
  const known = { fields, ...(alertAt !== undefined && { alertAt }) };
  if (fields.fund_id !== rules.fundId) {
    return { ...known, refusal: { code: "WEBHOOK_FIELD_INVALID", detail: "fund_id: the secret is another fund's." } };
  }
  const translated = translateSymbol(fields.symbol, rules.symbols);
  const symbol = "symbol" in translated ? { symbol: translated.symbol } : {};
  if (rules.mode === "LIVE" && !rules.liveFunds.includes(rules.fundId)) {
    const detail = `fund_id: ${rules.fundId} trades money; name it in tradingview.live_funds to let alerts trade in it.`;
    return { ...known, ...symbol, refusal: { code: "WEBHOOK_FUND_NOT_ENABLED", detail } };
  }
  return "symbol" in translated ? { ...known, ...symbol } : { ...known, refusal: translated };
}

interface AlertFacts {
  /** Of the instrument with the translated symbol; undefined when there is none. */
  readonly assetClass: AssetClass | undefined;
  readonly strategies: readonly { readonly strategyId: string; readonly fundId: string }[];
  readonly now: Instant;
  readonly ageMsMax: number;
  readonly requiresTime: boolean;
}

/** The order without what is only known when it is handed in. */
type AlertOrderTerms = Omit<Order, "idempotency_key" | "order_id" | "broker" | "actor"> & {
  readonly actor?: string;
};

export interface JudgedAlert {
  readonly terms: AlertOrderTerms;
  readonly warnings: readonly string[];
}

/** The rules about an alert that could be read. */
export function judgeAlert(fields: AlertFields, symbol: string, facts: AlertFacts): JudgedAlert | AlertRefusal {
  const { assetClass, strategies } = facts;
  if (assetClass === undefined) {
    const detail = `symbol: there is no instrument ${symbol} here, which is what ${JSON.stringify(fields.symbol)} means.`;
    return { code: "WEBHOOK_SYMBOL_UNKNOWN", detail };
  }
  const isKnown = strategies.some((one) => one.strategyId === fields.strategy_id && one.fundId === fields.fund_id);
  if (!isKnown) {
    const own = strategies.filter(({ fundId }) => fundId === fields.fund_id).map(({ strategyId }) => strategyId);
    const named = own.length === 0 ? "it has none" : `they are ${own.slice(0, 20).join(", ")}`;
    const detail = `strategy_id: ${fields.strategy_id} is none of the fund's strategies; ${named}.`;
    return { code: "WEBHOOK_STRATEGY_UNKNOWN", detail };
  }
  const timed = judgeTime(fields, facts);
  if ("code" in timed) return timed;
  const order = alertOrder(fields, assetClass);
  if ("code" in order) return order;
  return { terms: termsOf(fields, symbol, assetClass, order), warnings: timed.warnings };
}

function judgeTime(
  alert: AlertFields,
  { now, ageMsMax, requiresTime }: AlertFacts,
): AlertRefusal | { readonly warnings: readonly string[] } {
  const at = alertTime(alert);
  if (at !== undefined) return ageDenial(at, now, ageMsMax) ?? { warnings: [] };
  if (!requiresTime) return { warnings: ["NO_ALERT_TIME"] };
  const detail = 'timestamp: is missing, and this platform wants it: write "timestamp": "{{timenow}}".';
  return { code: "WEBHOOK_ALERT_TIME_MISSING", detail };
}

function termsOf(
  fields: AlertFields,
  symbol: string,
  assetClass: AssetClass,
  { side, reduce_only }: { readonly side: AlertFields["side"]; readonly reduce_only: boolean },
): AlertOrderTerms {
  const { fund_id, strategy_id, quantity, order_type, tif, limit_price, stop_price, actor, thesis } = fields;
  return {
    fund_id,
    strategy_id,
    symbol,
    side,
    quantity,
    order_type,
    tif,
    asset_class: assetClass,
    ...(limit_price !== undefined && { limit_price }),
    ...(stop_price !== undefined && { stop_price }),
    ...(reduce_only && { reduce_only }),
    ...(actor !== undefined && { actor }),
    ...(thesis !== undefined && { thesis }),
  };
}
