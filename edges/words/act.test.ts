// What a server proved stays proved: an act that was acknowledged is not unknown again because its progress cannot be read.
import { expect, it } from "vitest";
import { fromUnixMs, plusMilliseconds } from "../../contracts/src/instant.ts";
import { act, type Outcome, type Request, stepLine } from "./act.ts";

const request: Request = { act: "halt", target: { label: "firm", id: "" }, reason: "", confirmation: "HALT", code: "" };

async function outcomesOf(client: object): Promise<readonly Outcome[]> {
  let now = fromUnixMs(0);
  const outcomes: Outcome[] = [];
  await act(request, {
    client: client as never,
    clock: { now: () => now },
    timers: {
      sleep: async (ms: number) => {
        now = plusMilliseconds(now, ms);
      },
    } as never,
    signal: new AbortController().signal,
    report: (outcome) => outcomes.push(outcome),
  });
  return outcomes;
}

const requestHalt = async () => ({ halt_id: "h-1", epoch: 7, acknowledged: true, audit_id: "a-1" });

it("keeps a halt that every engine confirmed when its steps cannot be read, and shows them once they can", async () => {
  let asked = 0;
  const getHaltStatus = async () => {
    asked += 1;
    if (asked < 3) throw new Error("the gateway restarts");
    return { progress: [{ halt_id: "h-1", steps: [{ step: "BLOCKED", proven: true, detail: "" }] }] };
  };
  const outcomes = await outcomesOf({ requestHalt, getHaltStatus });
  for (const { lines, tone } of outcomes) {
    expect(lines[0]).toBe("HALTED firm: every live risk engine confirmed it.");
    expect(lines[1]).toContain("Audit a-1");
    expect(tone).toBe("good");
  }
  expect(outcomes[1]?.lines.at(-1)).toBe("How far it has come cannot be read now: the gateway restarts");
  expect(outcomes.at(-1)?.lines.slice(2)).toEqual(["BLOCKED    yes"]);
  expect(outcomes.map(({ done }) => done)).toEqual([false, false, false, true]);
});

it("says that a message stands in the log alone, and never that somebody was notified", () => {
  const detail = "log only: no chat is set up.";
  expect(stepLine({ step: "NOTIFIED", proven: true, detail })).toBe("NOTIFIED   log only: no chat is set up.");
  expect(stepLine({ step: "NOTIFIED", proven: false, detail: "tried" })).toBe("NOTIFIED   NOT YET: tried");
});

it("ends after its time when nothing can be read", async () => {
  const getHaltStatus = async () => Promise.reject(new Error("gone"));
  const outcomes = await outcomesOf({ requestHalt, getHaltStatus });
  expect(outcomes.at(-1)?.done).toBe(true);
  expect(outcomes.at(-1)?.lines[0]).toMatch(/^HALTED firm/);
});

it("passes on what happened before anything was proven", async () => {
  const refused = new Error("refused");
  await expect(outcomesOf({ requestHalt: () => Promise.reject(refused) })).rejects.toBe(refused);
});
