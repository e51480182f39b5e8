// As whom the private server runs, and how a program is started as that user. PostgreSQL refuses to run as root, so root
// starts it as an existing unprivileged user; nobody else changes user. Every program started here gets a parent-death
// signal from the kernel, so that it ends with us however we end.
//
// The kernel sends that signal when the *thread* that started the child ends: start the server from the main thread.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { messageOf } from "../../../contracts/src/fault.ts";
import { startFailed, wayOut } from "./binaries.ts";

export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** True when it is not the user that runs the platform. */
  readonly borrowed: boolean;
}

interface PasswdEntry {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const preferredNames = ["portcullis", "postgres", "nobody"];

/** The user behind the server. `preferUid` is the owner of a database that exists already. */
export async function chooseServerUser(preferUid: number | undefined): Promise<ServerUser> {
  const uid = process.getuid?.();
  const gid = process.getgid?.();
  if (process.platform !== "linux" || uid === undefined || gid === undefined) {
    throw startFailed(`The embedded PostgreSQL server runs on Linux only; ${wayOut}.`);
  }
  const entries = await passwdEntries();
  if (uid !== 0) {
    const name = entries.find((entry) => entry.uid === uid)?.name ?? (await lookUp(String(uid)))?.name;
    if (name === undefined) {
      throw startFailed(`User id ${uid} has no entry in the passwd database, which PostgreSQL needs; ${wayOut}.`);
    }
    return { name, uid, gid, borrowed: false };
  }
  const owner = preferUid === undefined || preferUid === 0 ? undefined : byUid(entries, preferUid);
  const chosen = owner ?? firstNamed(entries);
  if (chosen === undefined) {
    throw startFailed(
      `PostgreSQL does not run as root, and there is no user ${preferredNames.join(", ")} to run it as: ` +
        `start as an ordinary user, create a user named portcullis, or ${wayOut}.`,
    );
  }
  return { ...chosen, borrowed: true };
}

function byUid(entries: readonly PasswdEntry[], uid: number): PasswdEntry | undefined {
  return entries.find((entry) => entry.uid === uid);
}

function firstNamed(entries: readonly PasswdEntry[]): PasswdEntry | undefined {
  for (const name of preferredNames) {
    const entry = entries.find((candidate) => candidate.name === name && candidate.uid !== 0);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

async function passwdEntries(): Promise<readonly PasswdEntry[]> {
  return parsePasswd(await readFile("/etc/passwd", "utf8"));
}

function parsePasswd(text: string): readonly PasswdEntry[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":");
    if (name === undefined || name === "" || uid === undefined || gid === undefined) return [];
    return [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/** Users of a directory service stand in no file; getent asks the way the C library does. */
async function lookUp(key: string): Promise<PasswdEntry | undefined> {
  const answer = await run("getent", ["passwd", key], 5_000);
  return answer.ok ? parsePasswd(answer.stdout)[0] : undefined;
}

interface RunResult {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Only what PostgreSQL needs: our own environment may carry secrets. */
const environment = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C", TZ: "UTC" };

/** If we died before the kernel was told to signal our child, the child finds another parent and gives up. */
const guard = '[ "$PPID" = "$0" ] || exit 75; exec "$@"';

/**
 * The kernel sends SIGQUIT when we die: the server drops everything and recovers at its next start. SIGINT, the clean end, can hang:
 * a server that is told to end while it recovers from a crash may stay for ever.
 */
function commandLine(user: ServerUser, program: string, args: readonly string[]): readonly string[] {
  const identity = user.borrowed ? ["--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"] : [];
  return [...identity, "--pdeathsig", "QUIT", "sh", "-c", guard, String(process.pid), program, ...args];
}

/** Runs a program as the server's user to its end. */
export async function runAs(
  user: ServerUser,
  program: string,
  args: readonly string[],
  ms: number,
): Promise<RunResult> {
  return run("setpriv", commandLine(user, program, args), ms);
}

/** Starts the server in a session of its own, so that Ctrl-C on our terminal does not reach it. */
export function spawnAs(
  user: ServerUser,
  program: string,
  args: readonly string[],
  logDescriptor: number,
): ChildProcess {
  return spawn("setpriv", commandLine(user, program, args), {
    cwd: "/",
    env: environment,
    detached: true,
    stdio: ["ignore", logDescriptor, logDescriptor],
  });
}

function run(file: string, args: readonly string[], ms: number): Promise<RunResult> {
  return new Promise((resolve, reject) => {
    const options = { cwd: "/", env: environment, timeout: ms, killSignal: "SIGKILL" as const, maxBuffer: 4_194_304 };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      if (error !== null && error.code === "ENOENT") {
        reject(
          startFailed(`The program ${file} (util-linux) is not on this machine; install it, or ${wayOut}.`, error),
        );
        return;
      }
      resolve({ ok: error === null, stdout, stderr: stderr === "" && error !== null ? messageOf(error) : stderr });
    });
  });
}
