// Fills that cannot be booked yet: of a fund or an instrument that the reference data does not have, or that the ledger refuses. They are kept with
// the fund, in order, and tried again until they are booked. None is ever put aside or dropped.
//
//  1. A fill is kept in the store before its event counts as handled.
//  2. What comes after it in the same fund waits behind it; other funds go on.
//  3. While a fund has one, that is a critical alarm: when it begins, and again after a restart.
import { alarms } from "../../contracts/src/codes/alarms.ts";
import { Defect, Fault, messageOf } from "../../contracts/src/fault.ts";
import { format, type Instant, plusMilliseconds } from "../../contracts/src/instant.ts";
import type { Fill } from "../../contracts/src/records/order.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { UnitOfWork } from "../../ports/store.ts";
import { line } from "../line.ts";
import type { ServicePorts } from "../service.ts";
import type { ReferenceView } from "./reference-view.ts";

/** Of one fund; beyond, the subscription stops until there is room. */
const waitingMax = 10_000;
const retryMsMin = 1_000;
const retryMsMax = 30_000;
/** Another process may have kept some before this one took over. */
const lookAgainMs = 60_000;

export type WaitingPorts = Pick<ServicePorts, "clock" | "log" | "store">;

/** Books a fill in a unit of work; throws when it cannot be. */
export type BookFill = (unit: UnitOfWork, view: ReferenceView, fill: Fill) => Promise<void>;

export interface WaitingFills {
  /** Whether something of the fund waits, as far as this process knows. */
  has(fundId: string): boolean;
  keep(fill: Fill, why: string): Promise<void>;
  /** Tries those whose time has come. */
  retry(view: ReferenceView): Promise<void>;
}

interface Turn {
  readonly waits: boolean;
  readonly pauseMs: number;
  readonly nextAt: Instant;
}

export function createWaitingFills({ clock, log, store }: WaitingPorts, book: BookFill): WaitingFills {
  /** Bounded by the funds that there are. */
  const turns = new Map<string, Turn>();

  const turn = (fundId: string, waits: boolean, pauseMs: number): void => {
    turns.set(fundId, { waits, pauseMs, nextAt: plusMilliseconds(clock.now(), pauseMs) });
  };

  async function tell(unit: UnitOfWork, fill: Fill, count: number, why: string): Promise<void> {
    const { fund_id, fill_id, symbol } = fill;
    const others = count > 1 ? ` ${count - 1} more of the fund wait behind it.` : "";
    const sentence = `The fill ${fill_id} (${symbol}) of ${fund_id} cannot be booked: ${why}${others} It is tried until it is booked.`;
    log.error("a fill waits to be booked", { fund_id, fill_id, why });
    await unit.events.publish(subjects.alarmRaised, {
      ...{ code: "FILL_UNBOOKED", level: alarms.FILL_UNBOOKED.level, service: "treasury" },
      sentence: line(sentence, 2_000),
      facts: { about: fund_id, fund_id, fill_id, symbol, waiting: count },
      at: format(clock.now()),
    });
  }

  async function retryOne(fundId: string, view: ReferenceView): Promise<boolean> {
    let why = "";
    return store.transact("treasury.waiting", async (unit) => {
      const remembered = await unit.ledger.lockFund(fundId);
      const waiting = remembered.waitingFills ?? [];
      let booked = 0;
      for (const fill of waiting) {
        try {
          await book(unit, view, fill);
          booked += 1;
        } catch (thrown) {
          if (isTrouble(thrown)) throw thrown;
          why = messageOf(thrown);
          break;
        }
      }
      const left = waiting.slice(booked);
      if (booked > 0) await unit.ledger.putFund(fundId, { ...remembered, waitingFills: left });
      const [first] = left;
      // Told by this process once: who starts it again is told again.
      if (first !== undefined && turns.get(fundId)?.waits !== true) await tell(unit, first, left.length, why);
      return left.length > 0;
    });
  }

  return {
    has: (fundId) => turns.get(fundId)?.waits === true,
    async keep(fill, why) {
      await store.transact("treasury.waiting", async (unit) => {
        const remembered = await unit.ledger.lockFund(fill.fund_id);
        const waiting = remembered.waitingFills ?? [];
        if (waiting.some(({ fill_id }) => fill_id === fill.fill_id)) return;
        if (waiting.length >= waitingMax) {
          throw new Fault("STORE_UNAVAILABLE", `${waitingMax} fills of ${fill.fund_id} wait.`, { retry: "later" });
        }
        await unit.ledger.putFund(fill.fund_id, { ...remembered, waitingFills: [...waiting, fill] });
        if (waiting.length === 0) await tell(unit, fill, 1, why);
      });
      if (turns.get(fill.fund_id)?.waits !== true) turn(fill.fund_id, true, retryMsMin);
    },
    async retry(view) {
      const now = clock.now();
      for (const { fund_id: fundId } of view.reference.funds) {
        const known = turns.get(fundId);
        if (known !== undefined && now < known.nextAt && known.nextAt <= plusMilliseconds(now, lookAgainMs)) continue;
        const waits = await retryOne(fundId, view);
        const pauseMs = known?.waits === true ? Math.min(retryMsMax, known.pauseMs * 2) : retryMsMin;
        turn(fundId, waits, waits ? pauseMs : lookAgainMs);
      }
    },
  };
}

/** The store's trouble is no failure of a fill: the bus brings it again. */
export function isTrouble(thrown: unknown): boolean {
  return !(thrown instanceof Defect) && thrown instanceof Fault && thrown.code.startsWith("STORE_");
}
