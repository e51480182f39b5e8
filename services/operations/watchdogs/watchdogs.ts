// The ten watchdogs, each with the reader of its inputs, run beside operations: one list, one shape, one loop each. What they decide is in
// core/watchdogs; how it is read, kept and carried out is here.
import { format } from "../../../contracts/src/instant.ts";
import type { Quote } from "../../../contracts/src/records/market.ts";
import { watchdogsByName as of } from "../../../core/watchdogs/index.ts";
import type { DatabaseCare } from "../../../ports/database-care.ts";
import type { Health } from "../../../ports/health.ts";
import type { RpcService } from "../../../ports/rpc.ts";
import type { StatusFile } from "../../../ports/status-file.ts";
import { startLoop } from "../../shared/loop.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WatchedChat } from "../chat/chat-health.ts";
import type { RunningHalts } from "../halts/halts.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import { type Assigned, assign } from "./assigned.ts";
import { openBoard } from "./board.ts";
import { createCarryOut } from "./carry-out.ts";
import { createConfiguration, readEveryMs } from "./configuration.ts";
import { watchdogHandlers } from "./control.ts";
import { findHoldingBroker } from "./holding-broker.ts";
import { databaseReader } from "./readers/database.ts";
import { dependencyReader } from "./readers/dependencies.ts";
import { createFacts, type Facts } from "./readers/facts.ts";
import { portfolioVolReader, predictiveHealthReader } from "./readers/fund-values.ts";
import { newsReader } from "./readers/news.ts";
import { thetaReader } from "./readers/option-theta.ts";
import { positionReader } from "./readers/position-changes.ts";
import { strategyPnlReader } from "./readers/strategy-pnl.ts";
import { driftReader } from "./readers/strategy-skill.ts";
import { vpinReader } from "./readers/volume-bars.ts";
import { runWatchdog } from "./run-watchdog.ts";
import { watchWatchdogs } from "./watch-watchdogs.ts";

interface WatchdogOptions {
  readonly ports: ServicePorts;
  readonly newest: ReadonlyMap<string, Quote>;
  readonly halts: Pick<RunningHalts, "trip">;
  readonly alarms: WorkerAlarms;
  readonly databaseCare: DatabaseCare;
  readonly file: StatusFile;
  /** `secret/<prefix>`. */
  readonly folder: string;
  readonly chat: WatchedChat;
  /** Of the audit log's witnesses; undefined when none is configured. */
  readonly witnessComplaints: (() => readonly string[]) | undefined;
}

export interface RunningWatchdogs {
  readonly handlers: RpcService["handlers"];
  /** Never fails; names what is paused. */
  health(): Health;
  stop(): Promise<void>;
}

export async function startWatchdogs(options: WatchdogOptions): Promise<RunningWatchdogs> {
  const { ports, alarms } = options;
  const facts = createFacts(ports, options.newest);
  const assigned = assignAll(options, facts);
  const board = await openBoard(ports);
  const configuration = createConfiguration(ports, assigned, alarms, options.folder);
  let fundIds: readonly string[] = [];
  const readFunds = async (): Promise<readonly string[]> => {
    fundIds = (await facts.funds()).map(({ fund_id: id }) => id);
    return fundIds;
  };
  const holdingBroker = findHoldingBroker({ brokers: ports.brokers, positions: facts.positions });
  const carryOut = createCarryOut({ ...options, board, holdingBroker });
  const settings = startLoop({
    ports,
    what: "the watchdogs' configuration",
    firstAfterMs: 0,
    async run() {
      await readFunds();
      await configuration.refresh();
      board.setPauses(await ports.store.transact("watchdogs.look", (unit) => unit.watchdogs.pauses()));
      return readEveryMs;
    },
  });
  const running = assigned.map((one) =>
    runWatchdog({ ports, assigned: one, board, configuration, carryOut, fundIds: () => fundIds, chat: options.chat }),
  );
  const watching = watchWatchdogs({ ports, running, board, configuration, alarms, file: options.file });
  return {
    handlers: watchdogHandlers({ ...options, facts, assigned, board, configuration, running, fundIds: readFunds }),
    health() {
      const paused = board.pauses(ports.clock.now());
      if (paused.length === 0) return { status: "ok" };
      const named = paused.map(
        ({ watchdog, fundId, until }) => `${watchdog}${fundId === "" ? "" : ` of ${fundId}`} until ${format(until)}`,
      );
      return { status: "ok", complaint: `Watchdogs are paused: ${named.join(", ")}.` };
    },
    async stop() {
      await watching.stop();
      await settings.stop();
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}

/** In the order in which lists show them. */
function assignAll(options: WatchdogOptions, facts: Facts): readonly Assigned[] {
  const { ports, alarms, newest, folder } = options;
  const complain = (sentence: string): void => {
    void alarms.raise("WATCHDOG_STALE", "slow queries", sentence);
  };
  const { witnessComplaints, chat } = options;
  const dependencies = { ports, newest, folder, witnessComplaints, chatComplaint: () => chat.complaint() };
  return [
    assign(of.predictive_health, predictiveHealthReader(facts)),
    assign(of.drift_monitor, driftReader(facts)),
    assign(of.vpin, vpinReader(facts, ports)),
    assign(of.news_spike, newsReader(facts)),
    assign(of.position_anomaly, positionReader(facts)),
    assign(of.db_watchdog, databaseReader(facts, options.databaseCare, complain)),
    assign(of.strategy_watchdog, strategyPnlReader(facts)),
    assign(of.theta_watchdog, thetaReader(facts)),
    assign(of.dependency_watchdog, dependencyReader(dependencies)),
    assign(of.portfolio_vol_dd, portfolioVolReader(facts)),
  ];
}
