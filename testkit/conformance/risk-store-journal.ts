// Checks of promises 1 to 5: the journal is appended to by one engine, whole batches at a time, and read back in order.
import { expect } from "vitest";
import { Fault } from "../../contracts/src/fault.ts";
import { range } from "./bus-kit.ts";
import { batch, decision, fill, payloads, type RiskStoreCheck } from "./risk-store-rig.ts";
import { eventually, rejection } from "./waiting.ts";

export const batchIsDurable: RiskStoreCheck = {
  promise: 1,
  sentence: "a batch is there when it resolves, whole and in its order, for another engine's store as well",
  async run(rig) {
    const pen = await rig.risk.takePen("one");
    const denied = decision(rig, 2, { approved: false, code: "MAX_NOTIONAL_EXCEEDED", fundId: "beta" });
    const moved = { kind: "transition", at: rig.now(), fundId: "alpha", orderId: "order-1", payload: new Uint8Array() };
    const entries = [decision(rig, 1), denied, fill(rig, "fill-1"), { ...moved, kind: "transition" as const }];
    await rig.risk.append(batch(rig, pen, entries));
    await rig.risk.append(batch(rig, pen, []));
    const other = await rig.another();
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
  async run(rig) {
    const pen = await rig.risk.takePen("one");
    await rig.risk.append(batch(rig, pen, [fill(rig, "fill-1")]));
    const again = batch(rig, pen, [decision(rig, 1), fill(rig, "fill-1"), decision(rig, 2)]);
    expect(await rejection(rig.risk.append(again), "a fill again")).toMatchObject({ code: "INVALID_ARGUMENT" });
    const twice = batch(rig, pen, [fill(rig, "fill-2"), fill(rig, "fill-2")]);
    expect(await rejection(rig.risk.append(twice), "a fill twice")).toMatchObject({ code: "INVALID_ARGUMENT" });
    expect(await payloads(rig.risk)).toEqual(['{"fill_id":"fill-1"}']);
    await rig.risk.append(batch(rig, pen, [decision(rig, 3)]));
    expect(await payloads(rig.risk)).toEqual(['{"fill_id":"fill-1"}', "decision 3"]);
    expect(await rig.risk.knownFills(["fill-1", "fill-2"])).toEqual(new Set(["fill-1"]));
  },
};

export const lostAnswer: RiskStoreCheck = {
  promise: 3,
  sentence: "a lost answer is STORE_COMMIT_UNKNOWN, and `outcomeOf` tells what became of the batch",
  async run(rig) {
    let count = 0;
    for (const outcome of ["committed", "not committed"] as const) {
      const pen = await rig.risk.takePen("one");
      count += 1;
      const sent = batch(rig, pen, [decision(rig, count)]);
      await rig.loseNextAnswer(outcome);
      const fault = await rejection(rig.risk.append(sent), "the lost answer");
      expect(fault).toBeInstanceOf(Fault);
      expect(fault).toMatchObject({ code: "STORE_COMMIT_UNKNOWN", facts: { transaction: sent.id } });
      expect(await rig.risk.outcomeOf(sent.id)).toBe(outcome);
      expect(await rig.risk.outcomeOf(sent.id)).toBe(outcome);
    }
    const pen = await rig.risk.takePen("one");
    await rig.risk.append(batch(rig, pen, [decision(rig, 3)]));
    expect(await payloads(rig.risk)).toEqual(["decision 1", "decision 3"]);
  },
};

export const nothingComesAfterTheOutcome: RiskStoreCheck = {
  promise: 3,
  sentence: "what was not committed when its outcome was asked can never be: its pen is out of force",
  async run(rig) {
    const pen = await rig.risk.takePen("one");
    await rig.loseNextAnswer("not committed");
    const sent = batch(rig, pen, [decision(rig, 1)]);
    await rejection(rig.risk.append(sent), "the lost answer");
    expect(await rig.risk.outcomeOf(sent.id)).toBe("not committed");
    let late: unknown;
    await eventually(rig, "the late batch reaches the store", async () => {
      late = await rejection(rig.risk.append(sent), "the late batch");
      return !(late instanceof Fault && late.code === "STORE_UNAVAILABLE");
    });
    expect(late).toMatchObject({ code: "STORE_CONFLICT" });
    expect(await payloads(rig.risk)).toEqual([]);
  },
};

export const outcomeSparesOthers: RiskStoreCheck = {
  promise: 3,
  sentence: "asking for the outcome of a batch does not take the pen from an engine that took it since",
  async run(rig) {
    const pen = await rig.risk.takePen("one");
    await rig.loseNextAnswer("not committed");
    const sent = batch(rig, pen, [decision(rig, 1)]);
    await rejection(rig.risk.append(sent), "the lost answer");
    const other = await rig.another();
    const theirs = await other.takePen("two");
    expect(await rig.risk.outcomeOf(sent.id)).toBe("not committed");
    await other.append(batch(rig, theirs, [decision(rig, 2)]));
    expect(await payloads(rig.risk)).toEqual(["decision 2"]);
  },
};

export const onePen: RiskStoreCheck = {
  promise: 4,
  sentence: "only the engine that took the pen last can append; the one before is refused for good",
  async run(rig) {
    const first = await rig.risk.takePen("one");
    await rig.risk.append(batch(rig, first, [decision(rig, 1)]));
    const other = await rig.another();
    const second = await other.takePen("two");
    expect(second).toBeGreaterThan(first);
    for (const n of range(2, 3)) {
      const refused = await rejection(rig.risk.append(batch(rig, first, [decision(rig, n)])), "the stale pen");
      expect(refused).toMatchObject({ code: "STORE_CONFLICT", retry: "never" });
    }
    await other.append(batch(rig, second, [decision(rig, 4)]));
    const never = rejection(rig.risk.append(batch(rig, second + 1, [decision(rig, 5)])), "a pen of nobody");
    expect(await never).toMatchObject({ code: "STORE_CONFLICT" });
    expect(await payloads(rig.risk)).toEqual(["decision 1", "decision 4"]);
  },
};

export const penUnderConcurrency: RiskStoreCheck = {
  promise: 4,
  sentence: "of engines that take the pen from each other all the time, each appends under its own number only",
  async run(rig) {
    const other = await rig.another();
    const written: string[] = [];
    let n = 0;
    const live = async (risk: typeof rig.risk, name: string): Promise<void> => {
      for (let turn = 0; turn < 10; turn += 1) {
        const pen = await risk.takePen(name);
        for (let place = 0; place < 3; place += 1) {
          n += 1;
          const text = `${pen}.${place}`;
          const payload = new TextEncoder().encode(text);
          const done = await risk.append(batch(rig, pen, [decision(rig, n, { payload })])).then(
            () => true,
            (thrown: unknown) => thrown,
          );
          if (done === true) written.push(text);
          else expect(done).toMatchObject({ code: "STORE_CONFLICT" });
        }
      }
    };
    await Promise.all([live(rig.risk, "one"), live(other, "two")]);
    const found = await payloads(rig.risk);
    expect([...found].sort()).toEqual([...written].sort());
    // Later pens write later: nobody's batch stands behind that of a successor.
    const pens = found.map((text) => Number(text.split(".")[0]));
    expect(pens).toEqual([...pens].sort((one, two) => one - two));
  },
};

export const readInPages: RiskStoreCheck = {
  promise: 5,
  sentence: "entries are read back in the order in which they were appended, in pages of any size",
  async run(rig) {
    const pen = await rig.risk.takePen("one");
    const wanted: string[] = [];
    for (const size of [1, 7, 2, 40]) {
      const entries = range(1, size).map((n) => decision(rig, wanted.length + n));
      wanted.push(...entries.map((entry) => new TextDecoder().decode(entry.payload)));
      await rig.risk.append(batch(rig, pen, entries));
    }
    for (const page of [1, 3, 50, 1_000]) expect(await payloads(rig.risk, page)).toEqual(wanted);
  },
};

export const anyIds: RiskStoreCheck = {
  promise: 1,
  sentence: "ids that no text can hold are no obstacle, and fills that differ in them stay different",
  async run(rig) {
    const pen = await rig.risk.takePen("one");
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
      decision(rig, n, { orderId: id, fundId: id, payload: new TextEncoder().encode(JSON.stringify(id)) }),
    );
    await rig.risk.append(batch(rig, pen, entries));
    expect(await payloads(rig.risk)).toEqual(odd.map((id) => JSON.stringify(id)));
    await rig.risk.append(
      batch(
        rig,
        pen,
        odd.slice(0, 5).map((id) => fill(rig, id)),
      ),
    );
    expect(await rig.risk.knownFills(odd)).toEqual(new Set(odd.slice(0, 5)));
    await rig.risk.append(
      batch(
        rig,
        pen,
        odd.slice(5).map((id) => fill(rig, id)),
      ),
    );
    expect(await rig.risk.knownFills(odd)).toEqual(new Set(odd));
  },
};

export const journalChecks: readonly RiskStoreCheck[] = [
  batchIsDurable,
  batchIsWholeOrNothing,
  lostAnswer,
  nothingComesAfterTheOutcome,
  outcomeSparesOthers,
  onePen,
  penUnderConcurrency,
  readInPages,
  anyIds,
];
