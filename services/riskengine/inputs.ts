// What the engine hears: fills and the steps of orders go through the journal before they move the books, valuations go into the store
// with their unit of work, marks are soft and simply the newest. Each may come twice or in another order.
//
//  1. A fill moves the books once, whoever sends it how often: the journal knows which it has, and this knows which it could not write.
//  2. A handler returns when what it heard is durable, and throws when it is not, so that the bus brings it again.
//  3. What was heard is a fact: it moves the books in the step in which it goes to the journal, and it stays moved when that fails,
//     because it will come again. Until it is written the books are ahead of the journal, and no snapshot is taken.

import type { NavUpdated } from "../../contracts/src/records/fund.ts";
import type { Mark } from "../../contracts/src/records/market.ts";
import type { Fill, OrderCreated, OrderTransition } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Engine } from "../../core/engine.ts";
import type { BusEvent, Subscription } from "../../ports/bus.ts";
import type { JournalEntry, JournalKind } from "../../ports/risk-store.ts";
import type { ServicePorts } from "../service.ts";
import type { Alarms } from "./alarms.ts";
import type { Figures } from "./figures.ts";
import { watchGaps } from "./gaps.ts";
import type { GroupCommit } from "./group-commit.ts";
import { transactToKnownEnd } from "./known-end.ts";

/** One mark per symbol is kept while the engine is busy. */
const marksMax = 100_000;

export interface InputsOptions {
  readonly ports: Pick<ServicePorts, "bus" | "clock" | "timers" | "store" | "riskStore" | "log">;
  readonly engine: Engine;
  readonly commit: GroupCommit;
  readonly alarms: Alarms;
  readonly figures: Figures;
}

export interface Inputs {
  /** What moved the books and is not in the journal. */
  unwritten(): number;
  /** Takes no more, and waits for what is in hand. */
  stop(): Promise<void>;
}

const encoder = new TextEncoder();

export async function hearInputs({ ports, engine, commit, alarms, figures }: InputsOptions): Promise<Inputs> {
  const { bus, clock, timers, riskStore } = ports;
  const fillGaps = watchGaps("fills", timers, alarms);
  const orderGaps = watchGaps("orders", timers, alarms);
  const navGaps = watchGaps("valuations", timers, alarms);
  /** Fills on their way into the journal; one per handler that runs. */
  const underWay = new Map<string, Promise<void>>();
  /** What moved the books and could not be written, by fill or event; the bus brings it again. */
  const unwritten = new Set<string>();

  const entryOf = (
    kind: JournalKind,
    heard: { readonly fund_id: string; readonly order_id: string },
  ): JournalEntry => ({
    kind,
    at: clock.now(),
    fundId: heard.fund_id,
    orderId: heard.order_id,
    payload: encoder.encode(JSON.stringify(heard)),
  });

  async function hearFill(event: BusEvent): Promise<void> {
    const fill = event.payload as Fill;
    figures.heard(event.subject);
    fillGaps.heard(fill.fund_id, fill.sequence);
    // A second one waits for the first: whether that one is durable decides what this one is.
    const first = underWay.get(fill.fill_id);
    if (first !== undefined) return first;
    const taking = takeFill(fill).finally(() => underWay.delete(fill.fill_id));
    underWay.set(fill.fill_id, taking);
    return taking;
  }

  async function takeFill(fill: Fill): Promise<void> {
    const name = `fill ${fill.fill_id}`;
    if (!unwritten.has(name)) {
      const known = await riskStore.knownFills([fill.fill_id]);
      if (known.has(fill.fill_id)) return;
      engine.applyFill(fill);
    }
    await write(name, { ...entryOf("fill", fill), fillId: fill.fill_id });
  }

  async function hearOrder(event: BusEvent): Promise<void> {
    figures.heard(event.subject);
    if (event.subject === subjects.ordersCreated.name) {
      const created = event.payload as OrderCreated;
      orderGaps.heard(created.fund_id, created.sequence);
      return;
    }
    const transition = event.payload as OrderTransition;
    // The same step twice is one step.
    engine.applyTransition(transition);
    await write(`event ${event.id}`, entryOf("transition", transition));
  }

  async function write(name: string, entry: JournalEntry): Promise<void> {
    try {
      await commit.add(entry);
      unwritten.delete(name);
    } catch (thrown) {
      unwritten.add(name);
      throw thrown;
    }
  }

  async function hearNav(event: BusEvent): Promise<void> {
    const nav = event.payload as NavUpdated;
    figures.heard(event.subject);
    navGaps.heard(nav.fund_id, nav.sequence);
    const isNewer = await transactToKnownEnd(ports, "risk.nav", (unit) => unit.risk.putNav(nav));
    if (isNewer) engine.setNav(nav);
  }

  async function hearMark(event: BusEvent): Promise<void> {
    engine.setMark(event.payload as Mark);
  }

  const { ordersCreated, ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired } = subjects;
  const orders = [ordersCreated, ordersAccepted, ordersRejected, ordersUpdated, ordersCancelled, ordersExpired];
  const subscriptions: Subscription[] = [
    await bus.listen(
      { subjects: [subjects.marketMarks.name], queueMax: marksMax, overflow: "keep-newest-per-key" },
      hearMark,
    ),
    await bus.subscribe({ name: "riskengine.fills", subjects: [subjects.fillsCreated.name] }, hearFill),
    await bus.subscribe({ name: "riskengine.orders", subjects: orders.map(({ name }) => name) }, hearOrder),
    await bus.subscribe({ name: "riskengine.nav", subjects: [subjects.navUpdated.name] }, hearNav),
  ];
  return {
    unwritten: () => unwritten.size,
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.close()));
      for (const gaps of [fillGaps, orderGaps, navGaps]) gaps.stop();
    },
  };
}
