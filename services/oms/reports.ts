// Reads a broker's reports from where the books stand, rung for or not, and books them one after the other. Reports are numbered without
// gaps: one that is missing is waited for and asked for again, and what comes twice is passed over.
import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { type Instant, millisecondsBetween } from "../../contracts/src/instant.ts";
import { hasEnded } from "../../core/orders/order-lifecycle.ts";
import type { Broker, BrokerReport } from "../../ports/broker.ts";
import { startLoop } from "../shared/loop.ts";
import { pollUntil } from "../shared/waiting.ts";
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
  /** Since when they cannot be read, how often that was noticed, and whether it is an alarm. */
  let troubled: { readonly since: Instant; readonly times: number; readonly isAlarm: boolean } | undefined;
  const strays = new Map<string, Promise<void>>();

  async function run(ending: AbortSignal): Promise<number> {
    try {
      const hasMore = await readPage(ending);
      troubled = undefined;
      return hasMore ? 0 : pollMs;
    } catch (thrown) {
      if (!(thrown instanceof Defect)) await trouble(messageOf(thrown));
      throw thrown;
    }
  }

  /** Raises the alarm once. */
  async function trouble(why: string): Promise<void> {
    const { since, times, isAlarm } = troubled ?? { since: ports.clock.now(), times: 0, isAlarm: false };
    const isLong = millisecondsBetween(since, ports.clock.now()) >= silentMsMax;
    troubled = { since, times: times + 1, isAlarm: isLong };
    if (isAlarm || !isLong) return;
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
  async function readPage(ending: AbortSignal): Promise<boolean> {
    const cursor = await ports.store.transact("oms.look", (unit) => unit.oms.reportCursor(broker.name), {
      isOneStatement: true,
    });
    const page = await broker.reports(cursor, pageMax);
    let next = cursor + 1;
    for (const report of page) {
      if (ending.aborted) return false;
      if (report.cursor < next) continue;
      // One is missing: what follows waits for it.
      if (report.cursor > next) return false;
      const booked = await bookReport(parts, broker, report);
      if (booked === undefined) return true;
      tell(report, booked, ending);
      next += 1;
    }
    return page.length >= pageMax;
  }

  function tell(report: BrokerReport, { stored, hasTraded }: Booked, ending: AbortSignal): void {
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
    if (hasEnded(stored.state) && stored.state !== "FILLED" && mayTrade) stray(order.order_id, ending);
  }

  function stray(orderId: string, ending: AbortSignal): void {
    if (strays.has(orderId)) return;
    strays.set(
      orderId,
      removeStray(orderId, ending).finally(() => strays.delete(orderId)),
    );
  }

  /** Ended for us and alive at the broker: it came there after we were told that it never had. Its trades are booked; the rest must go. */
  async function removeStray(orderId: string, signal: AbortSignal): Promise<void> {
    ports.log.error("an order that has ended works at the broker; it is cancelled there", { order_id: orderId });
    await pollUntil({ timers: ports.timers, everyMs: pollMs, everyMsMax: backOffMsMax, signal }, async () => {
      try {
        const { state } = await broker.cancel(orderId);
        return state !== "WORKING" && state !== "PARTIALLY_FILLED" ? "gone" : undefined;
      } catch (thrown) {
        if (thrown instanceof Defect) ports.crash.die(thrown);
        ports.log.warn("a stray order cannot be cancelled yet", { order_id: orderId, error: messageOf(thrown) });
        return undefined;
      }
    });
  }

  const loop = startLoop({
    ports: { ...ports, log: ports.log.with({ broker: broker.name }) },
    what: { failing: "the broker's reports cannot be read", working: "the broker's reports can be read again" },
    firstAfterMs: 0,
    run,
    troubleMsMax: backOffMsMax,
  });
  const stopHearing = broker.onReport(loop.wake);
  return {
    ring: loop.wake,
    silentSince: () => (troubled !== undefined && troubled.times > 1 ? troubled.since : undefined),
    stop: async () => {
      stopHearing();
      await loop.stop();
      await Promise.all(strays.values());
    },
  };
}
