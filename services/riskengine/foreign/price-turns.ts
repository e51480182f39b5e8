// Judges whose turn it is to price a symbol before the engine hears the price. What is another's is dropped and told together; a source that has taken over is an
// alarm until the first one is back.
//
//  1. Whose turn it is where nobody is named is kept in the store when it changes, by this engine alone, at most once a second, and is in force again before the
//     first price is judged.
//  2. A source whose last instrument is gone has been replaced in nothing any more.
import { messageOf } from "../../../contracts/src/fault.ts";
import type { Mark } from "../../../contracts/src/records/market.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { createPriceSources, type PriceTurn } from "../../../core/exposure/price-sources.ts";
import { priceNotYours } from "../../../core/foreign/judge-event.ts";
import { startLoop } from "../../shared/loop.ts";
import { restoreTurns } from "../../shared/price-sources.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Alarms } from "../alarms.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import type { NotYours } from "./not-yours.ts";

interface PriceTurnsOptions {
  readonly ports: Pick<ServicePorts, "store" | "clock" | "timers" | "settings" | "log" | "crash">;
  readonly reference: Pick<ReferenceWatch, "currencyOf" | "pricedBy">;
  readonly engine: Pick<Engine, "compareMark">;
  readonly alarms: Pick<Alarms, "raise" | "clear">;
  readonly notYours: Pick<NotYours, "heard">;
}

interface PriceTurns {
  /** Whether the price counts. What no instrument has, or in another currency, is no price and has no turn. */
  isTurnOf(mark: Mark): boolean;
  /** What is not kept yet is kept first. */
  stop(): Promise<void>;
}

const keepApartMs = 1_000;
/** Whether the instruments are still there. */
const lookEveryMs = 10_000;

export async function createPriceTurns({
  ports,
  reference,
  engine,
  alarms,
  notYours,
}: PriceTurnsOptions): Promise<PriceTurns> {
  const { clock, settings } = ports;
  /** Not kept yet, by symbol. */
  const changed = new Map<string, PriceTurn>();
  const { markAgeMsMax } = settings.risk;
  const turned = (turn: PriceTurn): void => {
    changed.set(turn.symbol, turn);
    keeping.wake();
  };
  const sources = createPriceSources({ namedFor: reference.pricedBy, markAgeMsMax, turned });
  /** Those whose place another has taken, by symbol. */
  const replaced = new Map<string, string>();

  async function look(): Promise<number | undefined> {
    for (const [symbol, source] of [...replaced])
      if (reference.currencyOf(symbol) === undefined) isBack(symbol, source);
    await keep();
    return replaced.size > 0 ? lookEveryMs : undefined;
  }

  function isBack(symbol: string, source: string): void {
    replaced.delete(symbol);
    if (![...replaced.values()].includes(source)) alarms.clear("PRICE_SOURCE_REPLACED", source);
  }

  async function keep(): Promise<void> {
    const turns = [...changed.values()];
    if (turns.length === 0) return;
    await ports.store.transact("risk.price-turns", (unit) => unit.foreign.putPriceTurns(turns));
    for (const turn of turns) if (changed.get(turn.symbol) === turn) changed.delete(turn.symbol);
  }

  await restoreTurns(ports, sources, 0);
  const what = "what keeps whose prices count";
  const keeping = startLoop({ ports, what, run: look, apartMsMin: keepApartMs });

  function isTurnOf(mark: Mark): boolean {
    const { symbol, source, currency } = mark;
    const own = reference.currencyOf(symbol);
    if (own === undefined || (currency !== undefined && currency !== own)) return true;
    const { kind, whose, insteadOf } = sources.judge(mark, clock.now());
    if (kind === "NOT_YOURS") {
      notYours.heard({ source, about: "prices", id: symbol, ...priceNotYours(symbol, whose) });
      return false;
    }
    if (kind === "WAITS") {
      engine.compareMark(mark);
      return false;
    }
    const before = replaced.get(symbol);
    if (before !== undefined && before !== insteadOf) isBack(symbol, before);
    if (insteadOf !== undefined) {
      replaced.set(symbol, insteadOf);
      if (before === undefined) keeping.wake();
      const said = `${insteadOf} has been silent for more than a minute (first ${symbol}), so prices of ${source} count instead until it is back.`;
      alarms.raise("PRICE_SOURCE_REPLACED", insteadOf, said);
    }
    return true;
  }

  return {
    isTurnOf,
    async stop() {
      await keeping.stop();
      await keep().catch((thrown: unknown) => {
        ports.log.warn("whose prices count could not be kept", { reason: messageOf(thrown) });
      });
    },
  };
}
