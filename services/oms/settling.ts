// What becomes of options when they end: an alarm while something is short in the last days, and after the end the broker's settlement, booked for every
// strategy as trades that everybody follows. The broker says at which price; what follows from it is computed by the same rule that the
// paper broker uses for its own books (core/options/option-settlement.ts).
//
//  1. A position is settled once: the ids of its trades are made of the position's opening, and both legs are in one transaction.
//  2. Nothing is settled before every report that the broker made before its settlement is booked.
//  3. What has ended and is not settled is an alarm; so is what is short from five days before on, once a day.
import * as decimal from "../../contracts/src/decimal.ts";
import { format, type Instant, millisecondsBetween, minusMilliseconds } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { endOfDate } from "../../core/options/option-expiry.ts";
import { type SettledLeg, settledTerms, settlementLegs } from "../../core/options/option-settlement.ts";
import type { Broker, BrokerSettlement } from "../../ports/broker.ts";
import type { StoredPosition } from "../../ports/oms-records.ts";
import { type Loop, startLoop } from "../shared/loop.ts";
import { bookFill } from "./booking.ts";
import type { Instruments } from "./instruments.ts";
import type { Bells, OmsPorts } from "./oms-parts.ts";
import { hexOf } from "./slicing.ts";
import { alarm } from "./transitions.ts";

const lookEveryMs = 5_000;
const dayMs = 86_400_000;
const warnedMs = 5 * dayMs;
/** So long after its end an option that nobody settled is an alarm. */
const unsettledMsMax = 60_000;

export function settleOptions(ports: OmsPorts, instruments: Instruments, bells: Bells): Loop {
  /** When each alarm was raised last; bounded by what is held. */
  let reported = new Map<string, Instant>();

  async function run(): Promise<number> {
    const held = await ports.store.transact("oms.look", (unit) => unit.oms.positions());
    const still = new Map<string, Instant>();
    for (const position of held) {
      if (position.quantity === decimal.zero) continue;
      const instrument = await instruments.find(position.symbol);
      const endsAt = instrument?.expiry === undefined ? undefined : endOfDate(instrument.expiry);
      if (instrument?.asset_class !== "OPTION" || endsAt === undefined) continue;
      const now = ports.clock.now();
      if (now >= endsAt) await settle(position, endsAt, still);
      else if (decimal.sign(position.quantity) < 0 && now >= minusMilliseconds(endsAt, warnedMs)) {
        const days = Math.ceil(millisecondsBetween(now, endsAt) / dayMs);
        const short = `${position.strategyId} of ${position.fundId} is short ${decimal.format(decimal.abs(position.quantity))} ${position.symbol}`;
        await raise(
          "OPTION_EXPIRING",
          position,
          `${short}, which ends within ${days} days, on ${instrument.expiry}.`,
          still,
        );
      }
    }
    reported = still;
    return lookEveryMs;
  }

  async function settle(position: StoredPosition, endsAt: Instant, still: Map<string, Instant>): Promise<void> {
    for (const broker of ports.brokers) {
      const settlement = await broker.settlement?.(position.symbol);
      if (settlement === undefined) continue;
      await book(position, broker, settlement);
      return;
    }
    if (millisecondsBetween(endsAt, ports.clock.now()) < unsettledMsMax) return;
    const sentence = `${position.symbol} has ended, and no broker has settled what ${position.strategyId} of ${position.fundId} holds of it.`;
    await raise("OPTION_UNSETTLED", position, sentence, still);
  }

  async function book(seen: StoredPosition, broker: Broker, settlement: BrokerSettlement): Promise<void> {
    const { fundId, strategyId, symbol } = seen;
    const option = await instruments.find(symbol);
    const underlying = await instruments.find(option?.underlying ?? "");
    const terms = option === undefined ? undefined : settledTerms(option, underlying);
    if (terms === undefined) return;
    const multipliers = {
      [symbol]: terms.multiplier,
      [terms.underlying]: decimal.parse(underlying?.multiplier ?? "1"),
    };
    const legs = await ports.store.transact("oms.settle", async (unit) => {
      const cursor = await unit.oms.lockReportCursor(broker.name);
      if (cursor < settlement.cursor) return [];
      const held = await unit.oms.lockPosition(fundId, strategyId, symbol);
      if (held === undefined || held.quantity === decimal.zero) return [];
      const made = settlementLegs(terms, held.quantity, settlement.price);
      const id = `settlement:${hexOf(ports.sha256(JSON.stringify([fundId, strategyId, symbol, held.openedBy])))}`;
      const at = ports.clock.now();
      for (const [place, leg] of made.entries()) {
        const fill = {
          ...fillOf(held, leg),
          ...idsOf(id, place),
          broker: broker.name,
          filled_at: format(settlement.at),
        };
        await bookFill(unit, fill, multipliers[leg.symbol] ?? decimal.one, at);
      }
      return made;
    });
    if (legs.length > 0) ports.log.info("an option that ended was settled", { fund_id: fundId, symbol });
    for (const leg of legs) bells.position(fundId, leg.symbol);
  }

  /** Once a day and position. */
  async function raise(
    code: "OPTION_EXPIRING" | "OPTION_UNSETTLED",
    { fundId, strategyId, symbol }: StoredPosition,
    sentence: string,
    still: Map<string, Instant>,
  ): Promise<void> {
    const key = JSON.stringify([code, fundId, strategyId, symbol]);
    const before = reported.get(key);
    const now = ports.clock.now();
    if (before !== undefined && millisecondsBetween(before, now) < dayMs) {
      still.set(key, before);
      return;
    }
    await ports.store.transact("oms.alarm", (unit) => alarm(unit, code, `${fundId} ${symbol}`, sentence, now));
    still.set(key, now);
  }

  const what = {
    failing: "options that end cannot be looked through",
    working: "options that end can be looked through again",
  };
  return startLoop({ ports, what, firstAfterMs: 0, run });
}

function fillOf({ fundId, strategyId }: StoredPosition, { symbol, change, price }: SettledLeg) {
  return {
    fund_id: fundId,
    strategy_id: strategyId,
    symbol,
    side: decimal.sign(change) > 0 ? ("BUY" as const) : ("SELL" as const),
    quantity: decimal.format(decimal.abs(change)),
    price: decimal.format(price),
    kind: "SETTLEMENT" as const,
  };
}

function idsOf(id: string, place: number): Pick<Fill, "fill_id" | "order_id"> {
  return { fill_id: `${id}:${place}`, order_id: id };
}
