// The engine's books, rebuilt at a start: the newest snapshot, the entries after it, the keys of the last minutes. Then the same books
// are computed from the very first entry and compared with the snapshot: state that is kept along the way must equal its recomputation.

import { Defect, messageOf } from "../../../contracts/src/fault.ts";
import { DecisionRecord } from "../../../contracts/src/generated/svc/v1/riskdesk.ts";
import { type Instant, minusMilliseconds } from "../../../contracts/src/instant.ts";
import { parseJson } from "../../../contracts/src/parse-json.ts";
import type { Engine } from "../../../core/engine/engine.ts";
import { type EngineSnapshot, isWhole } from "../../../core/engine/snapshot.ts";
import type { JournalRow, SeenKey, Snapshot } from "../../../ports/risk-store.ts";
import { foldJournal } from "../../shared/journal-fold.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { isReported, unpublishedMax } from "../approvals/approval-events.ts";

type Ports = Pick<ServicePorts, "riskStore" | "timers" | "clock" | "log" | "crash">;

const pageMax = 2_000;
const keysPageMax = 10_000;
/** A page of the recomputation is short, because checks wait while it is worked on. */
const verifyPageMax = 100;
/** And between two pages of a long one checks have the processor to themselves. */
const restMs = 10;

export interface Recovered {
  readonly writerEpoch: number;
  /** The last entry that was read. */
  readonly last: bigint;
  /** How many came after the snapshot. */
  readonly entriesSince: number;
  readonly snapshot: Snapshot | undefined;
  /** What these entries say of approvals and blocks may not have been reported yet. */
  readonly approvals: readonly JournalRow[];
}

/** Takes the writer epoch first: from then on nobody else can add to what is being read. */
export async function recover(
  ports: Ports,
  engine: Engine,
  incarnation: string,
  keyWindowMs: number,
): Promise<Recovered> {
  const { riskStore, timers, log } = ports;
  const writerEpoch = await riskStore.takeWriterEpoch(incarnation);
  const snapshot = await riskStore.snapshot();
  const content = snapshot === undefined ? undefined : readSnapshot(snapshot);
  // One of an earlier version does not say which approvals were sent or released, or which broker or strategy holds what; the journal does.
  const isRestored = content !== undefined && isWhole(content);
  if (isRestored) engine.restore(content);
  const approvals: JournalRow[] = [];
  const folded = await foldJournal(riskStore, engine, {
    after: isRestored ? (snapshot?.through ?? 0n) : 0n,
    pageMax,
    onRow(row) {
      if (!isReported(row.kind)) return;
      approvals.push(row);
      if (approvals.length > unpublishedMax) approvals.shift();
    },
    betweenPages: async () => {
      await timers.sleep(0);
      return true;
    },
  });
  const keyCount = await rememberKeys(ports, engine, keyWindowMs);
  const { last, entryCount: entriesSince } = folded;
  log.info("the books are rebuilt", { entries: entriesSince, through: String(last), keys: keyCount });
  return { writerEpoch, last, entriesSince, snapshot, approvals };
}

async function rememberKeys(ports: Ports, engine: Engine, keyWindowMs: number): Promise<number> {
  const { riskStore, clock } = ports;
  const since = minusMilliseconds(clock.now(), keyWindowMs);
  let count = 0;
  for (let after: bigint | undefined = 0n; after !== undefined; ) {
    const page: Awaited<ReturnType<typeof riskStore.keysSince>> = await riskStore.keysSince(since, after, keysPageMax);
    for (const key of page.keys) {
      if (!engine.rememberKey(key.keyHash, key.bodyHash, key.at)) await rememberOrder(ports, engine, key, since);
    }
    count += page.keys.length;
    after = page.next;
  }
  return count;
}

/** An earlier version hashed its keys otherwise; what it decided within the window is hashed anew, so that an upgrade lets no key pass twice. */
async function rememberOrder({ riskStore }: Ports, engine: Engine, key: SeenKey, since: Instant): Promise<void> {
  const found = await riskStore.decisionByKey(key.keyHash, since);
  const { order, asked_by: askedBy } = found === undefined ? {} : DecisionRecord.decode(found);
  if (order === undefined) throw new Defect("a key of the last minutes has no order in the journal");
  engine.rememberOrder(order, key.at, askedBy);
}

function readSnapshot({ content, through }: Snapshot): EngineSnapshot {
  try {
    return parseJson(new TextDecoder("utf-8", { fatal: true }).decode(content)) as EngineSnapshot;
  } catch (thrown) {
    throw new Defect(`the snapshot through ${through} cannot be read: ${messageOf(thrown)}`, { cause: thrown });
  }
}

interface VerifyOptions {
  readonly snapshot: Snapshot;
  /** A fresh engine with the same reference data and limits. */
  readonly fresh: Engine;
  /** Entries that are worked on before this resolves; the rest goes on in the background. */
  readonly entriesFirst: number;
  readonly onMismatch: (sentence: string) => void;
  readonly signal: AbortSignal;
}

interface Verification {
  /** Resolves when it is over, however it ended. */
  readonly done: Promise<void>;
}

/** Resolves when it is over or has turned out to be long. */
export async function verifySnapshot(ports: Ports, options: VerifyOptions): Promise<Verification> {
  const { snapshot, fresh, signal } = options;
  let worked = 0;
  let isLong = (): void => undefined;
  const long = new Promise<void>((resolve) => {
    isLong = resolve;
  });

  async function verify(): Promise<void> {
    const folded = await foldJournal(ports.riskStore, fresh, {
      after: 0n,
      through: snapshot.through,
      pageMax: verifyPageMax,
      betweenPages: async () => {
        worked += verifyPageMax;
        if (worked >= options.entriesFirst) isLong();
        await ports.timers.sleep(worked >= options.entriesFirst ? restMs : 0);
        return !signal.aborted;
      },
    });
    if (!folded.isWhole) return;
    const content = readSnapshot(snapshot);
    const [kept, computed] = [durablePart(content), durablePart(fresh.snapshot())];
    const difference = firstDifference(kept, isWhole(content) ? computed : shownBy(kept, computed), "");
    if (difference === undefined) {
      ports.log.info("the books equal their recomputation", { entries: folded.entryCount });
      return;
    }
    options.onMismatch(
      `The snapshot through entry ${snapshot.through} differs from its recomputation at ${difference}.`,
    );
  }

  const done = verify().catch((thrown: unknown) => {
    if (signal.aborted) return;
    if (thrown instanceof Defect) ports.crash.die(thrown);
    // Not being able to compare is not a difference, but nobody may take it for equality either.
    ports.log.error("the books could not be compared with their recomputation", { error: messageOf(thrown) });
  });
  await Promise.race([done, long]);
  return { done };
}

interface DurablePart {
  readonly positions: object;
  readonly tripped: object;
  readonly orders: Readonly<Record<string, object>>;
  readonly blocks: object;
}

/**
 * What must be equal: positions, open orders, tripped throttles, open blocks. What was counted within seconds is left out: it was counted under the
 * envelope of its moment, and the recomputation only has the newest.
 */
function durablePart({ funds, strategies, orders, blocks }: EngineSnapshot): DurablePart {
  const tripped = strategies.filter((strategy) => strategy.tripped_at !== null);
  return {
    positions: Object.fromEntries(funds.map((fund) => [fund.fund_id, Object.fromEntries(fund.positions)])),
    tripped: Object.fromEntries(tripped.map((strategy) => [strategy.strategy_id, strategy.tripped_at])),
    orders: Object.fromEntries(orders.map((order) => [order.order_id, order])),
    blocks: Object.fromEntries((blocks?.open ?? []).map((block) => [block.block_id, block])),
  };
}

/** A snapshot of an earlier version was not restored, and says less of an order: what it does not say is not compared. */
function shownBy(kept: DurablePart, { orders, ...rest }: DurablePart): DurablePart {
  const shown = Object.entries(orders).map(([id, order]): [string, object] => {
    const names = new Set(Object.keys(kept.orders[id] ?? order));
    return [id, Object.fromEntries(Object.entries(order).filter(([name]) => names.has(name)))];
  });
  return { ...rest, orders: Object.fromEntries(shown) };
}

/** The path of the first place where two plain JSON values differ; keys of objects have no order. */
export function firstDifference(one: unknown, other: unknown, path: string): string | undefined {
  if (one === other) return undefined;
  if (!isContainer(one) || !isContainer(other) || Array.isArray(one) !== Array.isArray(other))
    return path || "its root";
  const mine = one as Readonly<Record<string, unknown>>;
  const others = other as Readonly<Record<string, unknown>>;
  for (const key of new Set([...Object.keys(mine), ...Object.keys(others)])) {
    const difference = firstDifference(mine[key], others[key], `${path}/${key}`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
