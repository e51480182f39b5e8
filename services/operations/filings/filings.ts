// Filings: the events that regulators want of the funds that are enabled for them, and what is shown of their records.
//
//  1. Where no fund is enabled nothing runs and nothing is written: not a file, not a folder, not an entry, and no subscription holds back the outbox.
//  2. A file that could not be written, or that somebody cut, catches up by itself: all of them at the start, and every half minute while one is behind.
import { enabledRegimes } from "../../../core/filings/index.ts";
import type { Subscription } from "../../../ports/bus.ts";
import type { FilingDaySum, FilingFile } from "../../../ports/filing-records.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import { oneAtATime } from "../../reference/one-at-a-time.ts";
import { referenceReader } from "../../reference/reference-view.ts";
import { type Loop, startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import { breathe } from "../../shared/waiting.ts";
import { createWorkerAlarms } from "../worker-alarms.ts";
import { bringFile } from "./bring-file.ts";
import { createFileImages } from "./file-images.ts";
import { filingChecks } from "./filing-checks.ts";
import type { FilingParts } from "./filing-parts.ts";
import { filingQueries } from "./filing-queries.ts";
import { filingVerbs } from "./filing-verbs.ts";
import { hearOrders, ordersSubscription, tellBacklog } from "./hear-orders.ts";
import { createQuarantineAlarms, type QuarantineAlarms } from "./quarantine-alarms.ts";
import { reportEvent } from "./report-event.ts";
import { noteSettings, noteSwitches } from "./switches.ts";
import { startUploading } from "./upload-daily.ts";

interface RunningFilings {
  /** Of the service Operations. */
  readonly handlers: RpcService["handlers"];
  /** What is shown of them. */
  readonly queries: readonly RpcService[];
  stop(): Promise<void>;
}

const lookEveryMs = 30_000;
const daysPage = 200;
/** Files that wait for their lines; beyond, all of them are looked through. */
const touchedMax = 1_000;

export async function startFilings(ports: ServicePorts): Promise<RunningFilings> {
  const aside = createQuarantineAlarms(ports, createWorkerAlarms(ports));
  const parts = partsOf(ports, aside);
  const enabled = Object.entries(ports.settings.filings?.funds ?? {}).flatMap(([fundId, fund]) =>
    enabledRegimes(fund).map(({ name: regime }) => ({ fundId, regime })),
  );
  await noteSettings(ports, ports.settings.filings?.funds ?? {});
  const { wasEnabled } = await noteSwitches(ports, enabled);
  const looks = (hearing: Pick<Subscription, "caughtUpAt"> | undefined, touched: (file: FilingFile) => void) => [
    withVerbs(filingQueries(ports), parts, touched),
    filingChecks(parts, {
      heardUntil: () => (hearing === undefined ? ports.clock.now() : hearing.caughtUpAt()),
      touched,
    }),
  ];
  if (enabled.length === 0) {
    // Whatever it had not heard is not wanted any more.
    if (wasEnabled) await ports.bus.forget(ordersSubscription);
    const handlers = { ReportRegulatoryEvent: reportEvent(parts, () => undefined) };
    return { handlers, queries: looks(undefined, () => undefined), stop: async () => undefined };
  }
  const files = keepFiles(parts, [...new Set(enabled.map(({ fundId }) => fundId))], ports);
  const handlers = { ReportRegulatoryEvent: reportEvent(parts, files.touched) };
  const reader = referenceReader(ports.referenceData);
  const hearing = await hearOrders(parts, { bus: ports.bus, reader, touched: files.touched });
  const what = { failing: "whether filings stand still cannot be seen", working: "filings are watched again" };
  const watching = startLoop({
    ports,
    what,
    firstAfterMs: lookEveryMs,
    run: async () => {
      await tellBacklog(parts, hearing);
      await aside.look();
      return lookEveryMs;
    },
  });
  const uploading = startUploading(parts, ports);
  return {
    handlers,
    queries: looks(hearing, files.touched),
    async stop() {
      await uploading.stop();
      await hearing.close();
      await watching.stop();
      await files.stop();
    },
  };
}

/** Of the same service: what is shown, and what people do. */
function withVerbs(shown: RpcService, parts: FilingParts, touched: (file: FilingFile) => void): RpcService {
  return { ...shown, handlers: { ...shown.handlers, ...filingVerbs(parts, touched) } };
}

function partsOf(ports: ServicePorts, { quarantined }: QuarantineAlarms): FilingParts {
  return {
    ports,
    images: createFileImages(ports.store, ports.filingFiles),
    alarms: createWorkerAlarms(ports),
    sha256: (text) => Array.from(ports.sha256(text), (byte) => byte.toString(16).padStart(2, "0")).join(""),
    inTurn: oneAtATime(),
    sealing: oneAtATime(),
    quarantined,
  };
}

interface KeptFiles {
  touched(file: FilingFile): void;
  stop(): Promise<void>;
}

/** Brings on the files that have lines to come; all of them at first, and after one could not be written. */
function keepFiles(parts: FilingParts, fundIds: readonly string[], ports: ServicePorts): KeptFiles {
  const waiting = new Map<string, FilingFile>();
  let isAllDue = true;
  const what = { failing: "submission files cannot be written", working: "submission files can be written again" };
  const loop: Loop = startLoop({ ports, what, firstAfterMs: 0, run: bringAll });

  async function bringAll(ending: AbortSignal): Promise<number | undefined> {
    const due = isAllDue ? everyFile(ports, fundIds, ending) : [...waiting.values()];
    isAllDue = false;
    waiting.clear();
    for await (const file of due) {
      if (ending.aborted) return undefined;
      if ((await bringFile(parts, file)) === undefined) isAllDue = true;
      await breathe(ports.timers);
    }
    return isAllDue ? lookEveryMs : undefined;
  }

  return {
    touched(file) {
      const { regime, fundId, date, status } = file;
      if (waiting.size >= touchedMax) isAllDue = true;
      else waiting.set(JSON.stringify([regime, fundId, date, status]), file);
      loop.wake();
    },
    stop: () => loop.stop(),
  };
}

async function* everyFile(
  { store }: Pick<ServicePorts, "store">,
  fundIds: readonly string[],
  ending: AbortSignal,
): AsyncGenerator<FilingFile> {
  for (const fundId of fundIds) {
    for (let after: FilingDaySum | undefined; !ending.aborted; ) {
      const query = { fundId, countMax: daysPage, ...(after !== undefined && { after }) };
      const days = await store.transact("filings.look", (unit) => unit.filings.days(query), { isOneStatement: true });
      for (const { regime, date, written, quarantined } of days) {
        if (written > 0) yield { regime, fundId, date, status: "WRITTEN" };
        if (quarantined > 0) yield { regime, fundId, date, status: "QUARANTINED" };
      }
      after = days.at(-1);
      if (days.length < daysPage) break;
    }
  }
}
