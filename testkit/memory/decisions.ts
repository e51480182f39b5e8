// Decisions in the memory store: expanded when they are appended, because its log holds what is heard, in the order in which it is.
import { type DecisionRow, expandedDecision } from "../../adapters/transport/decision-messages.ts";
import type { MemoryTables } from "./tables.ts";

/** Appends every message of these decisions in one step, as one commit does. */
export function appendDecisions(tables: MemoryTables, rows: readonly DecisionRow[]): void {
  const text = new TextEncoder();
  tables.append(
    rows.flatMap((row) =>
      expandedDecision(row).map(({ id, subject, key, at, source, payload }) => {
        // A poisoned one keeps its bytes, which are no JSON: whoever reads it parks it.
        return { id, subject, key, at, source, bytes: text.encode(payload), sequence: tables.nextSequence() };
      }),
    ),
  );
}
