// The paper weather is set and reported in one transaction, shown as it was set, and refused where no paper broker runs.
import { expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Broker } from "../../ports/broker.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import { createPaperFaults } from "./paper-faults.ts";

const call = { identity: { kind: "operator", actor: "operator:duty" } } as never;
const paper = { name: "paper" } as Broker;
const referenceData = {
  read: async () => ({ instruments: paperReference("").instruments }) as unknown as Reference,
  changed: async () => 1,
};
const fair = { gaps: [], halted_symbols: [], news: [], informed: [], reason: "a drill" };

it("is fair at first, is set whole, reported, and shown", async () => {
  const fixture = serviceFixture(1);
  const faults = createPaperFaults(fixture.portsOf("oms", { brokers: [paper], referenceData }));
  expect(await faults.getPaperWeather()).toEqual({ ...fair, reason: "" });
  const asked = {
    ...fair,
    report_loss_pct: 0.2,
    gaps: [{ symbol: "AAPL", pct: -0.12 }],
    halted_symbols: ["SPY"],
    news: [{ symbol: "AAPL", count: 40 }],
    informed: [{ symbol: "AAPL", side: "buy" }],
  };
  const set = await faults.setPaperWeather(asked, call);
  expect(set).toMatchObject({ report_loss_pct: 0.2, halted_symbols: ["SPY"], set_by: "operator:duty" });
  expect(set).toMatchObject({ gaps: [{ symbol: "AAPL", pct: -0.12, from: expect.stringMatching(/Z$/) }] });
  expect(set).toMatchObject({
    news: [{ symbol: "AAPL", count: 40, from: expect.stringMatching(/Z$/) }],
    informed: [{ symbol: "AAPL", side: "buy", from: expect.stringMatching(/Z$/) }],
  });
  expect(await faults.getPaperWeather()).toEqual(set);
  expect(fixture.reported(subjects.paperFaults)).toEqual([set]);
  await faults.setPaperWeather(fair, call);
  expect(await faults.getPaperWeather()).toMatchObject(fair);
  expect(await faults.getPaperWeather()).not.toHaveProperty("report_loss_pct");
  await fixture.close();
});

it("refuses what are no faults and says where, and changes nothing", async () => {
  const fixture = serviceFixture(1);
  const faults = createPaperFaults(fixture.portsOf("oms", { brokers: [paper] }));
  for (const [wrong, where] of [
    [{ ...fair, report_loss_pct: 1.5 }, /report_loss_pct/],
    [{ ...fair, broker_silent_until: "soon" }, /broker_silent_until/],
    [{ ...fair, gaps: [{ symbol: "AAPL", pct: -1 }] }, /gaps.0.pct/],
    [{ ...fair, news: [{ symbol: "AAPL", count: 1_001 }] }, /news.0.count/],
  ] as const) {
    const asked = { ...fair, ...wrong, gaps: [...wrong.gaps], halted_symbols: [], news: [...wrong.news] };
    const thrown = await rejection(faults.setPaperWeather(asked, call), "no weather");
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(where) });
  }
  expect(fixture.reported(subjects.paperFaults)).toEqual([]);
  await fixture.close();
});

it("is refused without a reason, and for symbols that nobody trades", async () => {
  const fixture = serviceFixture(1);
  const faults = createPaperFaults(fixture.portsOf("oms", { brokers: [paper], referenceData }));
  expect(await faults.setPaperWeather({ ...fair, reason: " " }, call)).toMatchObject({
    denial: { code: "REASON_MISSING" },
  });
  for (const named of [
    { gaps: [{ symbol: "NOPE", pct: 0.1 }] },
    { halted_symbols: ["NOPE"] },
    { news: [{ symbol: "NOPE", count: 1 }] },
    { informed: [{ symbol: "NOPE", side: "buy" }] },
  ]) {
    const thrown = await rejection(faults.setPaperWeather({ ...fair, ...named }, call), "weather for nobody");
    expect(thrown).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("NOPE") });
  }
  expect(fixture.reported(subjects.paperFaults)).toEqual([]);
  await fixture.close();
});

it("is refused where no paper broker runs", async () => {
  const fixture = serviceFixture(1);
  const faults = createPaperFaults(fixture.portsOf("oms", { brokers: [] }));
  expect(await faults.setPaperWeather(fair, call)).toMatchObject({ denial: { code: "WEATHER_NOT_PAPER" } });
  expect(await faults.getPaperWeather()).toMatchObject({ denial: { code: "WEATHER_NOT_PAPER" } });
  await fixture.close();
});
