// What the engine hears: fills and the steps of orders go through the journal before they move the books, valuations go into the store
// with the losses that follow from them, marks are soft and simply the newest. Each may come twice or in another order.
//
//  1. A fill moves the books once, whoever sends it how often, and so does a bust (take-fills.ts).
//  2. A handler returns when what it heard is durable, and throws when it is not, so that the bus brings it again; a store in trouble
//     is no reason to put anything aside (promise 5 of the bus).
//  3. What was heard is a fact: it moves the books in the step in which it goes to the journal, and it stays moved when that fails.
//     Until it is written the books are ahead of the journal, and no snapshot is taken.
//  4. What is dated further ahead than clocks may differ is not believed: as the newest it would shut out everything that is true. When our own
//     clock is set back, what is known counts as of now for the same reason.
import * as instant from "../../contracts/src/instant.ts";
import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import { isPossiblePrice, type Mark } from "../../contracts/src/records/market.ts";
import type { Fill, FillBusted, OrderCreated, OrderTransition } from "../../contracts/src/records/order.ts";
import { type FundReference, ownValuer, valuerOf } from "../../contracts/src/records/reference.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine/engine.ts";
import { impossiblePrice } from "../../core/foreign/judge-event.ts";
import { isAhead as isDatedAhead } from "../../core/state/dated.ts";
import type { BusEvent, Handler, Subscription } from "../../ports/bus.ts";
import { setBackSentence, watchClock } from "../shared/clock-steps.ts";
import { foreignSourceOf, isForeign } from "../shared/foreign-intake.ts";
import { fundLane } from "../shared/fund-lane.ts";
import type { ServicePorts } from "../shared/service.ts";
import type { Alarms } from "./alarms.ts";
import { sentAfterExpiry, worksAfterItsEnd } from "./approvals/approvals.ts";
import type { FillBlocks } from "./blocks/fill-blocks.ts";
import type { ValueBlocks } from "./blocks/value-blocks.ts";
import type { Figures } from "./figures.ts";
import type { ForeignEvents } from "./foreign/foreign-events.ts";
import type { HeldFills } from "./foreign/held-fills.ts";
import type { NotYours } from "./foreign/not-yours.ts";
import { createPriceTurns } from "./foreign/price-turns.ts";
import { watchUnknownPrices } from "./foreign/unknown-prices.ts";
import type { GroupCommit } from "./journal/group-commit.ts";
import type { Drawdown } from "./losses/drawdown.ts";
import { watchGaps } from "./losses/gaps.ts";
import type { ReferenceWatch } from "./reference-watch.ts";
import { createTakeFills } from "./take-fills.ts";

/** One mark per symbol is kept while the engine is busy. */
const marksMax = 100_000;

interface InputsOptions {
  readonly ports: Pick<ServicePorts, "bus" | "store" | "clock" | "timers" | "riskStore" | "settings" | "log" | "crash">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  readonly alarms: Alarms;
  readonly reference: Pick<ReferenceWatch, "currencyOf" | "fund" | "pricedBy">;
  readonly notYours: NotYours;
  readonly figures: Figures;
  readonly fillBlocks: FillBlocks;
  readonly values: ValueBlocks;
  /** Judges what foreign programs published before it is taken. */
  readonly foreign: ForeignEvents;
  /** Counts what was refused before it was published for its program, and throws what puts it aside. */
  readonly refused: Handler;
  /** Hears of funds whose fills are held. */
  readonly heldFills: Pick<HeldFills, "held">;
  /** Keeps a valuation and judges the losses in it; false when it is not newer than what is known. */
  readonly drawdown: Pick<Drawdown, "heard" | "hasBaselineSince">;
}

interface Inputs {
  /** What moved the books and is not in the journal. */
  unwritten(): number;
  /** Those that tell of orders and fills. */
  readonly ofOrders: readonly Subscription[];
  /** Takes no more, and waits for what is in hand. */
  stop(): Promise<void>;
}

const foreignSource = (event: BusEvent): string | undefined => (isForeign(event) ? foreignSourceOf(event) : undefined);

export async function hearInputs(options: InputsOptions): Promise<Inputs> {
  const { ports, engine, commit, alarms, figures, fillBlocks, foreign, refused, heldFills, drawdown } = options;
  const { bus, clock, timers } = ports;
  const fillGaps = watchGaps("fills", timers, alarms);
  const orderGaps = watchGaps("orders", timers, alarms);
  const navGaps = watchGaps("valuations", timers, alarms);
  const unknownPrices = watchUnknownPrices(options);
  const turns = await createPriceTurns(options);
  const taking = createTakeFills({ ports, engine, commit, alarms, fillBlocks, losses: drawdown });

  async function hearFill(event: BusEvent): Promise<void> {
    figures.heard(event.subject);
    if (event.subject === subjects.foreignHeld.name) return refused(event);
    const publisher = foreignSource(event);
    if (event.subject === subjects.fillsBusted.name) {
      // Our own order management busts nothing.
      if (publisher !== undefined) await taking.bust(event.payload as FillBusted);
      return;
    }
    const fill = event.payload as Fill;
    // What foreign publishers number is counted in the store.
    if (publisher === undefined) fillGaps.heard(fill.fund_id, fill.sequence);
    return taking.fill(fill, publisher);
  }

  async function hearOrder(event: BusEvent): Promise<void> {
    figures.heard(event.subject);
    if (event.subject === subjects.ordersCreated.name) {
      const created = event.payload as OrderCreated;
      if (!isForeign(event)) orderGaps.heard(created.fund_id, created.sequence);
      return;
    }
    const transition = event.payload as OrderTransition;
    const at = isAhead(transition.at, `orders ${transition.fund_id}`) ? instant.format(clock.now()) : transition.at;
    const step = { ...transition, at };
    // The same step twice is one step.
    const { reservedAgain, worksAgain } = engine.applyTransition(step);
    if (reservedAgain) sentAfterExpiry(alarms, step.order_id, step.fund_id);
    if (worksAgain) worksAfterItsEnd(alarms, step.order_id, step.fund_id);
    await taking.write(`event ${event.id}`, { entry: taking.entryOf("transition", step) });
  }

  /** Tells, once per stream, and says whether. */
  function isAhead(text: string, stream: string): boolean {
    if (!isDatedAhead(instant.parse(text), clock.now())) {
      alarms.clear("INPUT_DATED_AHEAD", stream);
      return false;
    }
    alarms.raise("INPUT_DATED_AHEAD", stream, `The ${stream} are dated ${text}, which lies ahead of our clock.`);
    return true;
  }

  const lookAtClock = watchClock(clock);

  /** Marks and valuations come several times a second: whoever hears one looks. */
  function noticeStep(): void {
    const { now, setBackMs } = lookAtClock();
    engine.noteClock(now);
    if (setBackMs === 0) return;
    alarms.raise("CLOCK_STEPPED", "riskengine", setBackSentence("riskengine", setBackMs));
    // The next step is another one.
    alarms.clear("CLOCK_STEPPED", "riskengine");
  }

  async function hearNav(event: BusEvent): Promise<void> {
    noticeStep();
    const nav = event.payload as NavUpdated;
    figures.heard(event.subject);
    if (!isForeign(event)) navGaps.heard(nav.fund_id, nav.sequence);
    if (!isForeign(event) && !isOurs(options.reference.fund(nav.fund_id))) return;
    if (isAhead(nav.as_of, `valuations ${nav.fund_id}`)) return;
    await options.values.heard(nav, foreignSource(event), drawdown.heard);
  }

  async function hearMark(event: BusEvent): Promise<void> {
    noticeStep();
    const mark = event.payload as Mark;
    unknownPrices(mark);
    if (isAhead(mark.at, `prices ${mark.symbol}`) || isImpossible(mark, event.subject) || !turns.isTurnOf(mark)) return;
    engine.setMark(mark);
    fillBlocks.priced(mark.symbol);
  }

  function isImpossible({ symbol, price, source, ...more }: Mark, subject: string): boolean {
    const about = `${source} ${symbol}`;
    if (isPossiblePrice({ price, ...more })) {
      alarms.clear("EVENT_REFUSED", about);
      return false;
    }
    const sentence = `${source} published ${subject} of ${symbol}: EVENT_PRICE_IMPOSSIBLE. ${impossiblePrice(symbol, price)}`;
    alarms.raise("EVENT_REFUSED", about, sentence);
    return true;
  }

  const { ordersCreated, ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired } = subjects;
  const orders = [ordersCreated, ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired];
  const fills = [subjects.fillsCreated, subjects.fillsBusted, subjects.foreignHeld];
  // Whoever may publish on NATS can call itself one of ours there: what has no row in the outbox is foreign.
  const proved = true;
  const ofOrders: readonly Subscription[] = [
    await bus.subscribe(
      {
        name: "riskengine.fills",
        subjects: fills.map(({ name }) => name),
        parks: false,
        lane: fundLane,
        onHeld: heldFills.held,
        proved,
      },
      foreign.judged(hearFill),
    ),
    await bus.subscribe(
      { name: "riskengine.orders", subjects: orders.map(({ name }) => name), proved },
      foreign.judged(hearOrder),
    ),
  ];
  const subscriptions: Subscription[] = [
    ...ofOrders,
    await bus.listen(
      { subjects: [subjects.marketMarks.name], queueMax: marksMax, overflow: "keep-newest-per-key" },
      hearMark,
    ),
    await bus.subscribe(
      { name: "riskengine.nav", subjects: [subjects.navUpdated.name], proved },
      foreign.judged(hearNav),
    ),
    await bus.subscribe({ name: "riskengine.refused", subjects: [subjects.foreignRefused.name], proved }, refused),
  ];
  return {
    unwritten: taking.unwritten,
    ofOrders,
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      await turns.stop();
      await fillBlocks.stop();
      for (const gaps of [fillGaps, orderGaps, navGaps]) gaps.stop();
    },
  };
}

/** What our treasury published before it knew that another source values the fund counts no more. */
const isOurs = (fund: FundReference | undefined): boolean => fund === undefined || valuerOf(fund) === ownValuer;
