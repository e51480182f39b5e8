// What a simulated run leaves behind for the invariants to look at. It is gathered beside the simulated platform, never by it: what was reported, what
// callers were promised, what the stores and the broker hold.

import { systemSha256OfBytes } from "../adapters/system/signing.ts";
import { DecisionRecord } from "../contracts/src/generated/svc/v1/riskdesk.ts";
import type { RiskBlock } from "../contracts/src/records/block.ts";
import type { ApprovalExpired, Order, OrderTransition } from "../contracts/src/records/order.ts";
import { type ChainCheck, createChainCheck } from "../core/audit/chain-check.ts";
import type { JournalRow } from "../ports/risk-store.ts";
import type { LogEntry } from "../testkit/memory/tables.ts";
import { audited } from "./audited-subjects.ts";
import { fold, type History, history, isOver, readReported } from "./history.ts";
import type { Platform } from "./platform.ts";
import type { Reported } from "./reported.ts";

/** What a caller was told by an answer, and may rely on from then on. */
export interface Promises {
  readonly orders: Set<string>;
  /** Halts that were said to be latched, and when it was said that nobody decides without them any more. */
  readonly halts: Map<string, { readonly epoch: number; readonly turn: number }>;
  /** Halts of which a caller was told that they are lifted. */
  readonly lifted: Set<string>;
  /** Alerts that were answered with 202. */
  readonly signals: Set<string>;
  /** By fund and version. */
  readonly envelopes: Set<string>;
  /** Approvals that left the risk engine, in their turn. */
  readonly approvals: { readonly decisionId: string; readonly turn: number }[];
}

/** Which orders' reservations the risk engine's own journal holds and has freed. */
export interface Reserved {
  readonly held: Set<string>;
  readonly freed: Set<string>;
  /** Those of which its journal has nothing that shows that they were sent, and those that ran out. */
  readonly unsent: Set<string>;
  readonly expired: Set<string>;
  /** Of those that ran out, the ones that somebody released: nobody sends them. */
  readonly released: Set<string>;
  /** New risk that was approved while a fill of its symbol waited to be accepted, as the journal has both; not judged yet. */
  readonly unaccepted: { readonly order: Order; readonly blockId: string }[];
}

export interface Evidence {
  readonly platform: Platform;
  readonly past: History;
  readonly promises: Promises;
  readonly reserved: Reserved;
  readonly chain: ChainCheck;
  /** The oldest message that should be an entry of the audit log and is none. */
  readonly unaudited: () => Pick<LogEntry, "subject" | "at"> | undefined;
  /** The message that is looked at; what it changes is not in the past yet. Undefined when the whole is looked at. */
  readonly reported: Reported | undefined;
  /** True at the very end, when no fault is left, everybody runs and nothing is left to do. */
  readonly settled: boolean;
  readonly now: number;
}

export interface Witness {
  readonly promises: Promises;
  readonly past: History;
  readonly reserved: Reserved;
  /** Looks at everything new, message by message and then as a whole; the first complaint ends it. */
  look<Found>(now: number, settled: boolean, judge: (evidence: Evidence) => Found | undefined): Found | undefined;
}

const decoder = new TextDecoder();

export function witness(platform: Platform): Witness {
  const past = history();
  const promises: Promises = {
    orders: new Set(),
    halts: new Map(),
    lifted: new Set(),
    signals: new Set(),
    envelopes: new Set(),
    approvals: [],
  };
  const reserved: Reserved = {
    held: new Set(),
    freed: new Set(),
    unsent: new Set(),
    expired: new Set(),
    released: new Set(),
    unaccepted: [],
  };
  /** What waits to be accepted, as the journal has it. */
  const blocks = new Map<string, RiskBlock>();
  const chain = createChainCheck({ sha256: systemSha256OfBytes, from: 0 });
  let auditedRead = 0;
  const sent = new Set<string>();
  let logRead = 0;
  let journalRead = 0;
  let looked = -1;

  function noteSent(orderId: string): void {
    sent.add(orderId);
    reserved.unsent.delete(orderId);
    reserved.expired.delete(orderId);
    reserved.released.delete(orderId);
  }

  function noteExpiry(orderId: string, { what, released_by: releasedBy }: ApprovalExpired): void {
    if (what !== "ORDER") return;
    reserved.unsent.delete(orderId);
    reserved.expired.add(orderId);
    if (releasedBy !== undefined) reserved.released.add(orderId);
  }

  function noteBlocked({ payload }: JournalRow): void {
    const { order, decision } = DecisionRecord.decode(payload);
    if (order === undefined || decision?.classification === "REDUCE" || decision?.dry_run === true) return;
    const block = [...blocks.values()].find(
      ({ fund_id, symbol = order.symbol }) => fund_id === order.fund_id && symbol === order.symbol,
    );
    if (block !== undefined) reserved.unaccepted.push({ order: order as Order, blockId: block.block_id });
  }

  function readJournal(): void {
    const { journal } = platform.tables.risk;
    for (; journalRead < journal.length; journalRead += 1) {
      const row = journal[journalRead];
      if (row?.kind === "decision" && row.approved === true) {
        reserved.held.add(row.orderId);
        reserved.freed.delete(row.orderId);
        reserved.expired.delete(row.orderId);
        if (!sent.has(row.orderId)) reserved.unsent.add(row.orderId);
        if (blocks.size > 0) noteBlocked(row);
      } else if (row?.kind === "transition") {
        const { to } = JSON.parse(decoder.decode(row.payload)) as OrderTransition;
        if (isOver(to)) reserved.freed.add(row.orderId);
        if (to !== "ACCEPTED") noteSent(row.orderId);
      } else if (row?.kind === "fill" || row?.kind === "sent") noteSent(row.orderId);
      else if (row?.kind === "expiry") noteExpiry(row.orderId, JSON.parse(decoder.decode(row.payload)));
      else if (row?.kind === "block" || row?.kind === "unblock") {
        const block = JSON.parse(decoder.decode(row.payload)) as RiskBlock;
        if (row.kind === "block") blocks.set(block.block_id, block);
        else blocks.delete(block.block_id);
      }
    }
  }

  /** Entries follow the order of the messages; one that is there stays, so nothing is looked at twice. */
  function unaudited(): LogEntry | undefined {
    const { log } = platform.tables;
    for (; auditedRead < log.length; auditedRead += 1) {
      const { id, subject } = log[auditedRead] as LogEntry;
      if (audited.has(subject) && !platform.audit.byEvent.has(id)) return log[auditedRead];
    }
    return undefined;
  }

  return {
    promises,
    past,
    reserved,
    look(now, settled, judge) {
      const { log } = platform.tables;
      const version = log.length + platform.defects.length + platform.outside.changes() + platform.audit.rows.length;
      if (version === looked && !settled) return undefined;
      looked = version;
      const evidence = { platform, past, promises, reserved, chain, unaudited, settled, now };
      readJournal();
      for (; logRead < log.length; logRead += 1) {
        const reported = readReported(log[logRead] as LogEntry);
        const found = judge({ ...evidence, reported });
        if (found !== undefined) return found;
        fold(past, reported);
      }
      return judge({ ...evidence, reported: undefined });
    },
  };
}
