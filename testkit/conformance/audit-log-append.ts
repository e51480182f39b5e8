// Checks of promises 1 to 4, 6 and 7: one writer, whole batches, no event twice, everything read back byte for byte, and every entry heard of.
import { expect } from "vitest";
import { Defect, Fault } from "../../contracts/src/fault.ts";
import { format } from "../../contracts/src/instant.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import { type AuditLogCheck, batch, bytesOf, entryTexts, hashOf, noHash, row, texts, timeOf } from "./audit-log-rig.ts";
import { eventually, rejection } from "./waiting.ts";

export const batchIsDurable: AuditLogCheck = {
  promise: 1,
  sentence:
    "a batch and its head are there when it resolves, for another process as well; an empty one changes nothing",
  async run(rig) {
    expect(await rig.audit.head()).toEqual({ size: 0, hash: noHash, timestamp: "" });
    const { pen, head } = await rig.audit.takePen("one");
    expect(head).toEqual({ size: 0, hash: noHash, timestamp: "" });
    await rig.audit.append(batch(pen, 0, 1));
    await rig.audit.append(batch(pen, 1, 4));
    await rig.audit.append(batch(pen, 5, 0));
    const other = await rig.another();
    expect(await other.head()).toEqual({ size: 5, hash: hashOf(5), timestamp: timeOf(5) });
    expect(await texts(other)).toEqual(entryTexts(5));
    expect((await other.takePen("two")).head).toEqual({ size: 5, hash: hashOf(5), timestamp: timeOf(5) });
  },
};

export const batchIsWholeOrNothing: AuditLogCheck = {
  promise: 4,
  sentence: "a batch that brings an event again is refused whole, and the next one is taken",
  async run(rig) {
    const { pen } = await rig.audit.takePen("one");
    await rig.audit.append(batch(pen, 0, 3));
    const again = batch(pen, 3, 3, (sequence) => (sequence === 4 ? { eventId: "event-1" } : {}));
    expect(await rejection(rig.audit.append(again), "an event again")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const twice = batch(pen, 3, 3, () => ({ eventId: "event-x" }));
    expect(await rejection(rig.audit.append(twice), "an event twice")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await rig.audit.head()).toEqual({ size: 3, hash: hashOf(3), timestamp: timeOf(3) });
    expect(await texts(rig.audit)).toEqual(entryTexts(3));
    await rig.audit.append(batch(pen, 3, 3));
    expect(await texts(rig.audit)).toEqual(entryTexts(6));
    expect(await rig.audit.sequencesOf(["event-1", "event-x", "event-5"])).toEqual(
      new Map([
        ["event-1", 1],
        ["event-5", 5],
      ]),
    );
  },
};

export const foreseenIsNoPromise: AuditLogCheck = {
  promise: 1,
  sentence: "what was foreseen changes nothing: what is appended is what append is given, under its own pen",
  async run(rig) {
    const { pen } = await rig.audit.takePen("one");
    const [first, second] = [batch(pen, 0, 2), batch(pen, 2, 2)];
    rig.audit.foresee?.(first);
    expect(await rig.audit.head()).toEqual({ size: 0, hash: noHash, timestamp: "" });
    await rig.audit.append(first);
    // Another one of the same size in the same place, and one whose pen has gone meanwhile.
    rig.audit.foresee?.(batch(pen, 2, 2, () => ({ text: bytesOf("foreseen") })));
    await rig.audit.append(second);
    rig.audit.foresee?.(second);
    const third = batch(pen, 4, 1);
    rig.audit.foresee?.(third);
    const retaken = await rig.audit.takePen("two");
    expect(await rejection(rig.audit.append(third), "the pen before")).toMatchObject({ code: "STORE_CONFLICT" });
    rig.audit.foresee?.(third);
    await rig.audit.append({ ...third, pen: retaken.pen });
    await rig.audit.append(batch(retaken.pen, 5, 1));
    expect(await texts(rig.audit)).toEqual(entryTexts(6));
  },
};

export const onePen: AuditLogCheck = {
  promise: 2,
  sentence: "only who took the pen last can append or put a checkpoint; the one before is refused for good",
  async run(rig) {
    const first = await rig.audit.takePen("one");
    await rig.audit.append(batch(first.pen, 0, 1));
    const other = await rig.another();
    const second = await other.takePen("two");
    expect(second.pen).toBeGreaterThan(first.pen);
    const checkpoint = { size: 1, note: "text\n\nsignature\n", at: rig.now() };
    for (const attempt of [
      () => rig.audit.append(batch(first.pen, 1, 1)),
      () => rig.audit.append(batch(first.pen, 1, 1)),
      () => rig.audit.append(batch(second.pen + 1, 1, 1)),
      () => rig.audit.putCheckpoint(first.pen, checkpoint),
    ]) {
      expect(await rejection(attempt(), "a stale pen")).toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
    }
    expect(await rig.audit.newestCheckpoint()).toBeUndefined();
    await other.append(batch(second.pen, 1, 1));
    await other.putCheckpoint(second.pen, checkpoint);
    expect(await texts(rig.audit)).toEqual(entryTexts(2));
  },
};

export const beginsAtTheHead: AuditLogCheck = {
  promise: 2,
  sentence: "a batch that does not begin where the head is, is refused, and one that does not fit together is a defect",
  async run(rig) {
    const { pen } = await rig.audit.takePen("one");
    await rig.audit.append(batch(pen, 0, 3));
    for (const after of [0, 2, 4]) {
      const refused = rejection(rig.audit.append(batch(pen, after, 2, fresh)), `after ${after}`);
      expect(await refused).toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
    }
    const good = batch(pen, 3, 2);
    const gap = { ...good, rows: [row(3), row(5)] };
    const swapped = { ...good, rows: [row(4), row(3)] };
    const short = { ...good, head: { ...good.head, size: 4 } };
    for (const wrong of [gap, swapped, short]) {
      expect(await rejection(rig.audit.append(wrong), "a batch that does not fit")).toBeInstanceOf(Defect);
    }
    await rig.audit.append(good);
    expect(await texts(rig.audit)).toEqual(entryTexts(5));
  },
};

const fresh = (sequence: number) => ({ eventId: `another-${sequence}` });

export const twoWriters: AuditLogCheck = {
  promise: 2,
  sentence:
    "of processes that take the pen from each other all the time, none overwrites or forks what another appended",
  async run(rig) {
    const other = await rig.another();
    const written: string[] = [];
    const live = async (audit: AuditLog, name: string): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        const taken = await audit.takePen(name);
        let { size } = taken.head;
        for (let place = 0; place < 3; place += 1) {
          const text = `${taken.pen}.${place}`;
          const sent = batch(taken.pen, size, 1, () => ({ text: bytesOf(text), eventId: text }));
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
    await Promise.all([live(rig.audit, "one"), live(other, "two")]);
    const found = await texts(rig.audit);
    expect([...found].sort()).toEqual([...written].sort());
    expect((await rig.audit.head()).size).toBe(found.length);
    // Later pens write later: nobody's entry stands behind that of a successor.
    const pens = found.map((text) => Number(text.split(".")[0]));
    expect(pens).toEqual([...pens].sort((one, two) => one - two));
  },
};

export const lostAnswer: AuditLogCheck = {
  promise: 3,
  sentence:
    "a lost answer is STORE_COMMIT_UNKNOWN, and the head that comes with the pen tells what became of the batch",
  async run(rig) {
    let { pen, head } = await rig.audit.takePen("one");
    for (const [place, outcome] of (["committed", "not committed", "committed"] as const).entries()) {
      const sent = batch(pen, head.size, 2);
      await rig.loseNextAnswer(outcome);
      const fault = await rejection(rig.audit.append(sent), "the lost answer");
      expect(fault, String(place)).toMatchObject({ code: "STORE_COMMIT_UNKNOWN" });
      const before = head.size;
      const lost = sent;
      await eventually(rig, "the pen can be taken again", async () => {
        const taken = await rig.audit.takePen("one").catch((thrown: unknown) => thrown);
        if (taken instanceof Error) return false;
        ({ pen, head } = taken as Awaited<ReturnType<AuditLog["takePen"]>>);
        return true;
      });
      expect(head.size).toBe(outcome === "committed" ? before + 2 : before);
      expect(head.hash).toBe(head.size === 0 ? noHash : hashOf(head.size));
      // What was still on its way finds its pen out of force, whatever it was.
      let late: unknown;
      await eventually(rig, "the late batch reaches the store", async () => {
        late = await rejection(rig.audit.append(lost), "the late batch");
        return !(late instanceof Fault && /STORE_(UNAVAILABLE|COMMIT_UNKNOWN)/.test(late.code));
      });
      expect(late).toMatchObject({ code: "STORE_CONFLICT" });
    }
    await rig.audit.append(batch(pen, head.size, 1));
    expect(await texts(rig.audit)).toEqual(entryTexts(5));
  },
};

export const byteForByte: AuditLogCheck = {
  promise: 6,
  sentence: "entries are read back byte for byte, in order, in pages of any size, up to the largest",
  async run(rig) {
    const { pen } = await rig.audit.takePen("one");
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
    await rig.audit.append(batch(pen, 0, 5, (sequence) => ({ text: textOf(sequence) })));
    await rig.audit.append(batch(pen, 5, 2, (sequence) => ({ text: textOf(sequence) })));
    for (const page of [1, 3, 7, 100]) {
      const found: Uint8Array[] = [];
      while (found.length < sizes.length)
        found.push(...(await rig.audit.read(found.length, page)).map(({ text }) => text));
      expect(found.map((text) => Buffer.from(text).toString("hex"))).toEqual(
        sizes.map((_size, sequence) => Buffer.from(textOf(sequence)).toString("hex")),
      );
    }
    expect(await rig.audit.read(7, 10)).toEqual([]);
    expect((await rig.audit.read(6, 10)).map(({ sequence }) => sequence)).toEqual([6]);
  },
};

export const laterChangesDoNotMatter: AuditLogCheck = {
  promise: 6,
  sentence: "what a caller does to the bytes it handed over or was given changes nothing in the log",
  async run(rig) {
    const { pen } = await rig.audit.takePen("one");
    const mine = bytesOf("entry 0");
    const appending = rig.audit.append(batch(pen, 0, 1, () => ({ text: mine })));
    mine.fill(0x78);
    await appending;
    (await rig.audit.read(0, 1))[0]?.text.fill(0x79);
    expect(await texts(rig.audit)).toEqual(["entry 0"]);
  },
};

export const everyEntryIsHeardOf: AuditLogCheck = {
  promise: 7,
  sentence:
    "an append publishes each of its entries once, in the order of the log; what was refused or lost is not heard of",
  async run(rig) {
    const first = await rig.audit.takePen("one");
    await rig.audit.append(batch(first.pen, 0, 1));
    await rig.audit.append(batch(first.pen, 1, 3, (sequence) => ({ text: bytesOf(`größer ${sequence}`) })));
    const again = batch(first.pen, 4, 2, () => ({ eventId: "event-1" }));
    await rejection(rig.audit.append(again), "an event again");
    await rejection(rig.audit.append(batch(first.pen, 3, 2, fresh)), "another head");
    await rejection(rig.audit.append(batch(first.pen + 1, 4, 2)), "another pen");
    await rig.loseNextAnswer("not committed");
    await rejection(rig.audit.append(batch(first.pen, 4, 2)), "the lost answer");
    let pen = 0;
    await eventually(rig, "the pen can be taken again", async () => {
      const taken = await rig.audit.takePen("two").catch((thrown: unknown) => thrown);
      if (taken instanceof Error) return false;
      ({ pen } = taken as { pen: number });
      return true;
    });
    await rig.audit.append(batch(pen, 4, 2));
    const published = await rig.published();
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

export const toldOfAppends: AuditLogCheck = {
  promise: 0,
  sentence: "whoever follows the log is told after an append, here and elsewhere, until it stops",
  async run(rig) {
    const other = await rig.another();
    const told = { here: 0, there: 0, stopped: 0 };
    rig.audit.onAppend(() => {
      told.here += 1;
    });
    other.onAppend(() => {
      told.there += 1;
    });
    rig.audit.onAppend(() => {
      told.stopped += 1;
    })();
    const { pen } = await rig.audit.takePen("one");
    let size = 0;
    // A connection that listens may still be under way: who was not told of this append is told of the next.
    await eventually(rig, "both are told", async () => {
      await rig.audit.append(batch(pen, size, 1));
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
  onePen,
  beginsAtTheHead,
  twoWriters,
  lostAnswer,
  byteForByte,
  laterChangesDoNotMatter,
  everyEntryIsHeardOf,
  toldOfAppends,
];
