// Starting and stopping the platform of this checkout, in the foreground as `npm start` does or in the background.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { exitCodes } from "../../contracts/src/codes/shape.ts";
import { toUnixMs } from "../../contracts/src/instant.ts";
import { dataFolders, dataFolderVariable, operatorAddress, type RunFacts, readRunFacts } from "./data-folder.ts";
import { interrupted, Refusal } from "./failure.ts";
import { isAlive } from "./login/profile-lock.ts";
import { tokenVariable } from "./settings.ts";
import { clean } from "./text/text.ts";
import type { Context } from "./verbs/verb.ts";

/** The first start creates a database; nothing else takes this long. */
const readyPatienceMs = 120_000;
/** The platform promises to end within 10 s. */
const stopPatienceMs = 20_000;
const pauseMs = 150;

/** Where the platform is started from, or the sentence for a ctl that has none around it. */
export function repositoryOf({ repository }: Context): string {
  if (repository !== undefined) return repository;
  const detail = "This ctl is installed without the platform, which starts from its repository: run `npm start` there.";
  throw new Refusal(
    exitCodes.failed,
    "SERVICE_START_FAILED",
    detail,
    "--server or PORTCULLIS_URL names a running one.",
  );
}

/** Runs it here, until it ends or Ctrl-C, which the terminal sends to both of us; its exit code is the answer. */
export function runInForeground(context: Context, repository: string): Promise<number> {
  // Under --json stdout is kept for the one document.
  const stdout = context.json ? 2 : "inherit";
  const child = spawn(process.execPath, [programOf(repository)], {
    cwd: repository,
    env: environmentFor(context),
    stdio: ["inherit", stdout, "inherit"],
  });
  const pass = () => void child.kill("SIGTERM");
  process.once("SIGTERM", pass);
  return new Promise((resolveExit, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      process.removeListener("SIGTERM", pass);
      resolveExit(signal === null ? (code ?? 1) : 1);
    });
  });
}

/** Starts it in the background and waits until it is healthy. */
export async function startDetached(
  context: Context,
  repository: string,
): Promise<{ facts: RunFacts; logPath: string }> {
  const logPath = freshLog(context);
  const log = openSync(logPath, "a", 0o600);
  const child = spawn(process.execPath, [programOf(repository)], {
    cwd: repository,
    env: environmentFor(context),
    stdio: ["ignore", log, log],
    detached: true,
  });
  closeSync(log);
  try {
    const facts = await healthy(context, child, logPath);
    child.unref();
    return { facts, logPath };
  } catch (error) {
    // What did not come up, or was no longer wanted, does not stay.
    if (child.pid !== undefined && child.exitCode === null) {
      child.kill("SIGTERM");
      await gone(context, child.pid, new AbortController().signal);
    }
    throw error;
  }
}

async function healthy(context: Context, child: ChildProcess, logPath: string): Promise<RunFacts> {
  const { clock, timers, signal, terminal } = context;
  const startedMs = toUnixMs(clock.now());
  let failed: Error | undefined;
  child.once("error", (error) => {
    failed = error;
  });
  let reportedS = 0;
  for (;;) {
    const facts = dataFolders(context)
      .map(readRunFacts)
      .find((found) => found?.pid === child.pid);
    const address = facts === undefined ? undefined : operatorAddress(facts);
    if (facts !== undefined && address !== undefined && (await isHealthy(address))) return facts;
    if (signal.aborted) throw interrupted();
    const waitedS = Math.floor((toUnixMs(clock.now()) - startedMs) / 1_000);
    if (failed !== undefined || child.exitCode !== null || child.signalCode !== null) {
      throw startFailure(failed?.message ?? `it ended with ${child.exitCode ?? child.signalCode}`, logPath);
    }
    if (waitedS * 1_000 >= readyPatienceMs) throw startFailure(`it was not healthy after ${waitedS} s`, logPath);
    if (waitedS >= reportedS + 2) {
      reportedS = waitedS;
      terminal.say(terminal.paint.dim(`waiting for it to be healthy (${waitedS} s)`));
    }
    await timers.sleep(pauseMs, signal);
  }
}

function startFailure(why: string, logPath: string): Refusal {
  const tail = readFileSync(logPath, "utf8").split("\n").slice(-12).map(clean).join("\n").trim();
  const detail = `The platform did not start: ${why}.`;
  return new Refusal(exitCodes.failed, "SERVICE_START_FAILED", detail, `${logPath} ends with: ${tail}`);
}

export async function isHealthy(address: string): Promise<boolean> {
  try {
    const answer = await fetch(`${address}/v1/healthz`, { signal: AbortSignal.timeout(2_000), redirect: "manual" });
    await answer.body?.cancel();
    return answer.status === 200;
  } catch {
    // Not up yet, or not any more; the caller decides what that means.
    return false;
  }
}

/** Asks it to end, and waits until it has. */
export async function stopPlatform(context: Context, facts: RunFacts): Promise<void> {
  process.kill(facts.pid, "SIGTERM");
  if (await gone(context, facts.pid, context.signal)) return;
  if (context.signal.aborted) throw interrupted();
  const detail = `Process ${facts.pid} was asked to end and is still there after ${stopPatienceMs / 1_000} s.`;
  throw new Refusal(exitCodes.failed, "SERVICE_STOPPING", detail, "Its log says what it waits for.");
}

async function gone(context: Context, pid: number, signal: AbortSignal): Promise<boolean> {
  const startedMs = toUnixMs(context.clock.now());
  while (isAlive(pid)) {
    if (signal.aborted || toUnixMs(context.clock.now()) - startedMs > stopPatienceMs) return false;
    await context.timers.sleep(pauseMs, signal);
  }
  return true;
}

function programOf(repository: string): string {
  return join(repository, "bin", "portcullis.js");
}

/** Paths that were relative to where ctl was called stay what they were, and the caller's token is none of the platform's business. */
function environmentFor({ environment, folder }: Context): NodeJS.ProcessEnv {
  const absolute = [dataFolderVariable, "PORTCULLIS_CONFIG"].flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === "" || isAbsolute(value) ? [] : [[name, resolve(folder, value)]];
  });
  const { [tokenVariable]: _token, ...others } = { ...environment, ...Object.fromEntries(absolute) };
  return others;
}

/** One log per data folder, and the one before it; both under the user's state folder. */
function freshLog(context: Context): string {
  const { environment } = context;
  const named = environment["XDG_STATE_HOME"];
  const base =
    named !== undefined && isAbsolute(named) ? named : join(environment["HOME"] || homedir(), ".local", "state");
  const folder = join(base, "portcullis");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const which = createHash("sha256")
    .update(dataFolders(context)[0] ?? "")
    .digest("hex")
    .slice(0, 8);
  const path = join(folder, `platform-${which}.log`);
  rmSync(`${path}.1`, { force: true });
  try {
    renameSync(path, `${path}.1`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  return path;
}
