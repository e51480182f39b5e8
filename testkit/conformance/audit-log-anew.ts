// Checks of logs that follow each other, and a fixture on which the whole suite runs with the second log: what is kept of the first must not show in it.
import { expect } from "vitest";
import { plusMilliseconds } from "../../contracts/src/instant.ts";
import type { ClosedLog } from "../../ports/audit-log.ts";
import {
  type AuditLogCheck,
  type AuditLogFixture,
  batch,
  bytesOf,
  entryTexts,
  hashOf,
  noHash,
  row,
  texts,
  timeOf,
} from "./audit-log-fixture.ts";
import { rejection } from "./waiting.ts";

const note = (size: number): string => `origin\n${size}\nroot\n\n— signature one\n`;
const old = (sequence: number) => ({ eventId: `old-${sequence}`, text: bytesOf(`old ${sequence}`) });
const oldCount = 7;

/** A log of some entries with a checkpoint and a tile, closed; the next one begins with so many of those that the suite knows. */
async function closeFirst(fixture: AuditLogFixture, count: number): Promise<ClosedLog> {
  const { audit } = fixture;
  const { writerEpoch } = await audit.takeWriterEpoch("before");
  await audit.append(batch(writerEpoch, 0, oldCount, old));
  await audit.putCheckpoint(writerEpoch, { size: 5, note: note(5), at: fixture.now() });
  await audit.putTiles([{ level: 0, index: 0, hashes: new Uint8Array(64).fill(9) }]);
  const { rows, head } = batch(writerEpoch, 0, count);
  await audit.beginAnew({ writerEpoch, rows, head, at: fixture.now() });
  const [closed] = await audit.closedLogs();
  if (closed === undefined) throw new Error("no log was closed");
  return closed;
}

/** The same fixture with its first log closed and its second empty. */
export async function onSecondLog(open: () => Promise<AuditLogFixture>): Promise<AuditLogFixture> {
  const fixture = await open();
  await closeFirst(fixture, 0);
  return { ...fixture, published: async () => (await fixture.published()).slice(oldCount) };
}

export const anewIsOneStep: AuditLogCheck = {
  promise: 8,
  sentence: "beginning anew closes the log and begins the next at once, and both are read as they were written",
  async run(fixture) {
    const before = fixture.now();
    const closed = await closeFirst(fixture, 2);
    const { audit } = fixture;
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
    expect((await fixture.published()).length).toBe(oldCount + 2);
  },
};

export const anewKeepsTheWriterEpoch: AuditLogCheck = {
  promise: 8,
  sentence:
    "only who has the writer epoch begins anew, an event of a closed log is refused in the next, and logs go on following each other",
  async run(fixture) {
    const closed = await closeFirst(fixture, 1);
    const other = await fixture.another();
    const taken = await other.takeWriterEpoch("two");
    expect(taken).toMatchObject({ number: 2, head: { size: 1, hash: hashOf(1) } });
    const stale = {
      writerEpoch: taken.writerEpoch - 1,
      rows: [row(0, { eventId: "late" })],
      head: batch(1, 0, 1).head,
      at: fixture.now(),
    };
    expect(await rejection(fixture.audit.beginAnew(stale), "a stale writer epoch")).toMatchObject({
      code: "STORE_CONFLICT",
    });
    expect(
      await rejection(fixture.audit.append(batch(taken.writerEpoch - 1, 1, 1)), "a stale writer epoch"),
    ).toMatchObject({
      code: "STORE_CONFLICT",
    });
    const again = other.append(batch(taken.writerEpoch, 1, 1, () => ({ eventId: "old-2" })));
    expect(await rejection(again, "an event of a closed log")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const { head } = batch(taken.writerEpoch, 0, 1);
    await other.append(batch(taken.writerEpoch, 1, 1));
    const third = {
      writerEpoch: taken.writerEpoch,
      rows: [row(0, { eventId: "event-100" })],
      head,
      at: plusMilliseconds(fixture.now(), 1),
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
    expect((await fixture.another().then((one) => one.head())).size).toBe(1);
    expect((await other.head()).hash).not.toBe(noHash);
  },
};

export const anewChecks: readonly AuditLogCheck[] = [anewIsOneStep, anewKeepsTheWriterEpoch];
