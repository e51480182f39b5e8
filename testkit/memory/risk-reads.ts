// What the risk engine reads back from the memory store. Everything is a copy, as it would be from a database.

import { firstOfEachAsker } from "../../adapters/records/askers.ts";
import { DecisionRecord } from "../../contracts/src/generated/svc/v1/riskdesk.ts";
import type { JournalRow, RiskStore } from "../../ports/risk-store.ts";
import { copyOf } from "./copy-of.ts";
import type { RiskTables } from "./risk-tables.ts";

export type MemoryRiskReads = Omit<RiskStore, "append" | "outcomeOf" | "takeWriterEpoch" | "onChange">;

const snapshotsKept = 3;

/** An order that repeats a key is not the key's first. */
function isFirstOfKey(row: JournalRow): boolean {
  return row.keyHash !== undefined && row.code !== "DUPLICATE_KEY" && row.code !== "KEY_REUSED";
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

export function createMemoryRiskReads(risk: RiskTables, ask: <T>(answer: () => T) => Promise<T>): MemoryRiskReads {
  return {
    snapshot: () => ask(() => copyOf(risk.snapshots.at(-1))),
    saveSnapshot: (snapshot) =>
      ask(() => {
        const others = risk.snapshots.filter((one) => one.through !== snapshot.through);
        const all = [...others, copyOf(snapshot)].sort((one, other) => (one.through < other.through ? -1 : 1));
        risk.snapshots.splice(0, risk.snapshots.length, ...all.slice(-snapshotsKept));
      }),
    entries: (after, countMax) => ask(() => copyOf(risk.journal.filter((row) => row.id > after).slice(0, countMax))),
    entriesOfOrder: (orderId, countMax) =>
      ask(() => {
        const isOfOrder = ({ kind, orderId: of }: JournalRow): boolean =>
          of === orderId && (kind === "decision" || kind === "fill");
        return copyOf(risk.journal.filter(isOfOrder).slice(0, countMax));
      }),
    askers: (orderIds) =>
      ask(() => {
        const ofOrder = (orderId: string): readonly JournalRow[] => {
          const approved = risk.journal.filter((row) => row.orderId === orderId && row.approved === true);
          return approved.filter((row, index) => index === 0 || row === approved.at(-1));
        };
        const rows = orderIds.flatMap(ofOrder).sort((one, other) => (one.id < other.id ? -1 : 1));
        const asked = rows.map(({ orderId, at, payload }) => ({
          orderId,
          askedBy: DecisionRecord.decode(payload).asked_by ?? "",
          at,
        }));
        return firstOfEachAsker(asked);
      }),
    keysSince: (since, after, countMax) =>
      ask(() => {
        const found = risk.journal
          .filter((row) => row.id > after && row.at >= since && isFirstOfKey(row))
          .slice(0, countMax);
        const keys = found.map(({ keyHash, bodyHash, at }) => ({
          keyHash: keyHash?.slice() ?? new Uint8Array(),
          bodyHash: bodyHash?.slice() ?? new Uint8Array(),
          at,
        }));
        return { keys, next: found.length < countMax ? undefined : found.at(-1)?.id };
      }),
    decisionByKey: (keyHash, since) =>
      ask(() => {
        const found = risk.journal.filter(
          (row) => row.at >= since && isFirstOfKey(row) && row.keyHash !== undefined && isSame(row.keyHash, keyHash),
        );
        return found.sort((one, other) => one.at - other.at)[0]?.payload.slice();
      }),
    fillEntry: (fillId) => ask(() => risk.journal.find((row) => row.fillId === fillId)?.payload.slice()),
    knownFills: (fillIds) => ask(() => new Set(fillIds.filter((fillId) => risk.fills.has(fillId)))),
    envelopes: () =>
      ask(() =>
        [...risk.envelopes.values()].flatMap((versions) => {
          const newest = [...versions].sort((one, other) => one.version - other.version).at(-1);
          return newest === undefined ? [] : [copyOf(newest)];
        }),
      ),
    navs: () => ask(() => copyOf([...risk.navs.values()])),
    haltEpoch: () => ask(() => risk.haltEpoch),
    halts: () => ask(() => ({ epoch: risk.haltEpoch, active: copyOf(risk.halts) })),
  };
}
