// Checks of promises 1 to 4, 6 and 7: one writer, whole batches, no event twice, everything read back byte for byte, and every entry heard of.
import { expect } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import {
  type AuditLogCheck,
  batch,
  bytesOf,
  entryTexts,
  hashOf,
  noHash,
  row,
  texts,
  timeOf,
} from "./audit-log-fixture.ts";
import { eventually, rejection } from "./waiting.ts";

export const batchIsDurable: AuditLogCheck = {
  promise: 1,
  sentence:
    "a batch and its head are there when it resolves, for another process as well; an empty one changes nothing",
  async run(fixture) {
    expect(await fixture.audit.head()).toEqual({ size: 0, hash: noHash, timestamp: "" });
    const { writerEpoch, head } = await fixture.audit.takeWriterEpoch("one");
    expect(head).toEqual({ size: 0, hash: noHash, timestamp: "" });
    await fixture.audit.append(batch(writerEpoch, 0, 1));
    await fixture.audit.append(batch(writerEpoch, 1, 4));
    await fixture.audit.append(batch(writerEpoch, 5, 0));
    const other = await fixture.another();
    expect(await other.head()).toEqual({ size: 5, hash: hashOf(5), timestamp: timeOf(5) });
    expect(await texts(other)).toEqual(entryTexts(5));
    expect((await other.takeWriterEpoch("two")).head).toEqual({ size: 5, hash: hashOf(5), timestamp: timeOf(5) });
  },
};

export const batchIsWholeOrNothing: AuditLogCheck = {
  promise: 4,
  sentence: "a batch that brings an event again is refused whole, and the next one is taken",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    await fixture.audit.append(batch(writerEpoch, 0, 3));
    const again = batch(writerEpoch, 3, 3, (sequence) => (sequence === 4 ? { eventId: "event-1" } : {}));
    expect(await rejection(fixture.audit.append(again), "an event again")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const twice = batch(writerEpoch, 3, 3, () => ({ eventId: "event-x" }));
    expect(await rejection(fixture.audit.append(twice), "an event twice")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await fixture.audit.head()).toEqual({ size: 3, hash: hashOf(3), timestamp: timeOf(3) });
    expect(await texts(fixture.audit)).toEqual(entryTexts(3));
    await fixture.audit.append(batch(writerEpoch, 3, 3));
    expect(await texts(fixture.audit)).toEqual(entryTexts(6));
    expect(await fixture.audit.sequencesOf(["event-1", "event-x", "event-5"])).toEqual(
      new Map([
        ["event-1", 1],
        ["event-5", 5],
      ]),
    );
  },
};

export const foreseenIsNoPromise: AuditLogCheck = {
  promise: 1,
  sentence:
    "what was pre-encoded changes nothing: what is appended is what append is given, under its own writer epoch",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const [first, second] = [batch(writerEpoch, 0, 2), batch(writerEpoch, 2, 2)];
    fixture.audit.preEncode?.(first);
    expect(await fixture.audit.head()).toEqual({ size: 0, hash: noHash, timestamp: "" });
    await fixture.audit.append(first);
    // Another one of the same size in the same place, and one whose writer epoch has gone meanwhile.
    fixture.audit.preEncode?.(batch(writerEpoch, 2, 2, () => ({ text: bytesOf("pre-encoded") })));
    await fixture.audit.append(second);
    fixture.audit.preEncode?.(second);
    const third = batch(writerEpoch, 4, 1);
    fixture.audit.preEncode?.(third);
    const retaken = await fixture.audit.takeWriterEpoch("two");
    expect(await rejection(fixture.audit.append(third), "the writer epoch before")).toMatchObject({
      code: "STORE_CONFLICT",
    });
    fixture.audit.preEncode?.(third);
    await fixture.audit.append({ ...third, writerEpoch: retaken.writerEpoch });
    await fixture.audit.append(batch(retaken.writerEpoch, 5, 1));
    expect(await texts(fixture.audit)).toEqual(entryTexts(6));
  },
};

export const oneWriter: AuditLogCheck = {
  promise: 2,
  sentence: "only who took the writer epoch last can append or put a checkpoint; the one before is refused for good",
  async run(fixture) {
    const first = await fixture.audit.takeWriterEpoch("one");
    await fixture.audit.append(batch(first.writerEpoch, 0, 1));
    const other = await fixture.another();
    const second = await other.takeWriterEpoch("two");
    expect(second.writerEpoch).toBeGreaterThan(first.writerEpoch);
    const checkpoint = { size: 1, note: "text\n\nsignature\n", at: fixture.now() };
    for (const attempt of [
      () => fixture.audit.append(batch(first.writerEpoch, 1, 1)),
      () => fixture.audit.append(batch(first.writerEpoch, 1, 1)),
      () => fixture.audit.append(batch(second.writerEpoch + 1, 1, 1)),
      () => fixture.audit.putCheckpoint(first.writerEpoch, checkpoint),
    ]) {
      expect(await rejection(attempt(), "a stale writer epoch")).toMatchObject({
        code: "STORE_CONFLICT",
        retry: "never",
      });
    }
    expect(await fixture.audit.newestCheckpoint()).toBeUndefined();
    await other.append(batch(second.writerEpoch, 1, 1));
    await other.putCheckpoint(second.writerEpoch, checkpoint);
    expect(await texts(fixture.audit)).toEqual(entryTexts(2));
  },
};

export const beginsAtTheHead: AuditLogCheck = {
  promise: 2,
  sentence: "a batch that does not begin where the head is, is refused, and one that does not fit together is a defect",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    await fixture.audit.append(batch(writerEpoch, 0, 3));
    for (const after of [0, 2, 4]) {
      const refused = rejection(fixture.audit.append(batch(writerEpoch, after, 2, fresh)), `after ${after}`);
      expect(await refused).toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
    }
    const good = batch(writerEpoch, 3, 2);
    const gap = { ...good, rows: [row(3), row(5)] };
    const swapped = { ...good, rows: [row(4), row(3)] };
    const short = { ...good, head: { ...good.head, size: 4 } };
    for (const wrong of [gap, swapped, short]) {
      expect(await rejection(fixture.audit.append(wrong), "a batch that does not fit")).toBeInstanceOf(Defect);
    }
    await fixture.audit.append(good);
    expect(await texts(fixture.audit)).toEqual(entryTexts(5));
  },
};

const fresh = (sequence: number) => ({ eventId: `another-${sequence}` });

export const twoWriters: AuditLogCheck = {
  promise: 2,
  sentence:
    "of processes that take the writer epoch from each other all the time, none overwrites or forks what another appended",
  async run(fixture) {
    const other = await fixture.another();
    const written: string[] = [];
    const live = async (audit: AuditLog, name: string): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        const taken = await audit.takeWriterEpoch(name);
        let { size } = taken.head;
        for (let place = 0; place < 3; place += 1) {
          const text = `${taken.writerEpoch}.${place}`;
          const sent = batch(taken.writerEpoch, size, 1, () => ({ text: bytesOf(text), eventId: text }));
          const done = await audit.append(sent).then(
            () => true,
            (thrown: unknown) => thrown,
          );
          if (done !== true) {
            expect(done).toMatchObject({ code: "STORE_CONFLICT" });
            break;
          }
          written.push(text);
          size += 1;
        }
      }
    };
    await Promise.all([live(fixture.audit, "one"), live(other, "two")]);
    const found = await texts(fixture.audit);
    expect([...found].sort()).toEqual([...written].sort());
    expect((await fixture.audit.head()).size).toBe(found.length);
    // Later writer epochs write later: nobody's entry stands behind that of a successor.
    const writerEpochs = found.map((text) => Number(text.split(".")[0]));
    expect(writerEpochs).toEqual([...writerEpochs].sort((one, two) => one - two));
  },
};

export const lostAnswer: AuditLogCheck = {
  promise: 3,
  sentence:
    "a lost answer is STORE_COMMIT_UNKNOWN, and the head that comes with the writer epoch tells what became of the batch",
  async run(fixture) {
    let { writerEpoch, head } = await fixture.audit.takeWriterEpoch("one");
    for (const [place, outcome] of (["committed", "not committed", "committed"] as const).entries()) {
      const sent = batch(writerEpoch, head.size, 2);
      await fixture.loseNextAnswer(outcome);
      const fault = await rejection(fixture.audit.append(sent), "the lost answer");
      expect(fault, String(place)).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
      const before = head.size;
      const lost = sent;
      await eventually(fixture, "the writer epoch can be taken again", async () => {
        const taken = await fixture.audit.takeWriterEpoch("one").catch((thrown: unknown) => thrown);
        if (taken instanceof Error) return false;
        ({ writerEpoch, head } = taken as Awaited<ReturnType<AuditLog["takeWriterEpoch"]>>);
        return true;
      });
      expect(head.size).toBe(outcome === "committed" ? before + 2 : before);
      expect(head.hash).toBe(head.size === 0 ? noHash : hashOf(head.size));
      // What was still on its way finds its writer epoch out of force, whatever it was.
      let late: unknown;
      await eventually(fixture, "the late batch reaches the store", async () => {
        late = await rejection(fixture.audit.append(lost), "the late batch");
        return !(late instanceof Fault && /STORE_(UNAVAILABLE|COMMIT_UNKNOWN)/.test(late.code));
      });
      expect(late).toMatchObject({ code: "STORE_CONFLICT" });
    }
    await fixture.audit.append(batch(writerEpoch, head.size, 1));
    expect(await texts(fixture.audit)).toEqual(entryTexts(5));
  },
};

export const byteForByte: AuditLogCheck = {
  promise: 6,
  sentence: "entries are read back byte for byte, in order, in pages of any size, up to the largest",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const sizes = [1, 2, 255, 256, 2_000, 8_191, 65_535];
    // Characters of one, two and three bytes, and at the end as many of one byte as are missing.
    const textOf = (sequence: number) => {
      const length = sizes[sequence] ?? 1;
      let text = "";
      for (let place = 0, left = length; left > 0; place += 1) {
        const code = left < 3 ? 0x78 : ((sequence * 7 + place * 13) % 0x1000) + 1;
        text += String.fromCharCode(code);
        left -= code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
      }
      return bytesOf(text);
    };
    await fixture.audit.append(batch(writerEpoch, 0, 5, (sequence) => ({ text: textOf(sequence) })));
    await fixture.audit.append(batch(writerEpoch, 5, 2, (sequence) => ({ text: textOf(sequence) })));
    for (const page of [1, 3, 7, 100]) {
      const found: Uint8Array[] = [];
      while (found.length < sizes.length)
        found.push(...(await fixture.audit.read(found.length, page)).map(({ text }) => text));
      expect(found.map((text) => Buffer.from(text).toString("hex"))).toEqual(
        sizes.map((_size, sequence) => Buffer.from(textOf(sequence)).toString("hex")),
      );
    }
    expect(await fixture.audit.read(7, 10)).toEqual([]);
    expect((await fixture.audit.read(6, 10)).map(({ sequence }) => sequence)).toEqual([6]);
  },
};

export const laterChangesDoNotMatter: AuditLogCheck = {
  promise: 6,
  sentence: "what a caller does to the bytes it handed over or was given changes nothing in the log",
  async run(fixture) {
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    const mine = bytesOf("entry 0");
    const appending = fixture.audit.append(batch(writerEpoch, 0, 1, () => ({ text: mine })));
    mine.fill(0x78);
    await appending;
    (await fixture.audit.read(0, 1))[0]?.text.fill(0x79);
    expect(await texts(fixture.audit)).toEqual(["entry 0"]);
  },
};

export const everyEntryIsHeardOf: AuditLogCheck = {
  promise: 7,
  sentence:
    "an append publishes each of its entries once, in the order of the log; what was refused or lost is not heard of",
  async run(fixture) {
    const first = await fixture.audit.takeWriterEpoch("one");
    await fixture.audit.append(batch(first.writerEpoch, 0, 1));
    await fixture.audit.append(batch(first.writerEpoch, 1, 3, (sequence) => ({ text: bytesOf(`größer ${sequence}`) })));
    const again = batch(first.writerEpoch, 4, 2, () => ({ eventId: "event-1" }));
    await rejection(fixture.audit.append(again), "an event again");
    await rejection(fixture.audit.append(batch(first.writerEpoch, 3, 2, fresh)), "another head");
    await rejection(fixture.audit.append(batch(first.writerEpoch + 1, 4, 2)), "another writer epoch");
    await fixture.loseNextAnswer("not committed");
    await rejection(fixture.audit.append(batch(first.writerEpoch, 4, 2)), "the lost answer");
    let writerEpoch = 0;
    await eventually(fixture, "the writer epoch can be taken again", async () => {
      const taken = await fixture.audit.takeWriterEpoch("two").catch((thrown: unknown) => thrown);
      if (taken instanceof Error) return false;
      ({ writerEpoch } = taken as { writerEpoch: number });
      return true;
    });
    await fixture.audit.append(batch(writerEpoch, 4, 2));
    const published = await fixture.published();
    expect(published.map(({ payload }) => payload)).toEqual([
      "entry 0",
      ...[1, 2, 3].map((sequence) => `größer ${sequence}`),
      "entry 4",
      "entry 5",
    ]);
    expect(new Set(published.map(({ id }) => id)).size).toBe(6);
    expect(published.map(({ at }) => format(at))).toEqual([1, 2, 3, 4, 5, 6].map(timeOf));
    for (const { key, source, id } of published) {
      expect({ key, source }).toEqual({ key: "audit", source: "operations" });
      expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    }
  },
};

export const followersHearOfAppends: AuditLogCheck = {
  promise: 0,
  sentence: "a follower of the log is told after an append, here and elsewhere, until it stops",
  async run(fixture) {
    const other = await fixture.another();
    const told = { here: 0, there: 0, stopped: 0 };
    fixture.audit.onAppend(() => {
      told.here += 1;
    });
    other.onAppend(() => {
      told.there += 1;
    });
    fixture.audit.onAppend(() => {
      told.stopped += 1;
    })();
    const { writerEpoch } = await fixture.audit.takeWriterEpoch("one");
    let size = 0;
    // A connection that listens may still be under way: a follower that was not told of this append is told of the next.
    await eventually(fixture, "both followers are told", async () => {
      await fixture.audit.append(batch(writerEpoch, size, 1));
      size += 1;
      return told.here > 0 && told.there > 0;
    });
    expect(told.stopped).toBe(0);
  },
};

export const appendChecks: readonly AuditLogCheck[] = [
  batchIsDurable,
  batchIsWholeOrNothing,
  foreseenIsNoPromise,
  oneWriter,
  beginsAtTheHead,
  twoWriters,
  lostAnswer,
  byteForByte,
  laterChangesDoNotMatter,
  everyEntryIsHeardOf,
  followersHearOfAppends,
];
