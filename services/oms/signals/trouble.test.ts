// Looking for alerts that wait and for strategies that fell silent: when it cannot be done that is a warning, once, and its end is reported.
import { expect, it } from "vitest";
import { Fault } from "../../../contracts/src/fault.ts";
import type { Log } from "../../../ports/log.ts";
import type { Store } from "../../../ports/store.ts";
import { scheduler } from "../../../testkit/virtual/scheduler.ts";
import type { OmsPorts } from "../oms-parts.ts";
import { createSignalWorker } from "./signal-worker.ts";
import { watchSilence } from "./silence-watch.ts";

function fixture() {
  const time = scheduler({ seed: 1 });
  const lines: string[] = [];
  const write = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log = { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") } as Log;
  let isAway = true;
  const transact = async (_name: string, work: (unit: never) => Promise<unknown>) => {
    if (isAway) throw new Fault("STORE_UNAVAILABLE", "The database is away.", { retry: "later" });
    return work({ signals: { waitingLanes: async () => [], newestSignal: async () => undefined } } as never);
  };
  const settings = { market: {}, tradingView: { heartbeatsMs: { "alpha-momentum": 3_600_000 }, funds: {} } };
  const store = { transact } as Partial<Store> as Store;
  const ports = { clock: time.clock, timers: time.timers, store, log, settings } as unknown as OmsPorts;
  const pass = (ms: number) => time.run({ untilMs: time.elapsedMs() + ms });
  const noticed = () => lines.filter((line) => !line.startsWith("debug"));
  const comesBack = () => {
    isAway = false;
  };
  return { time, ports, pass, noticed, comesBack };
}

it("alerts that cannot be looked through are a warning, and that they can be again is reported", async () => {
  const { time, ports, pass, noticed, comesBack } = fixture();
  const worker = createSignalWorker(ports, () => Promise.reject(new Error("nothing is handed in")));
  await pass(16_000);
  expect(noticed()).toEqual(["warn signals cannot be looked through"]);
  comesBack();
  await pass(11_000);
  expect(noticed()).toEqual(["warn signals cannot be looked through", "info signals can be looked through again"]);
  await time.finish("the end", worker.stop());
});

it("silence that cannot be judged is a warning, and that it can be again is reported", async () => {
  const { time, ports, pass, noticed, comesBack } = fixture();
  const silence = watchSilence(ports, () => Promise.reject(new Error("no calendar is asked for")));
  await pass(16_000);
  expect(noticed()).toEqual(["warn the silence of strategies cannot be judged"]);
  comesBack();
  await pass(11_000);
  expect(noticed().slice(1)).toEqual(["info the silence of strategies can be judged again"]);
  await time.finish("the end", silence.stop());
});
