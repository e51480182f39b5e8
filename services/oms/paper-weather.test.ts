// The paper weather is set and told in one transaction, shown as it was set, and refused where no paper broker runs.
import { expect, it } from "vitest";
import { subjects } from "../../contracts/src/subjects.ts";
import type { Broker } from "../../ports/broker.ts";
import type { Reference } from "../../ports/reference-data.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { serviceRig } from "../../testkit/virtual/service-rig.ts";
import { paperReference } from "../shared/paper-seeds.ts";
import { createPaperWeather } from "./paper-weather.ts";

const call = { identity: { kind: "operator", actor: "operator:duty" } } as never;
const paper = { name: "paper" } as Broker;
const referenceData = {
  read: async () => ({ instruments: paperReference("").instruments }) as unknown as Reference,
  changed: async () => 1,
};
const fair = { gaps: [], halted_symbols: [], reason: "a drill" };

it("is fair at first, is set whole, told, and shown", async () => {
  const rig = serviceRig(1);
  const weather = createPaperWeather(rig.portsOf("oms", { brokers: [paper], referenceData }));
  expect(await weather.getPaperWeather()).toEqual({ gaps: [], halted_symbols: [], reason: "" });
  const asked = { ...fair, report_loss_pct: 0.2, gaps: [{ symbol: "AAPL", pct: -0.12 }], halted_symbols: ["SPY"] };
  const set = await weather.setPaperWeather(asked, call);
  expect(set).toMatchObject({ report_loss_pct: 0.2, halted_symbols: ["SPY"], set_by: "operator:duty" });
  expect(set).toMatchObject({ gaps: [{ symbol: "AAPL", pct: -0.12, from: expect.stringMatching(/Z$/) }] });
  expect(await weather.getPaperWeather()).toEqual(set);
  expect(rig.told(subjects.paperWeather)).toEqual([set]);
  await weather.setPaperWeather(fair, call);
  expect(await weather.getPaperWeather()).toMatchObject(fair);
  expect(await weather.getPaperWeather()).not.toHaveProperty("report_loss_pct");
  await rig.close();
});

it("refuses what is no weather and says where, and changes nothing", async () => {
  const rig = serviceRig(1);
  const weather = createPaperWeather(rig.portsOf("oms", { brokers: [paper] }));
  for (const [wrong, where] of [
    [{ ...fair, report_loss_pct: 1.5 }, /report_loss_pct/],
    [{ ...fair, broker_silent_until: "soon" }, /broker_silent_until/],
    [{ ...fair, gaps: [{ symbol: "AAPL", pct: -1 }] }, /gaps.0.pct/],
  ] as const) {
    const asked = { ...wrong, gaps: [...wrong.gaps], halted_symbols: [] };
    const thrown = await rejection(weather.setPaperWeather(asked, call), "no weather");
    expect(thrown).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(where) });
  }
  expect(rig.told(subjects.paperWeather)).toEqual([]);
  await rig.close();
});

it("is refused without a reason, and for symbols that nobody trades", async () => {
  const rig = serviceRig(1);
  const weather = createPaperWeather(rig.portsOf("oms", { brokers: [paper], referenceData }));
  expect(await weather.setPaperWeather({ ...fair, reason: " " }, call)).toMatchObject({
    denial: { code: "REASON_MISSING" },
  });
  for (const named of [{ gaps: [{ symbol: "NOPE", pct: 0.1 }] }, { halted_symbols: ["NOPE"] }]) {
    const thrown = await rejection(weather.setPaperWeather({ ...fair, ...named }, call), "weather for nobody");
    expect(thrown).toMatchObject({ code: "NOT_FOUND", message: expect.stringContaining("NOPE") });
  }
  expect(rig.told(subjects.paperWeather)).toEqual([]);
  await rig.close();
});

it("is refused where no paper broker runs", async () => {
  const rig = serviceRig(1);
  const weather = createPaperWeather(rig.portsOf("oms", { brokers: [] }));
  expect(await weather.setPaperWeather(fair, call)).toMatchObject({ denial: { code: "WEATHER_NOT_PAPER" } });
  expect(await weather.getPaperWeather()).toMatchObject({ denial: { code: "WEATHER_NOT_PAPER" } });
  await rig.close();
});
