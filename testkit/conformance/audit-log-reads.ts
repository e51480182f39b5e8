// Checks of what is kept beside the entries: the index by event and subject, checkpoints that only gain signatures, and tiles.
import { expect } from "vitest";
import { parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { type AuditLogCheck, batch, bytesOf, timeOf } from "./audit-log-fixture.ts";
import { rejection } from "./waiting.ts";

export const bySubject: AuditLogCheck = {
  promise: 0,
  sentence:
    "a subject's entries are found in order and in pages, and its newest one, among subjects with similar names",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const names = ["b", "a", "b", "ab", "b", "a\0", "b ", "B", "b"];
    await fixture.audit.append(
      batch(writerEpoch, 0, names.length, (sequence) => ({ subjectId: names[sequence] ?? "" })),
    );
    const pages = async (subjectId: string, from: number, page: number) => {
      const found: number[] = [];
      for (let next = from; ; ) {
        const rows = await fixture.audit.readSubject(subjectId, next, page);
        for (const one of rows) {
          expect(one.subjectId).toBe(subjectId);
          expect(Buffer.compare(one.text, bytesOf(`entry ${one.sequence}`))).toBe(0);
          found.push(one.sequence);
        }
        if (rows.length < page) return found;
        next = (found.at(-1) ?? 0) + 1;
      }
    };
    for (const page of [1, 2, 100]) {
      expect(await pages("b", 0, page)).toEqual([0, 2, 4, 8]);
      expect(await pages("b", 3, page)).toEqual([4, 8]);
      expect(await pages("b", 9, page)).toEqual([]);
      expect(await pages("a", 0, page)).toEqual([1]);
      expect(await pages("nobody", 0, page)).toEqual([]);
    }
    expect(await fixture.audit.newestOf(["b", "a", "nobody", "b", "ab", "a\0", "", "zz"])).toEqual(
      new Map([
        ["b", 8],
        ["a", 1],
        ["ab", 3],
        ["a\0", 5],
      ]),
    );
    expect(await fixture.audit.newestOf([])).toEqual(new Map());
    expect(await fixture.audit.sequencesOf([])).toEqual(new Map());
  },
};

export const anyIds: AuditLogCheck = {
  promise: 4,
  sentence: "ids of any characters are kept exactly, those that differ stay different, and too long ones are refused",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const odd = ["a\0b", "ab", "\ud800", "\udfff", "\u007f0000", "\0", "größer\n", "NULL", '"\\,{}', "\u{1f600}"];
    const long = ["\0".repeat(512), "x".repeat(512), `${"x".repeat(511)}y`, "€".repeat(512), "\ud800".repeat(512)];
    const ids = [...odd, ...long];
    await fixture.audit.append(
      batch(writerEpoch, 0, ids.length, (sequence) => ({
        eventId: ids[sequence] ?? "",
        subjectId: ids[sequence] ?? "",
        action: ids[sequence] ?? "",
      })),
    );
    expect(await fixture.audit.readIndex(0, 100)).toEqual(
      ids.map((id, sequence) => {
        const at = parse(timeOf(sequence + 1));
        return { sequence, eventId: id, subjectId: id, action: id, at };
      }),
    );
    expect((await fixture.audit.readIndex(3, 2)).map(({ sequence }) => sequence)).toEqual([3, 4]);
    const expected = new Map(ids.map((id, sequence) => [id, sequence]));
    expect(await fixture.audit.sequencesOf([...ids, "other"])).toEqual(expected);
    expect(await fixture.audit.newestOf([...ids, "other"])).toEqual(expected);
    const tooLong = batch(writerEpoch, ids.length, 1, () => ({ eventId: "x".repeat(513) }));
    expect(await rejection(fixture.audit.append(tooLong), "too long")).toMatchObject({ code: "INVALID_ARGUMENT" });
  },
};

export const counted: AuditLogCheck = {
  promise: 0,
  sentence: "the rows of any range are counted, and past the end there are none",
  async run(fixture) {
    expect(await fixture.audit.count(0, Number.MAX_SAFE_INTEGER)).toBe(0);
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    await fixture.audit.append(batch(writerEpoch, 0, 7));
    const ranges = [
      ...[[0, 7] as const, [0, Number.MAX_SAFE_INTEGER] as const, [2, 5] as const],
      ...[[6, 7] as const, [5, 5] as const, [7, Number.MAX_SAFE_INTEGER] as const],
    ];
    const counts = await Promise.all(ranges.map(([from, end]) => fixture.audit.count(from, end)));
    expect(counts).toEqual([7, 7, 3, 1, 0, 0]);
  },
};

const text = "origin\n5\nroot=\n";
const note = (...signatures: readonly string[]) => `${text}\n${signatures.map((one) => `— ${one}\n`).join("")}`;

export const checkpointsGain: AuditLogCheck = {
  promise: 5,
  sentence: "a checkpoint's note gains signatures and nothing else: no other text, and none of them is lost",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const at = fixture.now();
    const put = (content: string) =>
      fixture.audit.putCheckpoint(writerEpoch, { size: 5, note: content, at: plusMilliseconds(at, content.length) });
    await fixture.audit.putCheckpoint(writerEpoch, { size: 5, note: note("log a"), at });
    await put(note("log a"));
    await put(note("log a", "witness b"));
    await put(note("log a", "witness c", "witness b"));
    for (const wrong of [
      note("log a"),
      note("log a", "witness b"),
      note("log a", "witness b", "witness d"),
      note("log a", "witness c", "witness b").replace("root=", "toor="),
      note("log a", "witness c", "witness b").replace("\n5\n", "\n6\n"),
      `${text}extra\n\n— log a\n— witness c\n— witness b\n`,
      "no empty line\n",
      "\n\n— log a\n",
      "",
    ]) {
      expect(await rejection(put(wrong), wrong), wrong).toMatchObject({ code: "INVALID_ARGUMENT" });
    }
    expect(await fixture.audit.newestCheckpoint()).toEqual({
      size: 5,
      note: note("log a", "witness c", "witness b"),
      at,
    });
  },
};

export const checkpointsInOrder: AuditLogCheck = {
  promise: 0,
  sentence: "checkpoints are read in the order of their sizes, and the newest is the largest",
  async run(fixture) {
    expect(await fixture.audit.newestCheckpoint()).toBeUndefined();
    expect(await fixture.audit.checkpoints(0, 10)).toEqual([]);
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const at = fixture.now();
    for (const size of [100, 5, 1_000, 20])
      await fixture.audit.putCheckpoint(writerEpoch, { size, note: `${size}\n\ns\n`, at });
    const other = await fixture.another();
    const sizes = async (from: number, count: number) =>
      (await other.checkpoints(from, count)).map((checkpoint) => {
        expect(checkpoint).toEqual({ size: checkpoint.size, note: `${checkpoint.size}\n\ns\n`, at });
        return checkpoint.size;
      });
    expect(await sizes(0, 10)).toEqual([5, 20, 100, 1_000]);
    expect(await sizes(6, 2)).toEqual([20, 100]);
    expect(await sizes(1_001, 10)).toEqual([]);
    expect((await other.newestCheckpoint())?.size).toBe(1_000);
  },
};

export const tilesAreKept: AuditLogCheck = {
  promise: 0,
  sentence: "a tile is written anew by one as wide or wider, and not by a narrower one, also within one call",
  async run(fixture) {
    const hashes = (width: number, fill: number) => new Uint8Array(width * 32).fill(fill);
    const tile = (level: number, index: number, width: number, fill: number) => ({
      level,
      index,
      hashes: hashes(width, fill),
    });
    const stored = async (level: number, index: number) => {
      const found = await fixture.audit.readTile(level, index);
      return found === undefined ? undefined : [found.length / 32, found[0], new Set(found).size];
    };
    expect(await stored(0, 0)).toBeUndefined();
    await fixture.audit.putTiles([]);
    await fixture.audit.putTiles([tile(0, 0, 3, 1), tile(0, 1, 256, 2), tile(1, 0, 1, 3), tile(0, 0, 5, 4)]);
    expect(await stored(0, 0)).toEqual([5, 4, 1]);
    expect(await stored(0, 1)).toEqual([256, 2, 1]);
    expect(await stored(1, 0)).toEqual([1, 3, 1]);
    expect(await stored(1, 1)).toBeUndefined();
    await fixture.audit.putTiles([tile(0, 0, 4, 5), tile(0, 1, 256, 6)]);
    expect(await stored(0, 0)).toEqual([5, 4, 1]);
    expect(await stored(0, 1)).toEqual([256, 6, 1]);
    await fixture.audit.putTiles(Array.from({ length: 300 }, (_unused, index) => tile(2, index, 1, index % 256)));
    const other = await fixture.another();
    expect((await other.readTile(2, 299))?.[0]).toBe(299 % 256);
    const places = [
      [2, 7],
      [0, 1],
      [1, 1],
      [0, 0],
      [2, 7],
    ].map(([level = 0, index = 0]) => ({ level, index }));
    const several = await other.readTiles(places);
    expect(several.map((found) => found && [found.length / 32, found[0]])).toEqual([
      ...[[1, 7], [256, 6], undefined, [5, 4], [1, 7]],
    ]);
    expect(await other.readTiles([])).toEqual([]);
  },
};

const uuidOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** As the format writes it, with members of the data that name the event. */
function entryText(sequence: number, subjectId: string, action: string): Uint8Array {
  const head = `{"action":${JSON.stringify(action)},"actor":"service:oms","data":{"event_id":"${uuidOf(sequence)}"}`;
  const tail = `"sequence":${sequence},"subject_id":${JSON.stringify(subjectId)},"timestamp":"${timeOf(sequence + 1)}"}`;
  return bytesOf(`${head},${tail}`);
}

export const indexIsPutRight: AuditLogCheck = {
  promise: 5,
  sentence:
    "what stands beside an entry can be put right, only to what its text says, and only by who has the writer epoch",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const subjectIds = ["plain", 'größer "x"\\n', "zero \0 and \u007f", "d"];
    // Rows of another subject, action and time than their texts say; the first two have each other's event.
    const lie = (sequence: number) => ({
      eventId: uuidOf(sequence < 2 ? 1 - sequence : sequence),
      subjectId: "somebody else",
      action: "x.y",
      text: entryText(sequence, subjectIds[sequence] ?? "", "order.decided"),
      timestamp: timeOf(99),
    });
    await fixture.audit.append(batch(writerEpoch, 0, 4, lie));
    const right = subjectIds.map((subjectId, sequence) => ({
      sequence,
      eventId: uuidOf(sequence),
      subjectId,
      action: "order.decided",
    }));
    expect(await rejection(fixture.audit.repairIndex(writerEpoch + 1, right), "another writer epoch")).toMatchObject({
      code: "STORE_CONFLICT",
    });
    const lies = right.flatMap((row) => [
      ...[
        { ...row, subjectId: "nobody" },
        { ...row, action: "order.made" },
        { ...row, eventId: uuidOf(77) },
      ],
      ...[
        { ...row, sequence: 4 },
        { ...row, subjectId: row.subjectId.slice(1) },
      ],
    ]);
    for (const wrong of lies)
      expect(await fixture.audit.repairIndex(writerEpoch, [wrong]), JSON.stringify(wrong)).toBe(0);
    expect(await fixture.audit.repairIndex(writerEpoch, [])).toBe(0);
    expect(await fixture.audit.repairIndex(writerEpoch, right)).toBe(4);
    expect(await fixture.audit.readIndex(0, 10)).toEqual(
      right.map((row) => ({ ...row, at: parse(timeOf(row.sequence + 1)) })),
    );
    for (const { sequence, subjectId, eventId } of right) {
      expect((await fixture.audit.readSubject(subjectId, 0, 9)).map((row) => row.sequence)).toEqual([sequence]);
      expect(await fixture.audit.sequencesOf([eventId])).toEqual(new Map([[eventId, sequence]]));
    }
    expect((await fixture.audit.read(0, 9)).map(({ text: kept }) => Buffer.from(kept).toString())).toEqual(
      subjectIds.map((subjectId, at) => Buffer.from(entryText(at, subjectId, "order.decided")).toString()),
    );
  },
};

export const keyChangesAreFound: AuditLogCheck = {
  promise: 0,
  sentence: "entries that change a key are found by their action, in order and from a sequence on",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const actions = ["a.b", "key.rotated", "key.destroyed", "key.revoked", "key.rotated"];
    await fixture.audit.append(batch(writerEpoch, 0, 5, (sequence) => ({ action: actions[sequence] ?? "" })));
    const found = async (from: number, count: number) =>
      (await fixture.audit.readKeyChanges(from, count)).map((row) => [row.sequence, Buffer.from(row.text).toString()]);
    expect(await found(0, 9)).toEqual([1, 3, 4].map((sequence) => [sequence, `entry ${sequence}`]));
    expect(await found(2, 1)).toEqual([[3, "entry 3"]]);
    expect(await found(5, 9)).toEqual([]);
  },
};

export const alarmsAreFound: AuditLogCheck = {
  promise: 0,
  sentence: "entries of alarms are found by their action, newest first and from before a sequence on",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const actions = ["alarm.raised", "a.b", "alarm.raised", "alarm.raised.not", "alarm.raised"];
    await fixture.audit.append(batch(writerEpoch, 0, 5, (sequence) => ({ action: actions[sequence] ?? "" })));
    const found = async (before: number, count: number) =>
      (await fixture.audit.readAlarms(before, count)).map((row) => [row.sequence, Buffer.from(row.text).toString()]);
    expect(await found(Number.MAX_SAFE_INTEGER, 9)).toEqual([4, 2, 0].map((at) => [at, `entry ${at}`]));
    expect(await found(4, 1)).toEqual([[2, "entry 2"]]);
    expect(await found(0, 9)).toEqual([]);
  },
};

export const tilesAreReplaced: AuditLogCheck = {
  promise: 0,
  sentence: "a tile is replaced by a narrower one when it is still what was read",
  async run(fixture) {
    const tile = (width: number, fill: number) => ({
      level: 0,
      index: 0,
      hashes: new Uint8Array(width * 32).fill(fill),
    });
    expect(await fixture.audit.replaceTile(tile(2, 1), tile(3, 1).hashes)).toBe(false);
    expect(await fixture.audit.readTile(0, 0)).toBeUndefined();
    await fixture.audit.putTiles([tile(5, 1)]);
    for (const other of [tile(4, 1), tile(5, 2), tile(6, 1)]) {
      expect(await fixture.audit.replaceTile(tile(2, 3), other.hashes)).toBe(false);
    }
    expect(await fixture.audit.replaceTile(tile(2, 3), tile(5, 1).hashes)).toBe(true);
    expect(Buffer.from((await fixture.audit.readTile(0, 0)) ?? [])).toEqual(Buffer.from(tile(2, 3).hashes));
  },
};

export const readChecks: readonly AuditLogCheck[] = [
  bySubject,
  anyIds,
  counted,
  checkpointsGain,
  checkpointsInOrder,
  tilesAreKept,
  indexIsPutRight,
  keyChangesAreFound,
  alarmsAreFound,
  tilesAreReplaced,
];
