// What is done to a platform in a round: kill -9 of a part or of the database, a backend that stands still, an answer to a commit that is lost on
// the way. For the last one the database's socket is moved aside and a proxy takes its place for a while.
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import type { ConnectionTarget } from "../../adapters/postgres/connection.ts";
import { startCutProxy } from "../cut-proxy.ts";
import { eventually, type Platform, pause } from "../platform.ts";
import { prng } from "../virtual/prng.ts";

const kills = [
  "part",
  "postgres",
  "part and postgres",
  "supervisor",
  "backend stands still",
  "backend",
  "answer lost",
  "answer lost, then part",
] as const;
export type Kill = (typeof kills)[number];

/** Twenty-five: every kill three times, and the part once more, in the order of the seed. */
export function dealt(seed: number): readonly Kill[] {
  const throws = prng(seed).fork("blows");
  const deck: Kill[] = [...kills, ...kills, ...kills, "part"];
  const order: Kill[] = [];
  while (deck.length > 0) order.push(...deck.splice(throws.below(deck.length), 1));
  return order;
}

/** Which part of the platform is aimed at, and how its commits are known. */
export interface Aim {
  readonly part: string;
  /** The function of the database that it appends with. */
  readonly append: string;
  /** What it says when the answer to a commit is lost, and when it knows the outcome. */
  readonly answerLost: string;
  readonly outcomeKnown: string;
}

export interface Struck {
  readonly aim: Aim;
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

export async function strike(kill: Kill, fixture: Struck): Promise<void> {
  if (kill === "part") killService(fixture);
  else if (kill === "postgres") killServer(fixture);
  else if (kill === "part and postgres") {
    killService(fixture);
    killServer(fixture);
  } else if (kill === "supervisor") await killSupervisor(fixture);
  else if (kill === "backend stands still") await holdBackend(fixture);
  else if (kill === "backend") process.kill(await appendingBackend(fixture), "SIGKILL");
  else await loseAnswers(fixture, kill === "answer lost" ? "resolve" : "kill the part");
}

/** Only after looking at it: its number may be another process's by now. */
function killOurs(pid: number, mark: string): void {
  const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
  if (!command.includes(mark)) throw new Error(`the process ${pid} is not ours: ${command}`);
  process.kill(pid, "SIGKILL");
}

function killService({ platform, aim: { part } }: Struck): void {
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

/** The server process that the part appends through; it is known by the statement that it runs all the time. */
async function appendingBackend({ owner, aim }: Struck): Promise<number> {
  let found: number | undefined;
  await eventually(`a backend runs ${aim.append}`, async () => {
    const text = "select pid from pg_stat_activity where datname = current_database() and query like $1";
    found = (await owner.query<{ pid: number }>(text, [`select ${aim.append}%`])).rows[0]?.pid;
    return found !== undefined;
  });
  if (found === undefined) throw new Error(`nobody runs ${aim.append}`);
  return found;
}

async function holdBackend(fixture: Struck): Promise<void> {
  const pid = await appendingBackend(fixture);
  process.kill(pid, "SIGSTOP");
  // tidy: sleeps because it stands still for as long.
  await pause(standStillMs);
  process.kill(pid, "SIGCONT");
}

async function loseAnswers(fixture: Struck, then: "resolve" | "kill the part"): Promise<void> {
  const { owner, target, aim } = fixture;
  const { answerLost, outcomeKnown } = aim;
  const socket = `.s.PGSQL.${target.port}`;
  const path = join(target.host, socket);
  const aside = join(target.host, "aside");
  const proxy = await startCutProxy({ ...target, host: aside }, { message: aim.append, answer: "SELECT 1\0" });
  mkdirSync(aside);
  renameSync(path, join(aside, socket));
  symlinkSync(join(proxy.target.host, socket), path);
  const count = (sentence: string): number => fixture.printed().split(sentence).length - 1;
  const lose = async (outcome: "committed" | "not committed", until: string): Promise<void> => {
    const before = count(until);
    proxy.loseNextCommitAnswer(outcome);
    await eventually(`an answer was lost: ${until}`, () => count(until) > before, lostMsMax);
  };
  try {
    // The connection that it has now does not go through the proxy; its next one does.
    const before = await appendingBackend(fixture);
    await owner.query("select pg_terminate_backend($1)", [before]);
    await eventually("it has a new connection", async () => (await appendingBackend(fixture)) !== before);
    if (then === "kill the part") {
      await lose("committed", answerLost);
      killService(fixture);
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
