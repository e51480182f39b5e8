// `ctl oms orders submit`: hands an order in and says how far it came. Being accepted is never reported as being filled, and an answer that was lost is reported as
// that, with how to ask again without doing it twice.

import { exitCodes } from "../../../contracts/src/codes/shape.ts";
import type { Client } from "../../client/src/types.ts";
import { termsText } from "../../words/order-words.ts";
import { fundOption } from "../envelope-flags.ts";
import { isApiError, Refusal, usageRefusal } from "../failure.ts";
import { fundModes } from "../fund-modes.ts";
import { reasonOption } from "../reason.ts";
import { isForPeople } from "../text/listing.ts";
import { exitOf, type OrderStatus, outcomeText } from "../text/order-text.ts";
import { clean } from "../text/text.ts";
import type { Answer, Context, Verb } from "./verb.ts";

type Order = Parameters<Client["submitOrder"]>[0];

const sides = ["BUY", "SELL", "SELL_SHORT", "BUY_TO_COVER"] as const;
const types = ["MARKET", "LIMIT", "STOP", "STOP_LIMIT"] as const;
const tifs = ["DAY", "GTC", "IOC", "FOK", "GTD"] as const;
const classes = ["EQUITY", "CRYPTO", "OPTION"] as const;

export const omsOrdersSubmit: Verb = {
  name: "oms orders submit",
  heading: "Orders",
  sentence: "Hand in an order, and say how far it came.",
  about:
    "It passes the same gates as every order. Exit 0 when it is approved (which is not filled: the state says more), 6 when it was rejected, 8 when nobody has said yet what becomes of it. The same --idempotency-key and order within 5 minutes are one order.",
  arguments: [],
  options: [
    fundOption,
    { name: "strategy-id", value: "STRATEGY", required: true, sentence: "For which of the fund's strategies." },
    { name: "symbol", value: "SYMBOL", required: true, sentence: "The instrument: AAPL, BTC-USD." },
    { name: "side", value: "SIDE", required: true, values: sides, closed: true, sentence: "To buy or to sell." },
    { name: "quantity", value: "QUANTITY", required: true, sentence: "Units of the instrument, above zero." },
    {
      name: "order-type",
      value: "TYPE",
      values: types,
      closed: true,
      sentence: "How it is priced. When absent: what the given prices mean, and MARKET without any.",
    },
    { name: "limit-price", value: "PRICE", sentence: "For LIMIT and STOP_LIMIT." },
    { name: "stop-price", value: "PRICE", sentence: "For STOP and STOP_LIMIT." },
    { name: "tif", value: "TIF", standard: "DAY", values: tifs, closed: true, sentence: "How long it stands." },
    { name: "expires-at", value: "TIME", sentence: "When a GTD order ends: 2026-11-15T21:00:00Z." },
    { name: "reduce-only", sentence: "It may only shrink the position; the engine proves that or refuses." },
    { name: "broker", value: "BROKER", standard: "paper", sentence: "Through whom." },
    { name: "venue", value: "VENUE", sentence: "Where, for brokers that can choose." },
    { name: "asset-class", value: "CLASS", values: classes, closed: true, sentence: "Looked up when absent." },
    { name: "order-id", value: "ID", sentence: "Its name; a new one otherwise." },
    { name: "idempotency-key", value: "KEY", sentence: "By which a repetition is known; a new one otherwise." },
    { name: "dry-run", sentence: "Only ask whether it would be approved; nothing is sent." },
    reasonOption,
  ],
  examples: [
    {
      command:
        "ctl oms orders submit --fund-id alpha --strategy-id alpha-momentum --symbol AAPL --side BUY --quantity 10",
      sentence: "At the market, for today.",
    },
    {
      command:
        "ctl oms orders submit --fund-id alpha --strategy-id alpha-momentum --symbol AAPL --side BUY --quantity 10 --limit-price 100",
      sentence: "A limit order: not above 100.",
    },
    {
      command:
        "ctl oms orders submit --fund-id beta --strategy-id beta-trend --symbol BTC-USD --side SELL --quantity 0.1 --reduce-only --dry-run",
      sentence: "Whether it would be approved.",
    },
  ],
  operation: "SubmitOrder",
  changesState: true,
  run,
};

async function run(context: Context): Promise<Answer> {
  const client = await context.client();
  const order = orderOf(context, await assetClassOf(context, client));
  const isDryRun = context.switched("dry-run");
  const status = await submitted(client, isDryRun ? { ...order, dryRun: true } : order, context);
  if (isDryRun) return dryRunAnswer(status);
  const next = isForPeople(context) ? nextOf(status) : [];
  const mode = context.json ? "" : (await fundModes(client, context))(order.fundId);
  const what = clean(`${termsText(status)} for ${order.fundId} (${mode})`);
  return { data: status, text: `${what}\n${outcomeText(status)}`, exit: exitOf(status), next };
}

/** Only what the risk engine decided has a why; an order that was refused at the door has the halt that refused it. */
function nextOf({ order, code, decision }: OrderStatus): readonly string[] {
  const orderId = clean(order.order_id);
  const show = `ctl oms orders show ${orderId}`;
  if (decision !== undefined) return [show, `ctl why ${orderId}`];
  if (code === "ORDER_FUND_FLATTENING") return [show, "ctl operations flatten show"];
  return code === "ORDER_HALTED" ? [show, "ctl riskengine halts list"] : [show];
}

function orderOf(context: Context, assetClass: (typeof classes)[number]): Order {
  const given = (name: string): string => context.option(name) ?? "";
  const optional = <Key extends string>(name: string, key: Key): { readonly [K in Key]?: string } => {
    const value = context.option(name);
    // A computed key widens; this is exactly the member that the type names.
    return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: string });
  };
  const id = `ctl-${context.random.uuid()}`;
  return {
    orderId: context.option("order-id") ?? id,
    idempotencyKey: context.option("idempotency-key") ?? id,
    fundId: given("fund-id"),
    strategyId: given("strategy-id"),
    symbol: given("symbol"),
    // These options take no other words.
    side: given("side") as (typeof sides)[number],
    orderType: typeOf(context),
    tif: given("tif") as (typeof tifs)[number],
    quantity: given("quantity"),
    broker: given("broker"),
    assetClass,
    ...optional("limit-price", "limitPrice"),
    ...optional("stop-price", "stopPrice"),
    ...optional("expires-at", "expiresAt"),
    ...optional("venue", "venue"),
    // What a person says of an order is its thesis.
    ...optional("reason", "thesis"),
    ...(context.switched("reduce-only") ? { reduceOnly: true } : {}),
  };
}

/** Whoever names a limit means it: it is never passed over. */
function typeOf(context: Context): (typeof types)[number] {
  const typed = context.option("order-type");
  // The option takes no other words.
  if (typed !== undefined) return typed as (typeof types)[number];
  const isStopped = context.option("stop-price") !== undefined;
  if (context.option("limit-price") !== undefined) return isStopped ? "STOP_LIMIT" : "LIMIT";
  return isStopped ? "STOP" : "MARKET";
}

async function assetClassOf(context: Context, client: Client): Promise<(typeof classes)[number]> {
  const typed = context.option("asset-class");
  if (typed !== undefined) return typed as (typeof classes)[number];
  const symbol = context.option("symbol") ?? "";
  const found = (await client.listInstruments()).find((one) => one.symbol === symbol);
  if (found !== undefined) return found.asset_class;
  const hint = "`ctl treasury instruments list` shows what there is.";
  throw usageRefusal(`There is no instrument ${JSON.stringify(symbol)}.`, hint);
}

async function submitted(client: Client, order: Order, context: Context): Promise<OrderStatus> {
  try {
    return await client.submitOrder(order);
  } catch (thrown) {
    const isLost = isApiError(thrown) ? thrown.status >= 500 : true;
    if (isLost && order.dryRun !== true) {
      const same = clean(`--order-id ${order.orderId} --idempotency-key ${order.idempotencyKey}`);
      context.terminal.say(
        `Whether it was taken is not known. Ask again with ${same}: within 5 minutes it is one order.`,
      );
    }
    throw thrown;
  }
}

function dryRunAnswer(status: OrderStatus): Answer {
  const { decision } = status;
  if (decision === undefined) {
    throw new Refusal(
      exitCodes.unavailable,
      "SERVICE_UNAVAILABLE",
      "The risk engine did not say what it would decide.",
    );
  }
  const terms = clean(termsText(status));
  const why = clean(`${decision.code} (${decision.rejecting_gate}): ${decision.reason}`);
  return decision.approved
    ? { data: status, text: `${terms} would be approved. Nothing was sent.` }
    : { data: status, text: `${terms} would be denied. Nothing was sent.\n${why}`, exit: exitCodes.refused };
}
