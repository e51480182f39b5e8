// Checks of logs that follow each other, and a rig on which the whole suite runs with the second log: what is kept of the first must not show in it.
import { expect } from "vitest";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type { ClosedLog } from "../../ports/audit-log.ts";
import {
  type AuditLogCheck,
  type AuditLogRig,
  batch,
  bytesOf,
  entryTexts,
  hashOf,
  noHash,
  row,
  texts,
  timeOf,
} from "./audit-log-rig.ts";
import { rejection } from "./waiting.ts";

const note = (size: number): string => `origin\n${size}\nroot\n\n— signature one\n`;
const old = (sequence: number) => ({ eventId: `old-${sequence}`, text: bytesOf(`old ${sequence}`) });
const oldCount = 7;

/** A log of some entries with a checkpoint and a tile, closed; the next one begins with so many of those that the suite knows. */
async function closeFirst(rig: AuditLogRig, count: number): Promise<ClosedLog> {
  const { audit } = rig;
  const { pen } = await audit.takePen("before");
  await audit.append(batch(pen, 0, oldCount, old));
  await audit.putCheckpoint(pen, { size: 5, note: note(5), at: rig.now() });
  await audit.putTiles([{ level: 0, index: 0, hashes: new Uint8Array(64).fill(9) }]);
  const { rows, head } = batch(pen, 0, count);
  await audit.beginAnew({ pen, rows, head, at: rig.now() });
  const [closed] = await audit.closedLogs();
  if (closed === undefined) throw new Error("no log was closed");
  return closed;
}

/** The same rig with its first log closed and its second empty. */
export async function onSecondLog(open: () => Promise<AuditLogRig>): Promise<AuditLogRig> {
  const rig = await open();
  await closeFirst(rig, 0);
  return { ...rig, published: async () => (await rig.published()).slice(oldCount) };
}

export const anewIsOneStep: AuditLogCheck = {
  promise: 8,
  sentence: "beginning anew closes the log and begins the next at once, and both are read as they were written",
  async run(rig) {
    const before = rig.now();
    const closed = await closeFirst(rig, 2);
    const { audit } = rig;
    expect(closed).toMatchObject({ number: 1, head: { size: oldCount, hash: hashOf(oldCount) } });
    expect(closed.at).toBeGreaterThanOrEqual(before);
    expect(await audit.head()).toEqual({ size: 2, hash: hashOf(2), timestamp: timeOf(2) });
    expect(await texts(audit, 1)).toEqual(entryTexts(2));
    expect(await audit.newestCheckpoint()).toBeUndefined();
    expect(await audit.checkpoints(0, 10)).toEqual([]);
    expect(await audit.readTile(0, 0)).toBeUndefined();
    expect(await audit.count(0, 100)).toBe(2);
    const found = await audit.sequencesOf(["event-1", "old-3", "nobody"]);
    expect([...found.keys()].sort()).toEqual(["event-1", "old-3"]);
    expect(found.get("event-1")).toBe(1);
    expect(found.get("old-3")).toBeLessThan(0);
    const [standing] = await audit.read(found.get("old-3") ?? 0, 1);
    expect(Buffer.compare(standing?.text ?? new Uint8Array(), bytesOf("old 3"))).toBe(0);
    expect(await audit.newestOf(["subject-0", "subject-2"])).toEqual(new Map([["subject-0", 0]]));
    const was = audit.closed(closed);
    expect(await was.head()).toEqual(closed.head);
    expect((await was.read(0, 100)).map(({ sequence, text }) => [sequence, Buffer.from(text).toString()])).toEqual(
      Array.from({ length: oldCount }, (_unused, at) => [at, `old ${at}`]),
    );
    expect((await was.readSubject("subject-0", 1, 100)).map(({ sequence }) => sequence)).toEqual([3, 6]);
    expect((await was.readIndex(5, 100)).map(({ sequence, eventId }) => [sequence, eventId])).toEqual([
      [5, "old-5"],
      [6, "old-6"],
    ]);
    expect(await was.count(0, 100)).toBe(oldCount);
    expect(await was.newestCheckpoint()).toMatchObject({ size: 5, note: note(5) });
    expect((await was.checkpoints(0, 10)).map(({ size }) => size)).toEqual([5]);
    const [tile] = await was.readTiles([{ level: 0, index: 0 }]);
    expect(Buffer.compare(tile ?? new Uint8Array(), new Uint8Array(64).fill(9))).toBe(0);
    expect((await rig.published()).length).toBe(oldCount + 2);
  },
};

export const anewKeepsThePen: AuditLogCheck = {
  promise: 8,
  sentence:
    "only who has the pen begins anew, an event of a closed log is refused in the next, and logs go on following each other",
  async run(rig) {
    const closed = await closeFirst(rig, 1);
    const other = await rig.another();
    const taken = await other.takePen("two");
    expect(taken).toMatchObject({ number: 2, head: { size: 1, hash: hashOf(1) } });
    const stale = { pen: taken.pen - 1, rows: [row(0, { eventId: "late" })], head: batch(1, 0, 1).head, at: rig.now() };
    expect(await rejection(rig.audit.beginAnew(stale), "a stale pen")).toMatchObject({ code: "STORE_CONFLICT" });
    expect(await rejection(rig.audit.append(batch(taken.pen - 1, 1, 1)), "a stale pen")).toMatchObject({
      code: "STORE_CONFLICT",
    });
    const again = other.append(batch(taken.pen, 1, 1, () => ({ eventId: "old-2" })));
    expect(await rejection(again, "an event of a closed log")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const { head } = batch(taken.pen, 0, 1);
    await other.append(batch(taken.pen, 1, 1));
    const third = {
      pen: taken.pen,
      rows: [row(0, { eventId: "event-100" })],
      head,
      at: plusMilliseconds(rig.now(), 1),
    };
    const twice = { ...third, rows: [row(0, { eventId: "event-0" })] };
    expect(await rejection(other.beginAnew(twice), "an event of a closed log")).toMatchObject({
      code: "INVALID_ARGUMENT",
    });
    expect((await other.closedLogs()).length).toBe(1);
    await other.beginAnew(third);
    expect((await other.closedLogs()).map(({ number, head: { size } }) => [number, size])).toEqual([
      [1, oldCount],
      [2, 2],
    ]);
    expect(await texts(other)).toEqual(["entry 0"]);
    expect((await other.closed(closed).head()).size).toBe(oldCount);
    expect((await rig.another().then((one) => one.head())).size).toBe(1);
    expect((await other.head()).hash).not.toBe(noHash);
  },
};

export const anewChecks: readonly AuditLogCheck[] = [anewIsOneStep, anewKeepsThePen];
