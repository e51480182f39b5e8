// Places of log-ins without a token, with timers that the test fires: who goes first, and that nobody keeps one for long.
import { describe, expect, it } from "vitest";
import { logInPlaces } from "./log-in-places.ts";

function fixture(placesMax = 2) {
  const timers: (() => void)[] = [];
  const after = (_ms: number, run: () => void) => {
    timers.push(run);
    return () => void timers.splice(timers.indexOf(run), 1);
  };
  const places = logInPlaces({ after }, placesMax);
  const begun: string[] = [];
  const ask = (name: string, urgency: number): (() => void) => {
    const { ready, giveBack } = places.take(urgency);
    if (ready === undefined) begun.push(name);
    else void ready.then(() => begun.push(name));
    return giveBack;
  };
  const settle = async (): Promise<void> => {
    for (let step = 0; step < 5; step += 1) await Promise.resolve();
  };
  return { ask, begun, settle, timers };
}

describe("places of log-ins", () => {
  it("go to whoever asked least, as soon as one is given back", async () => {
    const { ask, begun, settle } = fixture();
    const [first] = [ask("a", 0), ask("b", 0)];
    for (let at = 0; at < 20; at += 1) ask("flood", 0.2);
    ask("honest", 1);
    expect(begun).toEqual(["a", "b"]);
    first?.();
    first?.();
    await settle();
    expect(begun).toEqual(["a", "b", "honest"]);
  });

  it("are given back by who takes long, and handed on by who has gone", async () => {
    const { ask, begun, settle, timers } = fixture(1);
    ask("slow", 0);
    const gone = ask("gone", 1);
    ask("next", 0.5);
    gone();
    timers[0]?.();
    await settle();
    expect(begun.filter((name) => name !== "gone")).toEqual(["slow", "next"]);
  });

  it("are as many as before when all are given back", async () => {
    const { ask, begun, settle } = fixture();
    const given = ["a", "b", "c", "d"].map((name) => ask(name, 0));
    for (const giveBack of given) giveBack();
    await settle();
    ask("e", 0);
    ask("f", 0);
    expect(begun.slice(-2)).toEqual(["e", "f"]);
  });
});
