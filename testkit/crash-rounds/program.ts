// The child process of the crash rounds: becomes what its order says, on the platform's own composition, and ends when told to or
// when the test that started it is gone. It is bundled at the start of the test and killed at any moment.

import { createLog } from "../../adapters/log/pino-log.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { systemRandom } from "../../adapters/system/random.ts";
import { systemTimers } from "../../adapters/system/timers.ts";
import { createMetrics } from "../../adapters/telemetry/prometheus-metrics.ts";
import { openTransport, type Transport } from "../../adapters/transport/open-transport.ts";
import { Fault, messageOf } from "../../contracts/src/fault.ts";
import { layFoundation } from "../../supervisor/foundation.ts";
import { type Journal, openJournal } from "./journal.ts";
import { publishEffect, sourceSubject, subscriptionName } from "./load.ts";
import type { Command, Connected, Order, Word } from "./order.ts";
import { startWriter } from "./writer.ts";

const order = JSON.parse(process.argv[2] ?? "{}") as Order;
const timers = systemTimers();
const ports = { clock: systemClock(), timers, random: systemRandom() };
const log = createLog({ level: "info", pretty: false, colour: false }).with({ child: order.name });
const startMsMax = 60_000;

function tell(word: Word): void {
  process.send?.(word);
}

function onCommand(run: (command: Command) => Promise<void> | void): void {
  process.on("message", (command: Command) => void run(command));
}

/** A process that cannot start would be started again by its supervisor; here it tries again by itself. */
async function persistently<T>(start: () => Promise<T>): Promise<T> {
  const stepMs = 100;
  for (let waitedMs = 0; ; waitedMs += stepMs) {
    try {
      return await start();
    } catch (thrown) {
      log.warn("could not start", { reason: messageOf(thrown) });
      if (!(thrown instanceof Fault) || waitedMs > startMsMax) throw thrown;
      await timers.sleep(stepMs);
    }
  }
}

function connect(connected: Connected, housekeeping: boolean): Promise<Transport> {
  const { name, configuration, database } = connected;
  const tracer = { span: <T>(_name: string, _fields: unknown, work: () => Promise<T>) => work() };
  const tools = { ...ports, log, metrics: createMetrics({ service: name }), tracer };
  // Its events are those that every service may publish.
  const options = { ...tools, configuration, database, source: name, services: ["operations"], housekeeping };
  return persistently(() => openTransport(options));
}

async function keep(keeper: Extract<Order, { role: "keeper" }>): Promise<void> {
  const foundation = await layFoundation(keeper.configuration, { ...ports, log });
  const report = (): void => {
    const pid = foundation.embedded()?.pid;
    if (pid !== undefined) tell({ type: "ready", server: { pid, address: foundation.database } });
  };
  foundation.onRestart(report);
  void foundation.gaveUp.then((fault) => {
    throw fault;
  });
  onCommand(async (command) => {
    if (command !== "stop") return;
    await foundation.close();
    process.exit(0);
  });
  report();
}

async function write(writer: Extract<Order, { role: "writer" }>): Promise<void> {
  const { store } = await connect(writer, false);
  const { name, seed } = writer;
  const running = startWriter({ name, seed, store, timers, journal: openJournal(writer.journalPath) });
  onCommand(async (command) => {
    if (command === "resume") running.resume();
    if (command !== "pause") return;
    await running.pause();
    tell({ type: "paused" });
  });
  tell({ type: "ready" });
}

/** The effect and the mark that it was done are one transaction: this is the de-duplication that the bus asks of its users. */
async function subscribe(subscriber: Connected): Promise<void> {
  const transport = await connect(subscriber, false);
  const journal: Journal = openJournal(subscriber.journalPath);
  const options = { name: subscriptionName, subjects: [sourceSubject.name] };
  await persistently(() =>
    transport.bus.subscribe(options, async (event) => {
      journal({ kind: "handed", ids: [event.id] });
      await transport.store.transact("crash-rounds.effect", async (unit) => {
        if (await unit.handled.firstTime(subscriptionName, event.id)) await publishEffect(unit.events, event);
      });
    }),
  );
  tell({ type: "ready" });
}

async function relay(connected: Connected): Promise<void> {
  await connect(connected, true);
  tell({ type: "ready" });
}

process.once("disconnect", () => process.exit(0));
process.title = `crash-rounds ${order.name}`;
if (order.role === "keeper") await keep(order);
else if (order.role === "writer") await write(order);
else if (order.role === "subscriber") await subscribe(order);
else await relay(order);
