// The journal, folded into an engine's books: what is done live when an entry becomes durable, done again from what was written.

import { Defect, messageOf } from "../../contracts/src/fault.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import { parse } from "../../contracts/src/instant.ts";
import { parseJson } from "../../contracts/src/parse-json.ts";
import { riskBlock, riskBlockEnded } from "../../contracts/src/records/block.ts";
import type { ApprovalEnded, ApprovalExpired } from "../../contracts/src/records/order.ts";
import {
  approvalEnded,
  approvalExpired,
  approvalSent,
  fill,
  fillReversal,
  orderTransition,
  throttleReleased,
  unsentEndOf,
} from "../../contracts/src/records/order.ts";
import type { Engine } from "../../core/engine/engine.ts";
import type { JournalRow, RiskStore } from "../../ports/risk-store.ts";

const decoder = new TextDecoder();

interface FoldOptions {
  readonly after: bigint;
  /** Stop after this entry; undefined reads to the end. */
  readonly through?: bigint;
  readonly pageMax: number;
  /** Runs after each page; false stops. */
  readonly betweenPages: () => Promise<boolean>;
  /** Shown every entry after it was applied. */
  readonly onRow?: (row: JournalRow) => void;
}

interface Folded {
  readonly entryCount: number;
  readonly last: bigint;
  readonly isWhole: boolean;
}

export async function foldJournal(riskStore: RiskStore, engine: Engine, options: FoldOptions): Promise<Folded> {
  const { through, pageMax } = options;
  let last = options.after;
  let entryCount = 0;
  for (;;) {
    const page = await riskStore.entries(last, pageMax);
    for (const row of page) {
      if (through !== undefined && row.id > through) return { entryCount, last, isWhole: true };
      applyRow(engine, row);
      options.onRow?.(row);
      last = row.id;
      entryCount += 1;
    }
    if (page.length < pageMax) return { entryCount, last, isWhole: true };
    if (!(await options.betweenPages())) return { entryCount, last, isWhole: false };
  }
}

function foldExpiry(engine: Engine, expired: ApprovalExpired): void {
  const { order_id: orderId, valid_until: until } = expired;
  engine.expire(orderId, parse(until), unsentEndOf(expired));
}

function foldEnd(engine: Engine, { order_id: orderId, at }: ApprovalEnded): void {
  engine.endOrder(orderId, parse(at));
}

/** A bust is in the journal as the fill that takes another one back. */
function foldFill(engine: Engine, heard: unknown): void {
  const reversal = fillReversal.safeParse(heard);
  if (reversal.success) engine.applyReversal(reversal.data);
  else engine.applyFill(fill.parse(heard));
}

/** An entry that cannot be read is a Defect: going on without it would be trading on wrong books. */
/** One entry, as it was applied live. */
export function applyRow(engine: Engine, row: JournalRow): void {
  try {
    if (row.kind === "decision") {
      const { order, decision, asked_by: askedBy } = DecisionRecord.decode(row.payload);
      if (order !== undefined && decision !== undefined) engine.adoptDecision(order, decision, row.at, askedBy);
      return;
    }
    const heard: unknown = parseJson(decoder.decode(row.payload));
    if (row.kind === "fill") foldFill(engine, heard);
    else if (row.kind === "transition") engine.applyTransition(orderTransition.parse(heard));
    else if (row.kind === "expiry") foldExpiry(engine, approvalExpired.parse(heard));
    else if (row.kind === "end") foldEnd(engine, approvalEnded.parse(heard));
    else if (row.kind === "sent") engine.confirmSent(approvalSent.parse(heard).order_id);
    else if (row.kind === "block") engine.acceptance.open(riskBlock.parse(heard));
    else if (row.kind === "unblock") engine.acceptance.end(riskBlockEnded.parse(heard));
    else engine.releaseThrottle(throttleReleased.parse(heard).strategy_id);
  } catch (thrown) {
    throw new Defect(`the journal's entry ${row.id} (${row.kind}) cannot be applied: ${messageOf(thrown)}`, {
      cause: thrown,
    });
  }
}
