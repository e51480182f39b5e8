// Both sides of one account at one moment: the broker's complete answer, our own books at the same report of the broker, and what explains where
// they differ. An answer that is missing or incomplete ends here: it says nothing about anything.
import type { Decimal } from "../../../contracts/src/decimal.ts";
import * as decimal from "../../../contracts/src/decimal.ts";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Instant } from "../../../contracts/src/instant.ts";
import { signedQuantity } from "../../../core/ledger/position.ts";
import {
  compareHoldings,
  type Evidence,
  type Mismatch,
  type StrategyHolding,
} from "../../../core/reconcile/reconcile.ts";
import type { StoredPosition } from "../../../ports/oms-records.ts";
import { pollUntil } from "../../shared/waiting.ts";
import { readReports } from "./broker-reports.ts";
import { gatherEvidence } from "./gather-evidence.ts";
import type { GatherPorts, OwnSide } from "./own-side.ts";

/** How long our books may take to reach the report that the broker's answer stands at. */
const catchUpLooks = 10;
const catchUpPauseMs = 200;

export interface AccountFacts {
  readonly asOf: Instant;
  readonly cursor: number;
  /** Whether our books had booked everything that the broker's answer rests on. */
  readonly isCaughtUp: boolean;
  /** The broker's report up to which our books were kept. */
  readonly ownCursor: number;
  readonly ours: ReadonlyMap<string, Decimal>;
  readonly brokers: ReadonlyMap<string, Decimal>;
  readonly brokerPrices: ReadonlyMap<string, Decimal>;
  readonly mismatches: readonly Mismatch[];
  /** Of the mismatches. */
  readonly evidence: ReadonlyMap<string, Evidence>;
  readonly holdingsOf: (symbol: string) => readonly StrategyHolding[];
}

type Gathered = { readonly facts: AccountFacts } | { readonly unanswered: string };

export async function gatherAccount(ports: GatherPorts, fundId: string): Promise<Gathered> {
  try {
    return await gather(ports, fundId);
  } catch (thrown) {
    // The broker fell silent in between. Trouble of our own is handed on.
    if (thrown instanceof Fault && thrown.code === "BROKER_UNAVAILABLE") return { unanswered: thrown.message };
    throw thrown;
  }
}

async function gather(ports: GatherPorts, fundId: string): Promise<Gathered> {
  const { broker, timers } = ports;
  const answer = await broker.positions(fundId);
  if (!answer.complete) return { unanswered: answer.why };
  let own: OwnSide = await readOwn(ports, fundId);
  if (own.cursor < answer.cursor) {
    const polling = { timers, firstAfterMs: catchUpPauseMs, everyMs: catchUpPauseMs, timesMax: catchUpLooks - 1 };
    await pollUntil(polling, async () => {
      own = await readOwn(ports, fundId);
      return own.cursor < answer.cursor ? undefined : own;
    });
  }
  const ours = sumBySymbol(own.positions);
  if (own.cursor > answer.cursor) {
    // We have booked more than the answer rests on: ours as they were then.
    const { reports } = await readReports(broker, answer.cursor, own.cursor);
    for (const { status, execution } of reports) {
      if (status.account !== fundId || execution === undefined) continue;
      const traded = signedQuantity(status.side, execution.quantity);
      ours.set(status.symbol, decimal.subtract(ours.get(status.symbol) ?? decimal.zero, traded));
    }
  }
  const brokers = new Map(answer.items.map(({ symbol, quantity }) => [symbol, quantity]));
  const mismatches = compareHoldings(ours, brokers);
  const evidence =
    mismatches.length === 0
      ? new Map<string, Evidence>()
      : await gatherEvidence(ports, fundId, answer.cursor, mismatches, own);
  return {
    facts: {
      asOf: answer.asOf,
      cursor: answer.cursor,
      isCaughtUp: own.cursor >= answer.cursor,
      ownCursor: own.cursor,
      ours,
      brokers,
      brokerPrices: new Map(answer.items.map(({ symbol, averagePrice }) => [symbol, averagePrice])),
      mismatches,
      evidence,
      holdingsOf: (symbol) => own.positions.filter((one) => one.symbol === symbol),
    },
  };
}

const readsMax = 3;

/** Positions and cursor belong together, because order management moves both at once: when the cursor moved in between, both are read again. */
function readOwn({ store, broker }: GatherPorts, fundId: string): Promise<OwnSide> {
  return store.transact("reconcile.read", async (unit) => {
    const agreement = await unit.reconcile.agreement(broker.name, fundId);
    let cursor = await unit.oms.reportCursor(broker.name);
    for (let read = 1; ; read += 1) {
      const positions = await unit.oms.positions(fundId);
      const open = (await unit.oms.openOrders()).filter(({ order }) => order.fund_id === fundId);
      const after = await unit.oms.reportCursor(broker.name);
      if (after === cursor || read === readsMax) {
        return { cursor, positions, open, agreedCursor: agreement?.cursor ?? 0 };
      }
      cursor = after;
    }
  });
}

function sumBySymbol(positions: readonly StoredPosition[]): Map<string, Decimal> {
  const sums = new Map<string, Decimal>();
  for (const { symbol, quantity } of positions)
    sums.set(symbol, decimal.add(sums.get(symbol) ?? decimal.zero, quantity));
  return sums;
}
