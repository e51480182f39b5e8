// What a halt means for orders that are with a broker: those that it covers are cancelled, and asked for until the broker has said that they
// are gone. Proven reductions that are marked so stay where the fund's envelope lets them. Halts are read whenever somebody says that they changed
// and four times a second in any case; what was swept is looked at again while a halt is in force.
import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../../contracts/src/instant.ts";
import type { ActiveHalt } from "../../../contracts/src/records/halt.ts";
import { subjects } from "../../../contracts/src/subjects.ts";
import { haltCancelReason } from "../../../core/orders/halt-cancel-reason.ts";
import { haltCovers, passesHalt } from "../../../core/orders/may-send.ts";
import { mayBeWithBroker } from "../../../core/orders/order-lifecycle.ts";
import type { Subscription } from "../../../ports/bus.ts";
import type { StoredOrder } from "../../../ports/oms-records.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { Cancelling } from "../cancelling.ts";
import type { OmsPorts } from "../oms-parts.ts";

/** Looks that follow a word are at least this far apart: every commit of anybody may be reported as a change. */
const lookMsMin = 50;
const sweepAgainMs = 2_000;
const bellsMax = 100;

interface HaltSweep {
  /** As they were heard of last. */
  halts(): readonly ActiveHalt[];
  stop(): Promise<void>;
}

/** Resolves when the halts that are in force were read once. */
export async function sweepHalts(ports: OmsPorts, cancelling: Cancelling): Promise<HaltSweep> {
  const { riskStore, clock } = ports;
  const { haltPollMs } = ports.settings.risk;
  let known = await riskStore.halts();
  let sweptEpoch = -1;
  let sweptAt: Instant = clock.now();

  async function look(): Promise<void> {
    if ((await riskStore.haltEpoch()) !== known.epoch) {
      const read = await riskStore.halts();
      if (read.epoch > known.epoch) known = read;
    }
    if (known.active.length === 0) {
      sweptEpoch = known.epoch;
      return;
    }
    const isDue = known.epoch !== sweptEpoch || millisecondsBetween(sweptAt, clock.now()) >= sweepAgainMs;
    if (!isDue) return;
    const epoch = known.epoch;
    await sweep(known.active);
    sweptEpoch = epoch;
    sweptAt = clock.now();
  }

  async function sweep(halts: readonly ActiveHalt[]): Promise<void> {
    const open = await ports.store.transact("oms.look", (unit) => unit.oms.openOrders());
    const exits = new Map<string, boolean>();
    for (const stored of open) {
      const covering = halts.filter((one) => haltCovers(one, stored.order));
      // What is not with a broker yet is refused when it would be sent; the slices of an order speak for it.
      if (covering.length === 0 || stored.sliced === true || stored.cancelReason !== undefined) continue;
      if (!mayBeWithBroker(stored.state)) continue;
      const { order, decision } = stored;
      const halt =
        covering.find((one) => !passesHalt(order, decision, one)) ?? (await closedTo(stored, covering, exits));
      if (halt === undefined) continue;
      await cancelling.request(stored.order.order_id, haltCancelReason(halt.halt_id));
    }
  }

  /** The first of the halts that cover an exit, if the fund's envelope lets no exit pass. */
  async function closedTo(
    { order }: StoredOrder,
    covering: readonly ActiveHalt[],
    exits: Map<string, boolean>,
  ): Promise<ActiveHalt | undefined> {
    const allowed = exits.get(order.fund_id) ?? (await exitsAllowed(order.fund_id));
    exits.set(order.fund_id, allowed);
    return allowed ? undefined : covering[0];
  }

  /** An exit is not cancelled because nobody can say whether it may stay; it is read again. */
  async function exitsAllowed(fundId: string): Promise<boolean> {
    try {
      return (await ports.riskChecks.envelope(fundId))?.halt_allow_reduce_only ?? false;
    } catch (thrown) {
      if (thrown instanceof Defect) throw thrown;
      ports.log.warn("whether exits pass halts is not known; they stay", { fund_id: fundId, error: messageOf(thrown) });
      return true;
    }
  }

  let loop: Loop | undefined;
  const { riskHaltRequested, haltRequested, haltLifted } = subjects;
  const names = [riskHaltRequested, haltRequested, haltLifted].map(({ name }) => name);
  const listening: Subscription = await ports.bus.listen(
    { subjects: names, queueMax: bellsMax, overflow: "drop-oldest" },
    async () => loop?.wake(),
  );
  loop = startLoop({
    ports,
    what: { failing: "halts cannot be read or swept", working: "halts can be read and swept again" },
    firstAfterMs: 0,
    async run() {
      await look();
      return haltPollMs;
    },
    apartMsMin: lookMsMin,
    troubleMsMax: haltPollMs,
  });
  const stopHearing = riskStore.onChange(loop.wake);
  return {
    halts: () => known.active,
    stop: async () => {
      stopHearing();
      await listening.close();
      await loop?.stop();
    },
  };
}
