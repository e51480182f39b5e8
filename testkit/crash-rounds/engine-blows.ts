// What is done to the engine's world in a round: kill -9 of a process, a backend that stands still, an answer to a commit that is lost on the
// way. For the last one the database's socket is moved aside and a proxy takes its place for a while.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import type { ConnectionTarget } from "../../adapters/postgres/connection.ts";
import { startCutProxy } from "../cut-proxy.ts";
import { eventually, type Platform, pause } from "../platform.ts";

export const blows = [
  "engine",
  "postgres",
  "engine and postgres",
  "supervisor",
  "backend stands still",
  "backend",
  "answer lost",
  "answer lost, then engine",
] as const;
export type Blow = (typeof blows)[number];

export interface Struck {
  platform(): Platform;
  /** What all supervisors so far have printed. */
  printed(): string;
  /** Connections of the database's owner. */
  readonly owner: pg.Pool;
  readonly target: ConnectionTarget;
  /** After the supervisor was killed. */
  startAgain(): Promise<void>;
}

const standStillMs = 2_000;
const lostMsMax = 20_000;
const answerLost = "the answer to a commit was lost";
const outcomeKnown = "the outcome of the commit is known";

export async function strike(blow: Blow, world: Struck): Promise<void> {
  if (blow === "engine") killPart(world, "riskengine");
  else if (blow === "postgres") killServer(world);
  else if (blow === "engine and postgres") {
    killPart(world, "riskengine");
    killServer(world);
  } else if (blow === "supervisor") await killSupervisor(world);
  else if (blow === "backend stands still") await holdBackend(world);
  else if (blow === "backend") process.kill(await journalBackend(world), "SIGKILL");
  else await loseAnswers(world, blow === "answer lost" ? "resolve" : "kill the engine");
}

/** Only after looking at it: a number may belong to somebody else by now. */
function killOurs(pid: number, mark: string): void {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  if (!command.includes(mark)) throw new Error(`the process ${pid} is not ours: ${command}`);
  process.kill(pid, "SIGKILL");
}

function killPart({ platform }: Struck, part: string): void {
  killOurs(platform().runFile().processes[part] ?? 0, `portcullis-${part}`);
}

function killServer({ platform }: Struck): void {
  killOurs(platform().runFile().database.pid ?? 0, platform().dataFolder);
}

async function killSupervisor({ platform, startAgain }: Struck): Promise<void> {
  const killed = platform();
  killed.signal("SIGKILL");
  await killed.exited;
  await eventually("nothing outlives the supervisor", () => killed.processes().length === 0, 30_000);
  await startAgain();
}

/** The server process that writes the journal; it is known by the statement that it runs all the time. */
async function journalBackend({ owner }: Struck): Promise<number> {
  let found: number | undefined;
  await eventually("a backend writes the journal", async () => {
    const text =
      "select pid from pg_stat_activity where datname = current_database() and query like 'select risk_append%'";
    found = (await owner.query<{ pid: number }>(text)).rows[0]?.pid;
    return found !== undefined;
  });
  if (found === undefined) throw new Error("nobody writes the journal");
  return found;
}

async function holdBackend(world: Struck): Promise<void> {
  const pid = await journalBackend(world);
  process.kill(pid, "SIGSTOP");
  await pause(standStillMs);
  process.kill(pid, "SIGCONT");
}

async function loseAnswers(world: Struck, then: "resolve" | "kill the engine"): Promise<void> {
  const { owner, target } = world;
  const socket = `.s.PGSQL.${target.port}`;
  const path = join(target.host, socket);
  const aside = join(target.host, "aside");
  const proxy = await startCutProxy({ ...target, host: aside }, { message: "risk_append", answer: "SELECT 1\0" });
  mkdirSync(aside);
  renameSync(path, join(aside, socket));
  symlinkSync(join(proxy.target.host, socket), path);
  const count = (sentence: string): number => world.printed().split(sentence).length - 1;
  const lose = async (outcome: "committed" | "not committed", until: string): Promise<void> => {
    const before = count(until);
    proxy.loseNextCommitAnswer(outcome);
    await eventually(`an answer was lost: ${until}`, () => count(until) > before, lostMsMax);
  };
  try {
    // The connection that it has now does not go through the proxy; its next one does.
    const before = await journalBackend(world);
    await owner.query("select pg_terminate_backend($1)", [before]);
    await eventually("it has a new connection", async () => (await journalBackend(world)) !== before);
    if (then === "kill the engine") {
      await lose("committed", answerLost);
      killPart(world, "riskengine");
    } else {
      await lose("committed", outcomeKnown);
      await lose("not committed", outcomeKnown);
    }
  } finally {
    renameSync(join(aside, socket), path);
    rmSync(aside, { recursive: true });
    await proxy.close();
  }
}
