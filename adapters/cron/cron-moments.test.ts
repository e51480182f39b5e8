// When a schedule is due, over both clock changes of two time zones, and which moments a platform that was away owes.
import { expect, test } from "vitest";
import { format, type Instant, parse, plusMilliseconds } from "../../contracts/src/instant.ts";
import { dueMoments } from "../../reports/schedules/due-moments.ts";
import { prng } from "../../testkit/virtual/prng.ts";
import { cronMoments, hasMoments, isTimeZone } from "./cron-moments.ts";

function momentsOf(line: string, timeZone: string, from: string, count: number): readonly string[] {
  const moments = cronMoments(line, timeZone);
  const found: string[] = [];
  let at = parse(from);
  while (found.length < count) {
    at = moments.next(at) ?? at;
    found.push(format(at).replace(":00.000000Z", "Z"));
  }
  return found;
}

test.each([
  // 02:30 does not exist on 8 March: it is run when the clock has jumped, at 03:00 there.
  [
    "America/New_York",
    "30 2 * * *",
    "2026-03-07T00:00:00Z",
    ["2026-03-07T07:30Z", "2026-03-08T07:00Z", "2026-03-09T06:30Z"],
  ],
  // 01:30 comes twice on 1 November: the first is run.
  [
    "America/New_York",
    "30 1 * * *",
    "2026-10-31T00:00:00Z",
    ["2026-10-31T05:30Z", "2026-11-01T05:30Z", "2026-11-02T06:30Z"],
  ],
  [
    "Europe/Berlin",
    "30 2 * * *",
    "2026-03-28T00:00:00Z",
    ["2026-03-28T01:30Z", "2026-03-29T01:00Z", "2026-03-30T00:30Z"],
  ],
  [
    "Europe/Berlin",
    "30 2 * * *",
    "2026-10-24T00:00:00Z",
    ["2026-10-24T00:30Z", "2026-10-25T00:30Z", "2026-10-26T01:30Z"],
  ],
  // What runs through is not held up by a change.
  [
    "Europe/Berlin",
    "0 * * * *",
    "2026-10-24T23:30:00Z",
    ["2026-10-25T00:00Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"],
  ],
  [
    "America/New_York",
    "0 * * * *",
    "2026-03-08T06:30:00Z",
    ["2026-03-08T07:00Z", "2026-03-08T08:00Z", "2026-03-08T09:00Z"],
  ],
  ["UTC", "0 6 * * MON-FRI", "2026-11-20T00:00:00Z", ["2026-11-20T06:00Z", "2026-11-23T06:00Z", "2026-11-24T06:00Z"]],
])("%s, %s from %s", (timeZone, line, from, expected) => {
  expect(momentsOf(line, timeZone, from, 3)).toEqual(expected);
});

test("a day there is the day of its own time zone", () => {
  const at = parse("2026-11-01T03:30:00Z");
  expect([
    cronMoments("0 0 * * *", "America/New_York").day(at),
    cronMoments("0 0 * * *", "Europe/Berlin").day(at),
  ]).toEqual(["2026-10-31", "2026-11-01"]);
});

test("a line without a moment and a time zone that is none are known from good ones", () => {
  expect([
    hasMoments("0 6 * * MON"),
    hasMoments("0 0 29 2 *"),
    hasMoments("0 0 30 2 *"),
    hasMoments("61 * * * *"),
  ]).toEqual([true, true, false, false]);
  expect(["UTC", "Europe/Berlin", "Mars/Olympus", "+02:00", ""].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test("however long somebody was away, each moment is run or missed once: over both changes, seeded", () => {
  const seed = 31;
  const random = prng(seed);
  for (const [timeZone, line, from, to] of [
    ["America/New_York", "30 2 * * *", "2026-03-01T00:00:00Z", "2026-03-20T00:00:00Z"],
    ["America/New_York", "30 1 * * *", "2026-10-25T00:00:00Z", "2026-11-10T00:00:00Z"],
    ["Europe/Berlin", "30 2 * * *", "2026-03-20T00:00:00Z", "2026-04-05T00:00:00Z"],
    ["Europe/Berlin", "15 */6 * * *", "2026-10-15T00:00:00Z", "2026-11-01T00:00:00Z"],
  ] as const) {
    const moments = cronMoments(line, timeZone);
    const end = parse(to);
    const every: Instant[] = [];
    for (let at = moments.next(parse(from)); at !== undefined && at < end; at = moments.next(at)) every.push(at);
    const [run, missed]: [Instant[], Instant[]] = [[], []];
    let [considered, now] = [parse(from), parse(from)];
    while (now < end) {
      // Mostly minutes, sometimes days.
      const [first = 0, second = 0] = random.bytes(2);
      const later = plusMilliseconds(now, first < 200 ? 1_000 + second * 120_000 : second * 1_500_000);
      now = later < end ? later : end;
      const found = dueMoments(moments.next, considered, now);
      considered = found.considered;
      if (found.due !== undefined) run.push(found.due);
      missed.push(...found.missed);
    }
    const about = `seed ${seed}, ${line} in ${timeZone}`;
    expect([...run, ...missed].sort((one, other) => one - other).map(format), about).toEqual(every.map(format));
    expect(run.length, about).toBeGreaterThan(0);
  }
});
