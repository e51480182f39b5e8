// Reads every position's price and fires the stops that were reached. Firing is one transaction: the intent to close is durable, or nothing
// has happened.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { format, type Instant, minusMilliseconds, tryParse } from "../../../contracts/src/instant.ts";
import type { Quote } from "../../../contracts/src/records/market.ts";
import type { AssetClass } from "../../../contracts/src/records/values.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { type AppliedAction, dividendsOf, pricesAfter } from "../../../core/ledger/corporate-actions.ts";
import { closingSide, judgeStop, type StopJudgement, type StopQuote } from "../../../core/stops/synthetic-stops.ts";
import type { StoredPosition } from "../../../ports/oms-records.ts";
import type { StoredStop } from "../../../ports/stop-records.ts";
import type { UnitOfWork } from "../../../ports/store.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { QuoteBoard } from "./quote-board.ts";
import { isSameOpening, stopIdOf } from "./stop-order.ts";

/** A position as the newest look saw it. */
export interface WatchedStop {
  readonly position: StoredPosition;
  readonly judgement: StopJudgement;
}

interface Looked {
  /** Whether a stop may have fired. */
  readonly hasFired: boolean;
  /** Whether one waits only for its price to be confirmed, which takes seconds. */
  readonly isWaiting: boolean;
}

export interface PositionWatch {
  /** Looks at the positions of those classes now. */
  look(isWatched: (assetClass: AssetClass | undefined) => boolean): Promise<Looked>;
  /** Every position as it would be judged now, without firing. */
  judgeAll(unit: UnitOfWork, fundId?: string): Promise<readonly WatchedStop[]>;
}

interface PositionWatchOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "log" | "riskStore" | "settings" | "sha256">;
  readonly board: Pick<QuoteBoard, "newest" | "isBelieved" | "instrument">;
  readonly alarms: WorkerAlarms;
}

const unconfirmed = "its price moved further at once than prices move, and is not confirmed yet";

export function watchPositions({ ports, board, alarms }: PositionWatchOptions): PositionWatch {
  const { store, clock } = ports;
  const { quoteAgeMsMax } = ports.settings.stops;
  /** Openings that have fired: nothing more can come of them here. Kept for what is still held. */
  let fired: ReadonlySet<string> = new Set();

  async function stopPcts(): Promise<ReadonlyMap<string, Decimal>> {
    const envelopes = await ports.riskStore.envelopes();
    return new Map(envelopes.map((one) => [one.fund_id, decimal.fromNumber(one.synthetic_stop_pct)]));
  }

  function judge(
    position: StoredPosition,
    pct: Decimal | undefined,
    actions: readonly AppliedAction[],
    at: Instant,
  ): StopJudgement {
    const { quantity, averagePrice, symbol } = position;
    if (pct === undefined) {
      return { state: "UNPRICED", triggerPrice: averagePrice, complaint: "the fund has no limits" };
    }
    const watched = { quantity, basisPrice: averagePrice };
    // What was paid out of the price is no loss: it is judged as if the price still had it.
    const paid = dividendsOf(position, actions);
    const quote = raised(stopQuoteOf(board.newest(symbol, position.fundId), actions), paid);
    const judged = lowered(judgeStop(watched, pct, quote, at, quoteAgeMsMax), paid);
    if (judged.state !== "FIRES" || board.isBelieved(symbol, position.fundId)) return judged;
    return { state: "UNPRICED", triggerPrice: judged.triggerPrice, complaint: unconfirmed };
  }

  async function judgeAll(unit: UnitOfWork, fundId?: string): Promise<readonly WatchedStop[]> {
    const pcts = await stopPcts();
    const at = clock.now();
    const applied = await unit.corporateActions.applied();
    const declared = (await unit.corporateActions.dividends()).filter(({ state }) => state === "DECLARED");
    const actions = [...applied, ...declared];
    const held = (await unit.oms.positions(fundId)).filter(({ quantity }) => quantity !== 0n);
    // A price and an average of different terms say nothing: what was applied in between is judged the next time.
    if ((await unit.corporateActions.applied()).length !== applied.length) return [];
    return held.map((position) => ({ position, judgement: judge(position, pcts.get(position.fundId), actions, at) }));
  }

  /** Whether the stop fired in this transaction, had fired before, or has no reason to any more. */
  async function fire(position: StoredPosition): Promise<"fired" | "known" | "not now"> {
    return store.transact("stops.trigger", async (unit) => {
      const watched = (await judgeAll(unit, position.fundId)).find(({ position: one }) => isSameOpening(one, position));
      if (watched === undefined || watched.judgement.state !== "FIRES") return "not now";
      // A corporate action may have given its symbol another name since it fired; it is the same opening's all the same.
      if ((await unit.stops.owed()).some((owed) => isSameOpening(owed, position))) return "known";
      const stop = firedStop(ports, watched.position, watched.judgement, clock.now());
      if (!(await unit.stops.insert(stop))) return "known";
      await unit.events.publish(subjects.stopTriggered, {
        stop_id: stop.stopId,
        fund_id: stop.fundId,
        strategy_id: stop.strategyId,
        symbol: stop.symbol,
        side: stop.side,
        quantity: decimal.format(decimal.abs(stop.quantity)),
        fill_price: decimal.format(stop.basisPrice),
        trigger_price: decimal.format(stop.triggerPrice),
        observed_price: decimal.format(stop.observedPrice),
        observed_at: format(stop.observedAt),
        at: format(stop.firedAt),
      });
      return "fired";
    });
  }

  /** Symbols that have no price because a corporate action is under way, or was a moment ago. */
  async function movingSymbols(): Promise<ReadonlySet<string>> {
    const since = minusMilliseconds(clock.now(), quoteAgeMsMax);
    const actions = await store.transact("stops.look", async (unit) => [
      ...(await unit.corporateActions.underWay()),
      ...(await unit.corporateActions.applied()).filter(({ doneAt }) => doneAt === undefined || doneAt > since),
    ]);
    return new Set(actions.flatMap(({ legs }) => legs.flatMap((leg) => [leg.symbol, leg.new_symbol])));
  }

  async function tellUnpriced(watched: readonly WatchedStop[]): Promise<void> {
    const unpriced = new Map(
      watched.flatMap(({ position, judgement }) =>
        judgement.state === "UNPRICED" ? [[position.symbol, judgement.complaint] as const] : [],
      ),
    );
    for (const symbol of new Set(watched.map(({ position }) => position.symbol))) {
      const complaint = unpriced.get(symbol);
      if (complaint === undefined) alarms.clear("STOP_QUOTE_UNUSABLE", symbol);
      else {
        const sentence = `The stops in ${symbol} can neither fire nor rest: ${complaint}.`;
        await alarms.raise("STOP_QUOTE_UNUSABLE", symbol, sentence, { symbol });
      }
    }
  }

  return {
    judgeAll,
    async look(isWatched) {
      const all = await store.transact("stops.look", (unit) => judgeAll(unit));
      const watched = all.filter(({ position }) => isWatched(board.instrument(position.symbol)?.asset_class));
      const held = new Set(all.map(({ position }) => stopIdOf(ports.sha256, position)));
      fired = new Set([...fired].filter((stopId) => held.has(stopId)));
      const moving = await movingSymbols();
      await tellUnpriced(watched.filter(({ position }) => !moving.has(position.symbol)));
      let hasFired = false;
      for (const { position, judgement } of watched) {
        const stopId = stopIdOf(ports.sha256, position);
        if (judgement.state !== "FIRES" || fired.has(stopId)) continue;
        // Whatever becomes of the commit: it may be owed from here on.
        hasFired = true;
        const outcome = await fire(position);
        if (outcome === "fired") {
          const { symbol, fundId, strategyId } = position;
          ports.log.warn("a synthetic stop fired", { stop_id: stopId, fund: fundId, strategy: strategyId, symbol });
        }
        if (outcome !== "not now") fired = new Set([...fired, stopId]);
      }
      const isWaiting = watched.some(
        ({ judgement }) => judgement.state === "UNPRICED" && judgement.complaint === unconfirmed,
      );
      return { hasFired, isWaiting };
    },
  };
}

/** In the terms that positions have now: a quote of before a corporate action is turned into one of after it. */
function stopQuoteOf(quote: Quote | undefined, actions: readonly AppliedAction[] = []): StopQuote | undefined {
  if (quote === undefined) return undefined;
  const at = tryParse(quote.quoted_at);
  const now = (text: string): Decimal | undefined => {
    const price = decimal.tryParse(text);
    if (price === undefined || at === undefined) return price;
    return pricesAfter(new Map([[quote.symbol, { price, at }]]), actions).get(quote.symbol)?.price;
  };
  return { bid: now(quote.bid), ask: now(quote.ask), at };
}

function raised(quote: StopQuote | undefined, by: Decimal): StopQuote | undefined {
  if (quote === undefined || by === decimal.zero) return quote;
  const sum = (price: Decimal | undefined): Decimal | undefined => price && decimal.add(price, by);
  return { ...quote, bid: sum(quote.bid), ask: sum(quote.ask) };
}

/** In prices of the market again. */
function lowered(judgement: StopJudgement, by: Decimal): StopJudgement {
  const triggerPrice = decimal.subtract(judgement.triggerPrice, by);
  if (judgement.state === "UNPRICED") return { ...judgement, triggerPrice };
  return { ...judgement, triggerPrice, observedPrice: decimal.subtract(judgement.observedPrice, by) };
}

function firedStop(
  { sha256 }: Pick<ServicePorts, "sha256">,
  position: StoredPosition,
  judgement: Exclude<StopJudgement, { readonly state: "UNPRICED" }>,
  at: Instant,
): StoredStop {
  const { fundId, strategyId, symbol, openedBy, quantity, averagePrice } = position;
  return {
    stopId: stopIdOf(sha256, position),
    fundId,
    strategyId,
    symbol,
    openedBy,
    side: closingSide(quantity),
    quantity,
    basisPrice: averagePrice,
    triggerPrice: judgement.triggerPrice,
    observedPrice: judgement.observedPrice,
    observedAt: judgement.observedAt,
    firedAt: at,
  };
}
