// Checks of promises 1 to 5: the journal is appended to by one engine, whole batches at a time, and read back in order.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { range } from "./bus-kit.ts";
import { batch, decision, fill, payloads, type RiskStoreCheck } from "./risk-store-fixture.ts";
import { eventually, rejection } from "./waiting.ts";

export const batchIsDurable: RiskStoreCheck = {
  promise: 1,
  sentence: "a batch is there when it resolves, whole and in its order, for another engine's store as well",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const denied = decision(fixture, 2, { approved: false, code: "MAX_NOTIONAL_EXCEEDED", fundId: "beta" });
    const moved = {
      kind: "transition",
      at: fixture.now(),
      fundId: "alpha",
      orderId: "order-1",
      payload: new Uint8Array(),
    };
    const entries = [decision(fixture, 1), denied, fill(fixture, "fill-1"), { ...moved, kind: "transition" as const }];
    await fixture.risk.append(batch(fixture, writerEpoch, entries));
    await fixture.risk.append(batch(fixture, writerEpoch, []));
    const other = await fixture.another();
    const rows = await other.entries(0n, 100);
    expect(rows.map(({ id: _id, ...row }) => plain(row))).toEqual(entries.map(plain));
    expect(rows.every((row, index) => index === 0 || row.id > (rows[index - 1]?.id ?? 0n))).toBe(true);
  },
};

/** Buffers and byte arrays compare by their bytes. */
function plain(entry: object): object {
  return Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [name, value instanceof Uint8Array ? [...value] : value]),
  );
}

export const batchIsWholeOrNothing: RiskStoreCheck = {
  promise: 2,
  sentence: "a batch with one entry that is refused leaves nothing, and the next one is taken",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    await fixture.risk.append(batch(fixture, writerEpoch, [fill(fixture, "fill-1")]));
    const again = batch(fixture, writerEpoch, [decision(fixture, 1), fill(fixture, "fill-1"), decision(fixture, 2)]);
    expect(await rejection(fixture.risk.append(again), "a fill again")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const twice = batch(fixture, writerEpoch, [fill(fixture, "fill-2"), fill(fixture, "fill-2")]);
    expect(await rejection(fixture.risk.append(twice), "a fill twice")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await payloads(fixture.risk)).toEqual(['{"fill_id":"fill-1"}']);
    await fixture.risk.append(batch(fixture, writerEpoch, [decision(fixture, 3)]));
    expect(await payloads(fixture.risk)).toEqual(['{"fill_id":"fill-1"}', "decision 3"]);
    expect(await fixture.risk.knownFills(["fill-1", "fill-2"])).toEqual(new Set(["fill-1"]));
  },
};

export const lostAnswer: RiskStoreCheck = {
  promise: 3,
  sentence: "a lost answer is STORE_COMMIT_UNKNOWN, and `outcomeOf` tells what became of the batch",
  async run(fixture) {
    let count = 0;
    for (const outcome of ["committed", "not committed"] as const) {
      const writerEpoch = await fixture.risk.takeWriterEpoch("one");
      count += 1;
      const sent = batch(fixture, writerEpoch, [decision(fixture, count)]);
      await fixture.loseNextAnswer(outcome);
      const fault = await rejection(fixture.risk.append(sent), "the lost answer");
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN", facts: { transaction: sent.id } });
      expect(await fixture.risk.outcomeOf(sent.id)).toBe(outcome);
      expect(await fixture.risk.outcomeOf(sent.id)).toBe(outcome);
    }
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    await fixture.risk.append(batch(fixture, writerEpoch, [decision(fixture, 3)]));
    expect(await payloads(fixture.risk)).toEqual(["decision 1", "decision 3"]);
  },
};

export const nothingComesAfterTheOutcome: RiskStoreCheck = {
  promise: 3,
  sentence: "what was not committed when its outcome was asked can never be: its writer epoch is out of force",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    await fixture.loseNextAnswer("not committed");
    const sent = batch(fixture, writerEpoch, [decision(fixture, 1)]);
    await rejection(fixture.risk.append(sent), "the lost answer");
    expect(await fixture.risk.outcomeOf(sent.id)).toBe("not committed");
    let late: unknown;
    await eventually(fixture, "the late batch reaches the store", async () => {
      late = await rejection(fixture.risk.append(sent), "the late batch");
      return !(late instanceof Fault && late.code === "STORE_UNAVAILABLE");
    });
    expect(late).toMatchObject({ code: "STORE_CONFLICT" });
    expect(await payloads(fixture.risk)).toEqual([]);
  },
};

export const outcomeSparesOthers: RiskStoreCheck = {
  promise: 3,
  sentence: "asking for the outcome of a batch does not take the writer epoch from an engine that took it since",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    await fixture.loseNextAnswer("not committed");
    const sent = batch(fixture, writerEpoch, [decision(fixture, 1)]);
    await rejection(fixture.risk.append(sent), "the lost answer");
    const other = await fixture.another();
    const theirs = await other.takeWriterEpoch("two");
    expect(await fixture.risk.outcomeOf(sent.id)).toBe("not committed");
    await other.append(batch(fixture, theirs, [decision(fixture, 2)]));
    expect(await payloads(fixture.risk)).toEqual(["decision 2"]);
  },
};

export const oneWriter: RiskStoreCheck = {
  promise: 4,
  sentence: "only the engine that took the writer epoch last can append; the one before is refused for good",
  async run(fixture) {
    const first = await fixture.risk.takeWriterEpoch("one");
    await fixture.risk.append(batch(fixture, first, [decision(fixture, 1)]));
    const other = await fixture.another();
    const second = await other.takeWriterEpoch("two");
    expect(second).toBeGreaterThan(first);
    for (const n of range(2, 3)) {
      const refused = await rejection(
        fixture.risk.append(batch(fixture, first, [decision(fixture, n)])),
        "the stale writer epoch",
      );
      expect(refused).toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
    }
    await other.append(batch(fixture, second, [decision(fixture, 4)]));
    const never = rejection(
      fixture.risk.append(batch(fixture, second + 1, [decision(fixture, 5)])),
      "a writer epoch of nobody",
    );
    expect(await never).toMatchObject({ code: "STORE_CONFLICT" });
    expect(await payloads(fixture.risk)).toEqual(["decision 1", "decision 4"]);
  },
};

export const writerEpochUnderConcurrency: RiskStoreCheck = {
  promise: 4,
  sentence:
    "of engines that take the writer epoch from each other all the time, each appends under its own number only",
  async run(fixture) {
    const other = await fixture.another();
    const written: string[] = [];
    let n = 0;
    const live = async (risk: typeof fixture.risk, name: string): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        const writerEpoch = await risk.takeWriterEpoch(name);
        for (let place = 0; place < 3; place += 1) {
          n += 1;
          const text = `${writerEpoch}.${place}`;
          const payload = new TextEncoder().encode(text);
          const done = await risk.append(batch(fixture, writerEpoch, [decision(fixture, n, { payload })])).then(
            () => true,
            (thrown: unknown) => thrown,
          );
          if (done === true) written.push(text);
          else expect(done).toMatchObject({ code: "STORE_CONFLICT" });
        }
      }
    };
    await Promise.all([live(fixture.risk, "one"), live(other, "two")]);
    const found = await payloads(fixture.risk);
    expect([...found].sort()).toEqual([...written].sort());
    // Later writer epochs write later: nobody's batch stands behind that of a successor.
    const writerEpochs = found.map((text) => Number(text.split(".")[0]));
    expect(writerEpochs).toEqual([...writerEpochs].sort((one, two) => one - two));
  },
};

export const readInPages: RiskStoreCheck = {
  promise: 5,
  sentence: "entries are read back in the order in which they were appended, in pages of any size",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const wanted: string[] = [];
    for (const size of [1, 7, 2, 40]) {
      const entries = range(1, size).map((n) => decision(fixture, wanted.length + n));
      wanted.push(...entries.map((entry) => new TextDecoder().decode(entry.payload)));
      await fixture.risk.append(batch(fixture, writerEpoch, entries));
    }
    for (const page of [1, 3, 50, 1_000]) expect(await payloads(fixture.risk, page)).toEqual(wanted);
  },
};

export const anyIds: RiskStoreCheck = {
  promise: 1,
  sentence: "ids that no text can hold are no obstacle, and fills that differ in them stay different",
  async run(fixture) {
    const writerEpoch = await fixture.risk.takeWriterEpoch("one");
    const odd = [
      "a\0b",
      "ab",
      "\ud800",
      "\udfff",
      "x".repeat(500),
      `${"x".repeat(499)}y`,
      "",
      '"\\,{}',
      "größer\n",
      "NULL",
    ];
    const entries = odd.map((id, n) =>
      decision(fixture, n, { orderId: id, fundId: id, payload: new TextEncoder().encode(JSON.stringify(id)) }),
    );
    await fixture.risk.append(batch(fixture, writerEpoch, entries));
    expect(await payloads(fixture.risk)).toEqual(odd.map((id) => JSON.stringify(id)));
    await fixture.risk.append(
      batch(
        fixture,
        writerEpoch,
        odd.slice(0, 5).map((id) => fill(fixture, id)),
      ),
    );
    expect(await fixture.risk.knownFills(odd)).toEqual(new Set(odd.slice(0, 5)));
    await fixture.risk.append(
      batch(
        fixture,
        writerEpoch,
        odd.slice(5).map((id) => fill(fixture, id)),
      ),
    );
    expect(await fixture.risk.knownFills(odd)).toEqual(new Set(odd));
  },
};

export const journalChecks: readonly RiskStoreCheck[] = [
  batchIsDurable,
  batchIsWholeOrNothing,
  lostAnswer,
  nothingComesAfterTheOutcome,
  outcomeSparesOthers,
  oneWriter,
  writerEpochUnderConcurrency,
  readInPages,
  anyIds,
];
