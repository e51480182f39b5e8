// A verification is asked again from where it ended until all is judged, and knows nothing that the clock does not.
import { describe, expect, it } from "vitest";
import { earlier, format, type Instant, parse, plusMilliseconds } from "../../../contracts/src/instant.ts";
import { turn } from "../../../testkit/virtual/scheduler.ts";
import { openVerify } from "./verify-run.ts";

const from = parse("2026-11-19T00:00:00Z");
const hour = (count: number): Instant => plusMilliseconds(from, count * 3_600_000);

/** A server that judges so many hours at once, ten decisions an hour, of what the log has taken in. */
function server(hoursAtOnce: number, takenIn: Instant) {
  const asked: string[] = [];
  let wait: Promise<void> | undefined;
  const run = openVerify(async (start, end) => {
    asked.push(`${start.slice(8, 13)} ${end.slice(8, 13)}`);
    await wait;
    const through = earlier(earlier(parse(end), plusMilliseconds(parse(start), hoursAtOnce * 3_600_000)), takenIn);
    const hours = Math.max(0, (through - parse(start)) / 3_600_000_000);
    return {
      fund_id: "alpha",
      from: start,
      through: format(through),
      decisions: hours * 10,
      same: hours * 10,
      different: 0,
      skipped: 0,
      skipped_causes: [],
      differences: [],
    };
  });
  const hold = (promise: Promise<void>): void => {
    wait = promise;
  };
  const settle = async (): Promise<void> => {
    for (let turns = 0; turns < 20; turns += 1) await turn();
  };
  return { run, asked, settle, hold };
}

describe("a verification", () => {
  it("goes on piece by piece to its end", async () => {
    const { run, asked, settle } = server(4, hour(100));
    run.begin(from, hour(10));
    expect(run.state()).toMatchObject({ isRunning: true, verdict: undefined });
    await settle();
    expect(asked).toEqual(["19T00 19T10", "19T04 19T10", "19T08 19T10"]);
    expect(run.state()).toMatchObject({
      isRunning: false,
      verdict: { decisions: 100, same: 100, from: format(from), through: format(hour(10)) },
    });
  });

  it("ends where the log has not taken in more, and asks for no more than a month at once", async () => {
    const near = server(4, hour(6));
    near.run.begin(from, hour(10));
    await near.settle();
    expect(near.run.state()).toMatchObject({ isRunning: false, verdict: { decisions: 60, through: format(hour(6)) } });
    const long = server(10_000, hour(10_000));
    long.run.begin(from, hour(40 * 24));
    await long.settle();
    expect(long.asked).toEqual(["19T00 20T00", "20T00 29T00"]);
    expect(long.run.state()).toMatchObject({ isRunning: false, verdict: { decisions: 40 * 240 } });
  });

  it("is taken off when the clock goes back before its end, also while it runs", async () => {
    const { run, settle, hold } = server(4, hour(100));
    run.begin(from, hour(4));
    await settle();
    run.clockAt(hour(5));
    expect(run.state().verdict?.decisions).toBe(40);
    run.clockAt(hour(3));
    expect(run.state()).toMatchObject({ span: undefined, verdict: undefined });
    let go = (): void => undefined;
    hold(new Promise((resolve) => (go = resolve)));
    run.begin(from, hour(4));
    run.clockAt(hour(3));
    go();
    await settle();
    expect(run.state()).toMatchObject({ isRunning: false, verdict: undefined });
  });

  it("without an answer says so and keeps what was judged", async () => {
    const thrown = new Error("away");
    let calls = 0;
    const run = openVerify(async (start) => {
      calls += 1;
      if (calls > 1) throw thrown;
      return {
        fund_id: "alpha",
        from: start,
        through: format(hour(1)),
        decisions: 10,
        same: 10,
        different: 0,
        skipped: 0,
        skipped_causes: [],
        differences: [],
      };
    });
    run.begin(from, hour(4));
    for (let turns = 0; turns < 5; turns += 1) await turn();
    expect(run.state()).toMatchObject({ isRunning: false, failure: thrown, verdict: { decisions: 10 } });
  });
});
