// Operations' shell. It hears every subject on the bus from the first minute, because what it has not heard it can neither
// audit nor alarm about; it keeps the audit log; it declares a process lost when its lease runs out; and it runs the feed of prices.
import type { Quote } from "../../contracts/src/records/market.ts";
import { everySubject } from "../../contracts/src/subjects.ts";
import type { Health } from "../../ports/health.ts";
import type { RpcService } from "../../ports/rpc.ts";
import { fundsHalted } from "../halts/halt-request.ts";
import { oneAtATime } from "../reference/one-at-a-time.ts";
import { referenceFunds, referenceProcedures } from "../reference/reference-procedures.ts";
import { referenceReader } from "../reference/reference-view.ts";
import { type Parts, startParts } from "../shared/parts.ts";
import type { Service, ServicePorts } from "../shared/service.ts";
import { startLastingAudit } from "./audit/anew/lasting-audit.ts";
import type { RunningAudit } from "./audit/audit-ports.ts";
import { watchCheckpointAge } from "./audit/checking/checkpoint-age.ts";
import { startSecretWatch } from "./audit/intake/secret-watch.ts";
import { auditFunds } from "./audit/queries/audit-funds.ts";
import { auditQueries } from "./audit/queries/audit-queries.ts";
import { type WatchedChat, watchChat } from "./chat/chat-health.ts";
import { startDrills } from "./drills/drills.ts";
import { eventQueries } from "./events/tail-events.ts";
import { startFilings } from "./filings/filings.ts";
import { startFlatten } from "./flatten/flatten.ts";
import { foreignEvents } from "./foreign/publish-events.ts";
import { haltChanges } from "./halts/changes.ts";
import { type RunningHalts, startHalts } from "./halts/halts.ts";
import { marketQueries } from "./market-queries.ts";
import { startMarks } from "./marks.ts";
import { rememberQuotes } from "./newest-quotes.ts";
import { hearOutsideQuotes } from "./outside-quotes.ts";
import { startParked } from "./parked/parked.ts";
import { keepBooks } from "./replay/keep-books.ts";
import { keepMarket } from "./replay/keep-market.ts";
import { replayQueries } from "./replay/replay-queries.ts";
import { restrictionHandlers } from "./restrictions.ts";
import { riskQueries } from "./risk-queries.ts";
import { secretQueries } from "./secrets/secrets.ts";
import { startUnaudited } from "./unaudited.ts";
import { watchLeases } from "./watch-leases.ts";
import { type RunningWatchdogs, startWatchdogs } from "./watchdogs/watchdogs.ts";
import { createWorkerAlarms } from "./worker-alarms.ts";
import { startWorkers } from "./workers.ts";

/** What is only counted may be counted later, many at once. */
const observedEveryMs = 2_000;

export const operations: Service = {
  name: "operations",
  sentence: "Holds halts and the audit chain, runs the watchdogs and hears every event.",
  needs: [],
  start: (given) => startParts(given, (parts) => assemble({ ...given, chat: watchChat(given.chat) }, parts)),
};

async function assemble(ports: ServicePorts & { readonly chat: WatchedChat }, parts: Parts) {
  const observed = ports.metrics.counter("portcullis_events_observed_total", "Events that operations has heard.", [
    "subject",
  ]);
  const everything = { name: "operations.observer", subjects: [everySubject], everyMs: observedEveryMs };
  const observer = ports.bus.subscribe(everything, async ({ subject }) => observed.add(1, { subject }));
  parts.add("observer", await observer);
  const audit = parts.add("audit log", await startLastingAudit({ ...ports, auditSettings: ports.settings.audit }));
  const folder = ports.settings.audit.signingKeyPath.split("/").slice(0, -2).join("/");
  parts.add("secrets", startSecretWatch({ ...ports, folder }));
  parts.add("leases", watchLeases(ports, createWorkerAlarms(ports)));
  const remembered = rememberQuotes(ports.quotes, ports.clock);
  const market = parts.add("kept market", keepMarket(ports, createWorkerAlarms(ports)));
  if (ports.replayQueries !== undefined)
    parts.add("kept books", keepBooks({ ...ports, replayQueries: ports.replayQueries }));
  parts.add("marks", startMarks({ ...ports, quotes: market.tapped(remembered.quotes) }));
  const outside = parts.add("outside quotes", await hearOutsideQuotes(ports, market.hearOutside));
  const quotes = { simulated: remembered.newest, live: outside.newest, isBelieved: outside.isBelieved };
  const workers = parts.add("workers", await startWorkers(ports, quotes));
  const halts = parts.add("halts", await startHalts(ports, createWorkerAlarms(ports)));
  const parked = parts.add("parked events", startParked(ports));
  const unaudited = parts.add("unaudited changes", startUnaudited(ports));
  const age = watchCheckpointAge({ ports, alarms: createWorkerAlarms(ports), status: audit.status });
  const unsigned = parts.add("checkpoint age", age);
  const watchdogs = parts.add("watchdogs", await watchdogsOf(ports, audit, halts, remembered.newest, folder));
  const filings = parts.add("filings", await startFilings(ports));
  const haltHandlers = startHaltQueries(ports, parts, halts, remembered.newest);
  return {
    rpc: [
      {
        name: "Operations",
        handlers: { ...audit.rpcHandlers, ...halts.handlers, ...filings.handlers },
        fundsOf: { ...auditFunds(ports.referenceData), RequestHalt: fundsHalted },
      },
      ...filings.queries,
      auditQueries({ ...ports, ...audit }),
      riskQueries(ports),
      marketQueries({ ...ports, ...remembered }),
      replayQueries({ ...ports, running: market.running }),
      secretQueries({ ...ports, folder }),
      { name: "RiskWorkers", handlers: { ...workers.handlers, ...parked.handlers, ...unaudited.handlers } },
      { name: "HaltDesk", handlers: { ...haltHandlers, ...haltChanges(ports) } },
      ...(ports.eventFeed === undefined ? [] : [eventQueries(ports.eventFeed)]),
      foreignEvents(ports, outside.sources),
      referenceWithoutTreasury(ports),
      { name: "Watchdogs", handlers: { ...restrictionHandlers(ports), ...watchdogs?.handlers } },
    ],
    health: () =>
      healthOf(
        audit,
        both(both(workers.health(), unsigned.health()), watchdogs?.health() ?? { status: "ok" }),
        halts.health(),
      ),
  };
}

/** They need a database with everybody's books; without one nothing is watched. */
async function watchdogsOf(
  ports: ServicePorts & { readonly chat: WatchedChat },
  audit: Pick<RunningAudit, "status">,
  halts: RunningHalts,
  newest: ReadonlyMap<string, Quote>,
  folder: string,
): Promise<RunningWatchdogs | undefined> {
  const { databaseCare, watchdogFile: file, chat } = ports;
  if (databaseCare === undefined || file === undefined) return undefined;
  const witnessComplaints = ports.witnesses === undefined ? undefined : () => audit.status().witnessComplaints;
  const given = { databaseCare, file, folder, chat, witnessComplaints };
  return startWatchdogs({ ports, newest, halts, alarms: createWorkerAlarms(ports), ...given });
}

/** What operators do beside halting. Paper funds are kept with the paper broker; without any broker there is nothing to flatten. */
function startHaltQueries(
  ports: ServicePorts,
  parts: Parts,
  halts: RunningHalts,
  newest: ReadonlyMap<string, Quote>,
): RpcService["handlers"] {
  const alarms = createWorkerAlarms(ports);
  const broker = ports.brokers.find(({ name }) => name === "paper") ?? ports.brokers[0];
  const flatten = broker && startFlatten({ ports, orderManagement: ports.orderManagement, broker, alarms });
  parts.add("flatten", flatten);
  const drills = startDrills({ ports, halts, newest, broker: broker?.name ?? "paper", alarms });
  parts.add("drills", drills);
  return { ...flatten?.handlers, ...drills.handlers };
}

/** What a platform without treasury needs of it; what funds are worth is then what a treasury elsewhere published. */
function referenceWithoutTreasury(ports: ServicePorts): RpcService {
  const reader = referenceReader(ports.referenceData);
  const handlers = referenceProcedures({ ports, reader, newestOwn: () => undefined, setting: oneAtATime() });
  return { name: "Treasury", handlers, fundsOf: referenceFunds };
}

/** Neither fails by itself; what both complain of is said together. */
function both(one: Health, other: Health): Health {
  const complaints = [one, other].flatMap(({ complaint }) => complaint ?? []);
  return complaints.length === 0 ? one : { ...one, complaint: complaints.join(" ") };
}

/** A log that takes no entries or does not verify is everybody's business; one that no witness answers for is reported by its status. */
export function healthOf(
  audit: Pick<RunningAudit, "status">,
  workers: Health = { status: "ok" },
  halts: Health = { status: "ok" },
): Health {
  const { state, broken, complaint } = audit.status();
  if (state !== "open") {
    const why = complaint ?? "no reason was given";
    return { status: "failing", complaint: `The audit log takes no entries (${state}): ${why}` };
  }
  if (broken === undefined) return halts.status === "ok" ? workers : halts;
  return { status: "failing", complaint: `The audit log does not verify: ${broken}` };
}
