// When a run has come to rest, whatever is still held can be valued and left: treasury has a fresh value with its price, and the risk engine would let
// a marked exit by MARKET out, for all that its strategy holds of the fund's net position. Asked of the running services; nothing is sent.

import * as decimal from "../contracts/src/decimal.ts";
import type { RiskDecision } from "../contracts/src/generated/svc/v1/order.ts";
import { parse } from "../contracts/src/instant.ts";
import type { Instrument } from "../contracts/src/records/market.ts";
import type { Order } from "../contracts/src/records/order.ts";
import { covers } from "../testkit/halt-judge.ts";
import { newest } from "./actions/reference.ts";
import type { Witness } from "./evidence.ts";
import { type History, positionKey } from "./history.ts";

import type { Violation } from "./invariants.ts";
import { type Platform, serviceIdentity } from "./platform.ts";

export const holdingsCanBeLeft = {
  name: "holdings_can_be_left",
  sentence:
    "At rest whatever is held has a fresh value and a way out, or an alarm says why not, because a position that nobody can price or close is a loss that waits.",
};

export interface Held {
  readonly fundId: string;
  readonly strategyId: string;
  readonly symbol: string;
  /** What can be closed in the market: the rest stands against another strategy of the fund, and is crossed. */
  readonly closable: decimal.Decimal;
}

/** Everything that is held, as far as it was reported. */
export function holdings(past: Pick<History, "positions" | "strategyPositions">): readonly Held[] {
  return [...past.strategyPositions].flatMap(([key, quantity]) => {
    const [fundId = "", strategyId = "", ...words] = key.split(" ");
    const symbol = words.join(" ");
    const net = past.positions.get(positionKey(fundId, symbol)) ?? decimal.zero;
    if (quantity === decimal.zero) return [];
    const isOpposed = decimal.sign(net) !== decimal.sign(quantity);
    const less = decimal.abs(net) < decimal.abs(quantity) ? net : quantity;
    return [{ fundId, strategyId, symbol, closable: isOpposed ? decimal.zero : less }];
  });
}

/** As old as a price may be that a fund is valued at when everything runs. */
const freshUs = 5_000_000;

/** Why what is held is not valued; undefined when it is. */
export function whyUnvalued(past: History, { fundId, symbol }: Held, nowUs: number): string | undefined {
  const value = past.navs.get(fundId)?.at(-1)?.nav;
  if (value === undefined) return "the fund was never valued";
  if (nowUs - parse(value.as_of) > freshUs) return `the fund was valued at ${value.as_of} last`;
  const priced = value.prices?.[symbol];
  const held = past.positions.get(positionKey(fundId, symbol)) ?? decimal.zero;
  if (priced === undefined) return held === decimal.zero ? undefined : "its value is without it";
  if (nowUs - parse(priced.at) > freshUs) return `its price is of ${priced.at}`;
  return decimal.parse(priced.quantity) === held ? undefined : `it is valued with ${priced.quantity}`;
}

/** Only people can take these away, and an alarm has told of them: a halt that the fund's limits let no exit pass. */
function mayBeStuck(past: History, { fundId, strategyId }: Held): boolean {
  const place = { fund_id: fundId, strategy_id: strategyId };
  const isHalted = past.halts.some((halt) => halt.lift === undefined && covers(halt, place));
  const limits = [...past.envelopes.values()].filter((one) => one.fund_id === fundId).at(-1);
  return isHalted && limits?.halt_allow_reduce_only === false;
}

export interface AtRest {
  readonly platform: Platform;
  readonly witness: Witness;
  readonly nowUs: () => number;
}

/** How often everything is asked again before something counts as stuck: a risk engine that was just killed has no prices yet. */
const roundsMax = 12;

/** Asks until everything can be valued and left, or for the last time; `pause` lets time pass. */
export async function whatIsStuck(rest: AtRest, pause: () => Promise<void>): Promise<Violation | undefined> {
  const { past } = rest.witness;
  let complaint: string | undefined;
  for (let round = 1; round <= roundsMax; round += 1) {
    complaint = undefined;
    for (const held of holdings(past)) {
      const why = whyUnvalued(past, held, rest.nowUs()) ?? (await whyNoExit(rest, held, round));
      if (why === undefined) continue;
      complaint = `${held.strategyId} holds ${held.symbol} of ${held.fundId}: ${why}`;
      break;
    }
    if (complaint === undefined) return undefined;
    await pause();
  }
  return complaint === undefined ? undefined : { invariant: holdingsCanBeLeft, complaint };
}

async function whyNoExit({ platform, witness }: AtRest, held: Held, round: number): Promise<string | undefined> {
  if (held.closable === decimal.zero || mayBeStuck(witness.past, held)) return undefined;
  const ask = platform.ask(serviceIdentity("oms"));
  const answer = await ask("RiskEngine", "CheckOrder", exitOf(platform, held, round)).catch(() => undefined);
  if (answer?.ok !== true) return "the risk engine does not say whether it may be left";
  const { approved, code = "", reason = "" } = answer.value as RiskDecision;
  return approved ? undefined : `its exit would be refused with ${code}: ${reason}`;
}

function exitOf(platform: Platform, { fundId, strategyId, symbol, closable }: Held, round: number): Order {
  const instruments = (newest(platform, "instruments")?.content ?? []) as readonly Instrument[];
  const id = `leave-${round}-${strategyId}-${symbol.replaceAll(" ", "-")}`;
  return {
    order_id: id,
    idempotency_key: id,
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    side: decimal.sign(closable) === 1 ? "SELL" : "BUY_TO_COVER",
    quantity: decimal.format(decimal.abs(closable)),
    order_type: "MARKET",
    tif: "DAY",
    broker: "paper",
    reduce_only: true,
    dry_run: true,
    asset_class: instruments.find((one) => one.symbol === symbol)?.asset_class ?? "EQUITY",
    actor: "sim at rest",
  };
}
