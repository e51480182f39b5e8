// The group commit by itself, on a store whose every answer the test gives. The numbers are those of the module's header.
import { describe, expect, it } from "vitest";
import { Defect, Fault } from "../../../contracts/src/fault.ts";
import { fromMicroseconds } from "../../../contracts/src/instant.ts";
import type { Checked } from "../../../core/engine/engine.ts";
import type { JournalBatch, JournalEntry } from "../../../ports/risk-store.ts";
import type { Outcome } from "../../../ports/store.ts";
import { type Scheduler, scheduler, turn } from "../../../testkit/virtual/scheduler.ts";
import { type GroupCommit, groupCommit } from "./group-commit.ts";

interface Call {
  readonly batch: JournalBatch;
  readonly resolve: () => void;
  readonly reject: (thrown: unknown) => void;
}

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const log = { ...silent, with: () => log };

function fixture(undecidedMax = 100) {
  const time: Scheduler = scheduler({ seed: 7 });
  const calls: Call[] = [];
  const asked: string[] = [];
  const outcomes: (Outcome | Fault)[] = [];
  const withdrawn: string[] = [];
  const seen = {
    takenOver: 0,
    stalled: 0,
    defects: [] as Error[],
    committed: 0,
    retaken: [] as (string | undefined)[],
  };
  const writerEpochs: (number | undefined)[] = [];
  const commit: GroupCommit = groupCommit({
    riskStore: {
      append: (batch) => new Promise<void>((resolve, reject) => calls.push({ batch, resolve, reject })),
      outcomeOf: async (id) => {
        asked.push(id);
        const outcome = outcomes.shift() ?? new Fault("STORE_UNAVAILABLE", "still gone", { retry: "later" });
        if (outcome instanceof Fault) throw outcome;
        return outcome;
      },
    },
    random: time.prng,
    timers: time.timers,
    stopwatch: () => time.elapsedMs() * 1_000,
    log,
    writerEpoch: 5,
    retakeWriterEpoch: async (last) => {
      seen.retaken.push(last?.orderId);
      return writerEpochs.length > 0 ? writerEpochs.shift() : 6;
    },
    undecidedMax,
    withdraw: (checked) => void withdrawn.push(checked.code),
    onTakenOver: () => {
      seen.takenOver += 1;
    },
    onStalled: () => {
      seen.stalled += 1;
    },
    onDefect: (defect) => void seen.defects.push(defect),
    onCommitted: (count) => {
      seen.committed += count;
    },
  });
  const ends: Record<string, string> = {};
  const add = (name: string): void => {
    const checked = { code: name } as Checked;
    commit.add(entry(name), checked).then(
      () => {
        ends[name] = "durable";
      },
      (thrown: Fault) => {
        ends[name] = thrown.code;
      },
    );
  };
  const names = (call: number): (string | undefined)[] => calls[call]?.batch.entries.map((each) => each.orderId) ?? [];
  return { time, calls, asked, outcomes, withdrawn, seen, writerEpochs, commit, ends, add, names };
}

function entry(name: string): JournalEntry {
  return {
    kind: "decision",
    at: fromMicroseconds(1),
    fundId: "alpha",
    orderId: name,
    decisionId: name,
    payload: new Uint8Array(10),
  };
}

const lostAnswer = () => new Fault("STORE_COMMIT_UNKNOWN", "lost", { retry: "never" });

describe("1: one commit at a time, in order", () => {
  it("commits together what comes together, and gathers the next batch meanwhile", async () => {
    const it = fixture();
    it.add("a");
    it.add("b");
    await turn();
    expect(it.names(0)).toEqual(["a", "b"]);
    it.add("c");
    it.add("d");
    await turn();
    expect(it.calls).toHaveLength(1);
    expect(it.ends).toEqual({});
    it.calls[0]?.resolve();
    await turn();
    expect(it.ends).toEqual({ a: "durable", b: "durable" });
    expect(it.names(1)).toEqual(["c", "d"]);
    it.calls[1]?.resolve();
    await turn();
    expect(it.ends["d"]).toBe("durable");
    expect(it.seen.committed).toBe(4);
    expect(it.calls.every(({ batch }) => batch.writerEpoch === 5)).toBe(true);
    expect(it.time.pending()).toBe(0);
  });
});

describe("2: a definite failure", () => {
  it("withdraws the batch and every later one, newest first, and decides again", async () => {
    const it = fixture();
    it.add("a");
    it.add("b");
    await turn();
    it.add("c");
    it.add("d");
    it.calls[0]?.reject(new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" }));
    await turn();
    expect(it.withdrawn).toEqual(["d", "c", "b", "a"]);
    expect(it.ends).toEqual({
      a: "STORE_UNAVAILABLE",
      b: "STORE_UNAVAILABLE",
      c: "STORE_UNAVAILABLE",
      d: "STORE_UNAVAILABLE",
    });
    expect(it.commit.undecided()).toBe(0);
    expect(it.commit.complaint()).toBeUndefined();
    it.add("e");
    await turn();
    it.calls[1]?.resolve();
    await turn();
    expect(it.ends["e"]).toBe("durable");
  });

  it("a defect of the store ends the engine", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.calls[0]?.reject(new Defect("a batch without an id"));
    await turn();
    expect(it.seen.defects).toHaveLength(1);
    expect(it.withdrawn).toEqual(["a"]);
  });
});

describe("3: an unknown outcome", () => {
  it("keeps everything, decides nothing, asks until it is told, and then it was durable", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.add("b");
    it.calls[0]?.reject(lostAnswer());
    await it.time.run({ untilMs: 5_000 });
    expect(it.asked.length).toBeGreaterThan(3);
    expect(it.withdrawn).toEqual([]);
    expect(it.ends).toEqual({});
    expect(it.commit.state()).toBe("asking");
    expect(it.commit.complaint()).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    it.outcomes.push("committed");
    await it.time.run({ untilMs: 7_000 });
    expect(it.ends).toEqual({ a: "durable" });
    expect(it.withdrawn).toEqual([]);
    // What waited goes on, under the writer epoch that was taken anew.
    expect(it.names(1)).toEqual(["b"]);
    expect(it.calls[1]?.batch.writerEpoch).toBe(6);
    expect(it.seen.retaken).toEqual(["a"]);
    expect(it.commit.complaint()).toBeUndefined();
  });

  it("withdraws when it was not durable, the later ones too", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.add("b");
    it.outcomes.push("not committed");
    it.calls[0]?.reject(lostAnswer());
    await it.time.run({ untilMs: 100 });
    expect(it.withdrawn).toEqual(["b", "a"]);
    expect(it.ends).toEqual({ a: "STORE_UNAVAILABLE", b: "STORE_UNAVAILABLE" });
    expect(it.commit.state()).toBe("open");
  });

  it("gives up when somebody else has written in between", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.outcomes.push("not committed");
    it.writerEpochs.push(undefined);
    it.calls[0]?.reject(lostAnswer());
    await it.time.run({ untilMs: 100 });
    expect(it.seen.takenOver).toBe(1);
    expect(it.commit.complaint()?.code).toBe("SERVICE_UNAVAILABLE");
  });

  it("a stop does not guess: callers hear that it is unknown, and nothing is withdrawn", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.calls[0]?.reject(lostAnswer());
    await turn();
    const stopped = it.commit.stop(1_000);
    await it.time.finish("the stop", stopped);
    expect(it.ends).toEqual({ a: "STORE_COMMIT_UNKNOWN" });
    expect(it.withdrawn).toEqual([]);
    expect(it.commit.leftOpen()).toBe(true);
  });
});

describe("4: the writer epoch", () => {
  it("whoever lost it withdraws what it holds and never decides again", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.add("b");
    it.calls[0]?.reject(new Fault("STORE_CONFLICT", "another writer epoch", { retry: "never" }));
    await turn();
    expect(it.withdrawn).toEqual(["b", "a"]);
    expect(it.seen.takenOver).toBe(1);
    expect(it.commit.complaint()?.code).toBe("SERVICE_UNAVAILABLE");
    it.add("c");
    await turn();
    expect(it.ends["c"]).toBe("SERVICE_UNAVAILABLE");
    expect(it.withdrawn).toEqual(["b", "a", "c"]);
    expect(it.calls).toHaveLength(1);
  });
});

describe("5: what must not fall between two decisions", () => {
  it("is committed while nothing is decided, and moves the books when it is durable", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    const steps: string[] = [];
    const alone = it.commit.addAlone(entry("release"), () => steps.push("applied")).then(() => steps.push("reported"));
    expect(it.commit.pause()).toBeDefined();
    await turn();
    expect(it.calls).toHaveLength(1);
    it.calls[0]?.resolve();
    await turn();
    expect(it.names(1)).toEqual(["release"]);
    expect(it.commit.pause()).toBeDefined();
    expect(steps).toEqual([]);
    it.calls[1]?.resolve();
    await alone;
    expect(steps).toEqual(["applied", "reported"]);
    expect(it.commit.pause()).toBeUndefined();
  });

  it("a failed one moves nothing and lets deciding go on", async () => {
    const it = fixture();
    const alone = it.commit.addAlone(entry("release"), () => expect.unreachable());
    const failed = expect(alone).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await turn();
    it.calls[0]?.reject(new Fault("STORE_UNAVAILABLE", "gone", { retry: "later" }));
    await failed;
    expect(it.commit.pause()).toBeUndefined();
  });
});

describe("6: bounds", () => {
  it("complains before more is decided than may wait, and takes more when some is durable", async () => {
    const it = fixture(3);
    for (const name of ["a", "b", "c"]) it.add(name);
    expect(it.commit.complaint()).toMatchObject({ code: "RESOURCE_EXHAUSTED", retry: "later" });
    await turn();
    it.calls[0]?.resolve();
    await turn();
    expect(it.commit.complaint()).toBeUndefined();
  });

  it("says at once that nothing is decided while a commit has no answer for two seconds", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    it.time.timers.after(1_999, () => expect(it.commit.complaint()).toBeUndefined());
    it.time.timers.after(2_001, () => undefined);
    await it.time.run({ untilMs: it.time.elapsedMs() + 3_000 });
    expect(it.commit.complaint()).toMatchObject({ code: "STORE_UNAVAILABLE", retry: "later" });
    expect(it.seen.stalled).toBe(1);
    it.calls[0]?.resolve();
    await turn();
    expect(it.commit.complaint()).toBeUndefined();
    expect(it.ends).toEqual({ a: "durable" });
  });

  it("cuts what has gathered into batches of a bearable size", async () => {
    const it = fixture(10_000);
    for (let count = 0; count < 484; count += 1) it.add(`n${count}`);
    for (let call = 0; call < 3; call += 1) {
      await turn();
      it.calls[call]?.resolve();
    }
    await turn();
    expect(it.calls.map(({ batch }) => batch.entries.length)).toEqual([192, 192, 100]);
  });
});

describe("a pause", () => {
  it("runs its work while nothing is undecided, and holds what comes meanwhile", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    let release = (): void => undefined;
    const order: string[] = [];
    const quiet = it.commit.quietly(async () => {
      order.push(`quiet with ${it.commit.undecided()}`);
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return "done";
    });
    expect(it.commit.pause()).toBeDefined();
    await turn();
    expect(order).toEqual([]);
    it.calls[0]?.resolve();
    await turn();
    expect(order).toEqual(["quiet with 0"]);
    it.add("b");
    await turn();
    expect(it.calls).toHaveLength(1);
    release();
    expect(await quiet).toBe("done");
    await turn();
    expect(it.names(1)).toEqual(["b"]);
    expect(it.commit.pause()).toBeUndefined();
  });
});

describe("a stop", () => {
  it("finishes what is in hand and takes nothing new", async () => {
    const it = fixture();
    it.add("a");
    await turn();
    const stopped = it.commit.stop(1_000);
    it.add("b");
    await turn();
    expect(it.ends["b"]).toBe("SERVICE_STOPPING");
    it.calls[0]?.resolve();
    await stopped;
    expect(it.ends["a"]).toBe("durable");
    expect(it.commit.leftOpen()).toBe(false);
  });
});
