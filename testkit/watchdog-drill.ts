// The paper platform with somebody who drills its watchdogs: commands as docs/watchdogs.md has them, what they show, and orders that find out what is
// denied.
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OrderStatus } from "../contracts/src/generated/svc/v1/platform.ts";
import type { Episode, Episodes, WatchdogList, WatchdogStatus } from "../contracts/src/generated/svc/v1/watchdogs.ts";
import { openPaperFixture, type PaperFixture } from "./crash-rounds/paper-fixture.ts";
import { eventually, pause } from "./platform.ts";

/** Promised for every drill; a busy machine is given as much again. */
export const drillMsMax = 240_000;

export interface CommandEnd {
  readonly code: number | null;
  readonly printed: string;
}

export interface Probe {
  readonly fund_id: string;
  readonly strategy_id: string;
  readonly symbol: string;
  readonly side: string;
  readonly quantity: string;
  readonly asset_class?: string;
  readonly order_type?: string;
  readonly limit_price?: string;
  readonly reduce_only?: boolean;
}

export interface Denied {
  readonly gate: string;
  readonly code: string;
  readonly reason: string;
}

export interface WatchdogDrill {
  readonly fixture: PaperFixture;
  /** Runs `ctl` with a line as it stands in the page. */
  ctl(line: string): Promise<CommandEnd>;
  /** The same, and it must end well. */
  does(line: string): Promise<string>;
  rows(watchdog: string): Promise<readonly WatchdogStatus[]>;
  row(watchdog: string, scope?: Partial<WatchdogStatus>): Promise<WatchdogStatus | undefined>;
  episodes(watchdog: string): Promise<readonly Episode[]>;
  /** Waits until it stands so, and gives its row. */
  until(watchdog: string, state: string, scope?: Partial<WatchdogStatus>, msMax?: number): Promise<WatchdogStatus>;
  /** Waits until the episode has cleared. */
  cleared(watchdog: string, episodeId: string): Promise<Episode>;
  /** Whether chat has it, and how many entries of the audit log are about this event of the episode. */
  reported(episodeId: string, event: string): Promise<{ readonly chat: boolean; readonly entries: readonly string[] }>;
  openRestrictions(episodeId: string): Promise<readonly string[]>;
  /** Hands an order in and gives how it was decided: undefined when it passed the gates. */
  probe(order: Probe): Promise<Denied | undefined>;
  /** kill -STOP or -CONT of a process of the platform; of "postgres" with everything that it has started. */
  signal(victim: string, name: "SIGSTOP" | "SIGCONT"): void;
  close(): Promise<void>;
}

const lookMs = 500;
/** The exit code of whoever got no answer. */
const unavailable = 9;

export async function openWatchdogDrill(name: string, configuration: string): Promise<WatchdogDrill> {
  const fixture = await openPaperFixture(name, configuration);
  const { dataFolder } = fixture.platform();
  let orders = 0;

  function ctl(line: string): Promise<CommandEnd> {
    const url = `http://${fixture.platform().runFile().addresses["gateway"]}`;
    const env = {
      ...process.env,
      PORTCULLIS_DATA_DIR: dataFolder,
      PORTCULLIS_URL: url,
      XDG_CONFIG_HOME: join(dataFolder, "xdg"),
    };
    const program = join(import.meta.dirname, "..", "edges", "ctl", "bin", "ctl.js");
    const child = spawn(process.execPath, [program, ...line.split(" ")], { env });
    let printed = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed += text));
    return new Promise((resolve) => child.once("close", (code) => resolve({ code, printed })));
  }

  async function rows(watchdog: string): Promise<readonly WatchdogStatus[]> {
    return (await fixture.askAsOperator<WatchdogList>("Watchdogs", "ListWatchdogs", { watchdog })).watchdogs;
  }

  async function row(watchdog: string, scope: Partial<WatchdogStatus> = {}): Promise<WatchdogStatus | undefined> {
    const wanted = Object.entries(scope);
    return (await rows(watchdog)).find((one) =>
      wanted.every(([key, value]) => one[key as keyof WatchdogStatus] === value),
    );
  }

  async function episodes(watchdog: string): Promise<readonly Episode[]> {
    const request = { watchdog, count_max: 0, open_only: false };
    return (await fixture.askAsOperator<Episodes>("Watchdogs", "ListEpisodes", request)).episodes;
  }

  async function probe({
    asset_class = "EQUITY",
    order_type = "MARKET",
    ...order
  }: Probe): Promise<Denied | undefined> {
    orders += 1;
    const id = `${name}-probe-${orders}`;
    const whole = {
      ...order,
      asset_class,
      order_type,
      order_id: id,
      idempotency_key: id,
      tif: "DAY",
      broker: "paper",
      actor: "drill",
    };
    let status = await fixture.ask<OrderStatus>("Oms", "SubmitOrder", whole);
    for (let looks = 0; status.state === "PENDING_CHECK" && looks < 100; looks += 1) {
      await pause(100);
      status = await fixture.ask<OrderStatus>("Oms", "GetOrder", { order_id: id });
    }
    if (status.state !== "REJECTED") return undefined;
    return { gate: status.decision?.rejecting_gate ?? "", code: status.code ?? "", reason: status.reason ?? "" };
  }

  return {
    fixture,
    ctl,
    async does(line) {
      let { code, printed } = await ctl(line);
      // A busy machine is late at times; every one of these may be done again.
      for (let again = 0; code === unavailable && again < 5; again += 1) {
        await pause(2_000);
        ({ code, printed } = await ctl(line));
      }
      if (code !== 0) throw new Error(`ctl ${line} ended with ${code}: ${printed}`);
      return printed;
    },
    rows,
    row,
    episodes,
    async until(watchdog, state, scope = {}, msMax = drillMsMax) {
      let found: WatchdogStatus | undefined;
      const awaited = `${watchdog} ${JSON.stringify(scope)} is ${state}`;
      const looking = eventually(
        awaited,
        async () => {
          await pause(lookMs);
          found = await row(watchdog, scope);
          return found?.state === state;
        },
        msMax,
      );
      await looking.catch((thrown: unknown) => {
        throw new Error(`${String(thrown)}: ${JSON.stringify(found)}`);
      });
      return found as WatchdogStatus;
    },
    async cleared(watchdog, episodeId) {
      let found: Episode | undefined;
      await eventually(
        `${episodeId} has cleared`,
        async () => {
          await pause(lookMs);
          found = (await episodes(watchdog)).find((one) => one.episode_id === episodeId);
          return found?.cleared_at !== undefined;
        },
        drillMsMax,
      );
      return found as Episode;
    },
    async reported(episodeId, event) {
      const text = `select action from portcullis.audit_entry where convert_from(text, 'UTF8') like $1 and convert_from(text, 'UTF8') like $2`;
      const found = await fixture.owner.query(text, [`%${episodeId}%`, `%"event":"${event}"%`]);
      const chat = fixture.printed().includes(`"key":"watchdog ${episodeId} ${event}`);
      return { chat, entries: found.rows.map(({ action }: { action: string }) => action) };
    },
    async openRestrictions(episodeId) {
      const text = "select kind from portcullis.restriction where episode_id = $1 and ended_us is null order by kind";
      return (await fixture.owner.query(text, [episodeId])).rows.map(({ kind }: { kind: string }) => kind);
    },
    probe,
    signal(victim, signal) {
      const { processes, database } = fixture.platform().runFile();
      const pid = victim === "postgres" ? database.pid : processes[victim];
      if (pid === undefined) throw new Error(`there is no process ${victim}`);
      for (const one of victim === "postgres" ? [pid, ...childrenOf(pid)] : [pid]) process.kill(one, signal);
    },
    close: () => fixture.close(),
  };
}

function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

function parentOf(pid: number): number | undefined {
  try {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
    return Number(rest.split(" ")[1]);
  } catch (thrown) {
    // It has ended meanwhile, and has no parent any more.
    if (thrown instanceof Error && "code" in thrown && (thrown.code === "ENOENT" || thrown.code === "ESRCH"))
      return undefined;
    throw thrown;
  }
}
