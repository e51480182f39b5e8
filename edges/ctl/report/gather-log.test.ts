// The last entry of the log at a moment: what a report of a past day names is what the log had then.
import { expect, it } from "vitest";
import { parse } from "../../../contracts/src/instant.ts";
import type { Client } from "../../client/src/types.ts";
import { lastEntryAt } from "./gather-log.ts";

const at = (second: number): string => `2026-11-18T12:00:${String(second).padStart(2, "0")}.000000Z`;

/** Two entries a second. */
function logOf(size: number): Client {
  const entry = (sequence: number) =>
    JSON.stringify({
      sequence,
      timestamp: at(Math.floor(sequence / 2)),
      action: "a",
      actor: "b",
      subject_id: "c",
      data: {},
    });
  const client = {
    getAuditStatus: async () => ({ size }),
    readAudit: async ({ fromSequence }: { readonly fromSequence: number }) => ({ texts: [entry(fromSequence)], size }),
  };
  return client as unknown as Client;
}

it.each([
  [0, undefined, null],
  [0, at(5), null],
  [40, undefined, 39],
  [40, at(5), 11],
  [40, "2026-11-18T12:00:05.000001Z", 11],
  [40, "2026-11-18T12:00:04.999999Z", 9],
  [40, "2026-11-18T11:59:59Z", null],
  [40, "2026-11-19T00:00:00Z", 39],
])("of %i entries, at %s, is %s", async (size, asOf, expected) => {
  expect(await lastEntryAt(logOf(size), asOf === undefined ? undefined : parse(asOf))).toBe(expected);
});
