// Fills that cannot be booked yet: of a fund or an instrument that the reference data does not have, or that the ledger refuses. They are kept in
// the store, in order within their fund, and tried again until they are booked. None is ever put aside or dropped.
//
//  1. A fill is kept in the store before its event counts as handled, and leaves it in the unit of work that books it.
//  2. What comes after it in the same fund waits behind it; other funds go on.
//  3. While a fund has one, that is a critical alarm: when it begins, and again after a restart.
//  4. Only the store's trouble is thrown: the bus brings such a fill again.
import { alarms } from "../../contracts/src/codes/alarms.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { format, type Instant, millisecondsBetween, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import type { ReferenceView } from "../reference/reference-view.ts";
import { line } from "../shared/one-line.ts";
import type { ServicePorts } from "../shared/service.ts";

const retryMsMin = 1_000;
const retryMsMax = 30_000;
/** Of one fund in one round. */
const bookedMax = 500;

type WaitingPorts = Pick<ServicePorts, "clock" | "log" | "store">;

/** Books a fill in a unit of work; throws when it cannot be. */
export type BookFill = (unit: UnitOfWork, view: ReferenceView, fill: Fill) => Promise<void>;

export interface WaitingFills {
  /** Whether something of the fund waits, as far as this process knows. */
  has(fundId: string): boolean;
  keep(fill: Fill, why: string): Promise<void>;
  /** Looks for what waits, also what another process kept, and tries what is due. */
  retry(view: ReferenceView): Promise<void>;
}

/** When a fund is tried again. */
interface Turn {
  readonly pauseMs: number;
  readonly nextAt: Instant;
  /** Whether this process raised the alarm. */
  readonly isReported: boolean;
}

export function createWaitingFills({ clock, log, store }: WaitingPorts, book: BookFill): WaitingFills {
  /** Funds of which something waits. */
  const turns = new Map<string, Turn>();

  async function tell(unit: UnitOfWork, fill: Fill, count: number, why: string): Promise<void> {
    const { fund_id, fill_id, symbol } = fill;
    const others = count > 1 ? ` ${count - 1} more of the fund wait behind it.` : "";
    const sentence = `The fill ${fill_id} (${symbol}) of ${fund_id} cannot be booked: ${why}${others} It is tried until it is booked.`;
    log.error("a fill waits to be booked", { fund_id, fill_id, why });
    await unit.events.publish(subjects.alarmRaised, {
      code: "FILL_UNBOOKED",
      level: alarms.FILL_UNBOOKED.level,
      service: "treasury",
      sentence: line(sentence, 2_000),
      facts: { about: fund_id, fund_id, fill_id, symbol, waiting: count },
      at: format(clock.now()),
    });
  }

  /** Books what can be booked of a fund; why it stops, or undefined when nothing is in the way. */
  async function bookInOrder(fundId: string, view: ReferenceView): Promise<string | undefined> {
    const fills = await store.transact("treasury.look", (unit) => unit.ledger.waitingFills(fundId, bookedMax));
    for (const fill of fills) {
      try {
        // One each: a statement that the database refuses ends its unit of work.
        await store.transact("treasury.fill", async (unit) => {
          await book(unit, view, fill);
          await unit.ledger.removeWaitingFill(fundId, fill.fill_id);
        });
      } catch (thrown) {
        if (isTrouble(thrown)) throw thrown;
        return messageOf(thrown);
      }
      log.info("a fill that waited is booked", { fund_id: fundId, fill_id: fill.fill_id });
    }
    return undefined;
  }

  /** Reported once by this process: after another start it is reported again. */
  async function tellOnce(fundId: string, count: number, why: string): Promise<void> {
    await store.transact("treasury.waiting", async (unit) => {
      const [first] = await unit.ledger.waitingFills(fundId, 1);
      if (first !== undefined) await tell(unit, first, count, why);
    });
  }

  return {
    has: (fundId) => turns.has(fundId),
    async keep(fill, why) {
      const known = turns.get(fill.fund_id);
      const at = clock.now();
      await store.transact("treasury.waiting", async (unit) => {
        if ((await unit.ledger.keepFill(fill, at)) && known === undefined) await tell(unit, fill, 1, why);
      });
      const first = { pauseMs: retryMsMin, nextAt: plusMilliseconds(at, retryMsMin), isReported: true };
      if (known === undefined) turns.set(fill.fund_id, first);
    },
    async retry(view) {
      const now = clock.now();
      const waiting = await store.transact("treasury.look", (unit) => unit.ledger.waitingFunds(), {
        isOneStatement: true,
      });
      const names = new Set(waiting.map(({ fundId }) => fundId));
      for (const fundId of turns.keys()) if (!names.has(fundId)) turns.delete(fundId);
      for (const { fundId, count } of waiting) {
        const known = turns.get(fundId);
        // A clock that was set back is no reason to wait longer than the longest pause.
        if (known !== undefined && now < known.nextAt && millisecondsBetween(now, known.nextAt) <= retryMsMax) continue;
        const why = await bookInOrder(fundId, view);
        const pauseMs = why === undefined ? 0 : Math.min(retryMsMax, (known?.pauseMs ?? retryMsMin / 2) * 2);
        if (why !== undefined && known?.isReported !== true) await tellOnce(fundId, count, why);
        const isReported = known?.isReported === true || why !== undefined;
        turns.set(fundId, {
          pauseMs: Math.max(retryMsMin, pauseMs),
          nextAt: plusMilliseconds(now, pauseMs),
          isReported,
        });
      }
    },
  };
}

const troubles: ReadonlySet<string> = new Set(["STORE_UNAVAILABLE", "STORE_CONFLICT", "STORE_COMMIT_UNKNOWN"]);

/** The store's trouble is no failure of a fill. */
export function isTrouble(thrown: unknown): boolean {
  return thrown instanceof Fault && troubles.has(thrown.code);
}
