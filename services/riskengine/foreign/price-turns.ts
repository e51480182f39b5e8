// Judges whose turn it is to price a symbol before the engine hears the price. What is another's is dropped and told together; a source that has taken over is an
// alarm until the first one is back.
import type { Mark } from "../../../contracts/src/records/market.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { createPriceSources } from "../../../core/exposure/price-sources.ts";
import { priceNotYours } from "../../../core/foreign/judge-event.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { Alarms } from "../alarms.ts";
import type { ReferenceWatch } from "../reference-watch.ts";
import type { NotYours } from "./not-yours.ts";

interface PriceTurnsOptions {
  readonly ports: Pick<ServicePorts, "clock" | "settings">;
  readonly reference: Pick<ReferenceWatch, "currencyOf" | "pricedBy">;
  readonly engine: Pick<Engine, "compareMark">;
  readonly alarms: Pick<Alarms, "raise" | "clear">;
  readonly notYours: Pick<NotYours, "heard">;
}

export function createPriceTurns({
  ports,
  reference,
  engine,
  alarms,
  notYours,
}: PriceTurnsOptions): (mark: Mark) => boolean {
  const { clock, settings } = ports;
  const sources = createPriceSources({ namedFor: reference.pricedBy, markAgeMsMax: settings.risk.markAgeMsMax });
  /** Those whose place another has taken, by symbol. */
  const replaced = new Map<string, string>();

  /** Whether the price counts. What no instrument has, or in another currency, is no price and has no turn. */
  return (mark) => {
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
    if (before !== undefined && before !== insteadOf) {
      replaced.delete(symbol);
      if (![...replaced.values()].includes(before)) alarms.clear("PRICE_SOURCE_REPLACED", before);
    }
    if (insteadOf !== undefined) {
      replaced.set(symbol, insteadOf);
      const said = `${insteadOf} has been silent for more than a minute (first ${symbol}), so prices of ${source} count instead until it is back.`;
      alarms.raise("PRICE_SOURCE_REPLACED", insteadOf, said);
    }
    return true;
  };
}
