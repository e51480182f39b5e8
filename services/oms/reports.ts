// Reads a broker's reports from where the books stand, rung for or not, and books them one after the other. Reports are numbered without
// gaps: one that is missing is waited for and asked for again, and what comes twice is passed over.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { Broker, BrokerReport } from "../../ports/broker.ts";
import { type Booked, type BookingParts, bookReport } from "./booking.ts";
import type { Bells } from "./oms-parts.ts";
import { alarm } from "./transitions.ts";

const pollMs = 500;
const pageMax = 200;
const backOffMsMax = 5_000;
/** A broker that cannot be read for this long is an alarm. */
const silentMsMax = 10_000;

export interface ReportReader {
  ring(): void;
  /** Since when the broker's reports cannot be read; one failure alone is none. */
  silentSince(): Instant | undefined;
  stop(): Promise<void>;
}

export function readReports(parts: BookingParts, broker: Broker, bells: Bells): ReportReader {
  const { ports } = parts;
  const ending = new AbortController();
  let sleeping = new AbortController();
  let isRung = false;
  let waitMs = pollMs;
  let troubledMs = 0;
  let troubledAt = ports.clock.now();
  const strays = new Map<string, Promise<void>>();

  async function run(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        const hasMore = await readPage();
        if (troubledMs >= silentMsMax)
          ports.log.info("the broker's reports can be read again", { broker: broker.name });
        troubledMs = 0;
        waitMs = pollMs;
        if (hasMore) continue;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        await trouble(messageOf(thrown));
      }
      if (!isRung) await ports.timers.sleep(waitMs, sleeping.signal);
      isRung = false;
      if (sleeping.signal.aborted && !ending.signal.aborted) sleeping = new AbortController();
    }
  }

  /** Says once that it lasts. */
  async function trouble(why: string): Promise<void> {
    if (troubledMs === 0) {
      troubledAt = ports.clock.now();
      ports.log.warn("the broker's reports cannot be read", { broker: broker.name, error: why });
    }
    const isNew = troubledMs < silentMsMax && troubledMs + waitMs >= silentMsMax;
    troubledMs += waitMs;
    waitMs = Math.min(waitMs * 2, backOffMsMax);
    if (!isNew) return;
    const sentence = `Reports of the broker ${broker.name} cannot be read for ${silentMsMax / 1_000} seconds: ${why}`;
    try {
      await ports.store.transact("oms.alarm", (unit) =>
        alarm(unit, "BROKER_SILENT", broker.name, sentence, ports.clock.now()),
      );
    } catch (thrown) {
      if (thrown instanceof Defect) ports.crash.die(thrown);
      // With the store away as well, whoever watches the store tells.
      ports.log.warn("an alarm could not be published", { code: "BROKER_SILENT", error: messageOf(thrown) });
    }
  }

  /** Whether there is more to read at once. */
  async function readPage(): Promise<boolean> {
    const cursor = await ports.store.transact("oms.look", (unit) => unit.oms.reportCursor(broker.name), {
      isOneStatement: true,
    });
    const page = await broker.reports(cursor, pageMax);
    let next = cursor + 1;
    for (const report of page) {
      if (ending.signal.aborted) return false;
      if (report.cursor < next) continue;
      // One is missing: what follows waits for it.
      if (report.cursor > next) return false;
      const booked = await bookReport(parts, broker, report);
      if (booked === undefined) return true;
      tell(report, booked);
      next += 1;
    }
    return page.length >= pageMax;
  }

  function tell(report: BrokerReport, { stored, hasTraded }: Booked): void {
    if (stored === undefined) {
      ports.log.warn("a broker reports an order that is not ours", { order_id: report.status.clientOrderId });
      return;
    }
    const { order, parentOrderId } = stored;
    bells.order(order.order_id);
    if (parentOrderId !== undefined) bells.order(parentOrderId);
    if (hasTraded) {
      bells.position(order.fund_id, order.symbol);
      parts.quotes.owed();
    }
    const mayTrade = report.status.state === "WORKING" || report.status.state === "PARTIALLY_FILLED";
    if (hasEnded(stored.state) && stored.state !== "FILLED" && mayTrade) stray(order.order_id);
  }

  function stray(orderId: string): void {
    if (strays.has(orderId)) return;
    strays.set(
      orderId,
      removeStray(orderId).finally(() => strays.delete(orderId)),
    );
  }

  /** Ended for us and alive at the broker: it came there after we were told that it never had. Its trades are booked; the rest must go. */
  async function removeStray(orderId: string): Promise<void> {
    ports.log.error("an order that has ended works at the broker; it is cancelled there", { order_id: orderId });
    for (let pauseMs = pollMs; !ending.signal.aborted; pauseMs = Math.min(pauseMs * 2, backOffMsMax)) {
      try {
        const { state } = await broker.cancel(orderId);
        if (state !== "WORKING" && state !== "PARTIALLY_FILLED") return;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("a stray order cannot be cancelled yet", { order_id: orderId, error: messageOf(thrown) });
      }
      await ports.timers.sleep(pauseMs, ending.signal);
    }
  }

  function ring(): void {
    isRung = true;
    sleeping.abort();
  }

  const stopHearing = broker.onReport(ring);
  const running = run();
  return {
    ring,
    silentSince: () => (troubledMs > pollMs ? troubledAt : undefined),
    stop: async () => {
      stopHearing();
      ending.abort();
      sleeping.abort();
      await running;
      await Promise.all(strays.values());
    },
  };
}
