// A real nats-server for tests and benches: found on PATH, else in the project's cache, else fetched there from Debian's
// packages without installing anything. It listens on a free port of the loopback and dies with the process that started it.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { access, constants, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { ownPrefix, removeAbandoned } from "./abandoned.ts";

const run = promisify(execFile);
const cacheFolder = fileURLToPath(new URL("../.cache/nats-server/", import.meta.url));
const howToGetIt =
  "nats-server was not found: install the package nats-server (on Debian: apt-get install nats-server) or put the binary on PATH.";
const startMsMax = 15_000;
const folderName = "portcullis-nats-server";

export interface NatsServerOptions {
  readonly jetStream: boolean;
  /** Kept when given; otherwise a temporary folder that `stop` removes. */
  readonly storeFolder?: string;
  /** 0 or absent takes a free one. */
  readonly port?: number;
  /** Further lines of the server's own configuration, for example an authorization block. */
  readonly configuration?: string;
}

export interface NatsServer {
  readonly url: string;
  readonly port: number;
  readonly version: string;
  pid(): number;
  /** Ends the server in order and removes what it left on disk. */
  stop(): Promise<void>;
  /** SIGKILL: what the server had not written is lost. The store folder and the port stay. */
  kill(): Promise<void>;
  /** Starts it again on the same port and the same store folder. */
  restart(): Promise<void>;
}

/** Starts a server and resolves when it accepts connections. */
export async function startNatsServer(options: NatsServerOptions): Promise<NatsServer> {
  const binary = await natsServerBinary();
  const version = await versionOf(binary);
  removeAbandoned(tmpdir(), folderName);
  const folder = await mkdtemp(join(tmpdir(), ownPrefix(folderName)));
  const storeFolder = options.storeFolder ?? join(folder, "store");
  const port = options.port === undefined || options.port === 0 ? await freePort() : options.port;
  const configurationFile = join(folder, "nats.conf");
  await writeFile(configurationFile, configurationText(options, port, storeFolder), { mode: 0o600 });
  let child = await launch(binary, configurationFile, port);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    version,
    pid: () => child.pid ?? 0,
    kill: () => end("SIGKILL"),
    async stop() {
      await end("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
    async restart() {
      await end("SIGTERM");
      child = await launch(binary, configurationFile, port);
    },
  };
}

function configurationText(options: NatsServerOptions, port: number, storeFolder: string): string {
  const lines = [`host: "127.0.0.1"`, `port: ${port}`];
  if (options.jetStream) lines.push(`jetstream { store_dir: ${JSON.stringify(storeFolder)} }`);
  if (options.configuration !== undefined) lines.push(options.configuration);
  return `${lines.join("\n")}\n`;
}

async function launch(binary: string, configurationFile: string, port: number): Promise<ChildProcess> {
  // setpriv asks the kernel to end the server when its parent dies, also by SIGKILL; elsewhere an exit handler must do.
  const setpriv = await onPath("setpriv");
  const command = setpriv ?? binary;
  const before = setpriv === undefined ? [] : ["--pdeathsig", "KILL", binary];
  const child = spawn(command, [...before, "-c", configurationFile], { stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString()).slice(-4_000);
  });
  if (setpriv === undefined) {
    const endWithParent = (): void => {
      child.kill("SIGKILL");
    };
    process.once("exit", endWithParent);
    child.once("exit", () => process.removeListener("exit", endWithParent));
  }
  const deadline = Date.now() + startMsMax;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`nats-server ended at once: ${said}`);
    if (Date.now() > deadline) {
      child.kill("SIGKILL");
      throw new Error(`nats-server did not listen on port ${port} within ${startMsMax} ms: ${said}`);
    }
    await sleep(20);
  }
  return child;
}

/** Connects and waits for the INFO line, so that a port that only happens to be open does not count. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: "127.0.0.1", port });
    const finish = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1_000, () => finish(false));
    socket.once("error", () => finish(false));
    socket.once("data", (chunk) => finish(chunk.toString().startsWith("INFO ")));
  });
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port was given");
  return address.port;
}

/** The path of a usable binary. Fetching it is the last resort, and happens once per machine. */
export async function natsServerBinary(
  folder: string = cacheFolder,
  searchPath: string = process.env["PATH"] ?? "",
): Promise<string> {
  const installed = await onPath("nats-server", searchPath);
  if (installed !== undefined) return installed;
  const cached = await inCache(folder);
  if (cached !== undefined) return cached;
  try {
    return await fetchIntoCache(folder);
  } catch (cause) {
    // A parallel worker may have finished while this one failed.
    const other = await inCache(folder);
    if (other !== undefined) return other;
    throw new Error(howToGetIt, { cause });
  }
}

async function versionOf(binary: string): Promise<string> {
  const { stdout, stderr } = await run(binary, ["--version"]);
  const found = /v?(\d+\.\d+\.\d+)/.exec(stdout + stderr);
  if (found?.[1] === undefined) throw new Error(`${binary} does not say its version`);
  return found[1];
}

async function onPath(name: string, searchPath: string = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const folder of searchPath.split(delimiter)) {
    if (folder === "") continue;
    if (await isExecutable(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Cached binaries lie in one folder per version and processor, each put there by one rename. */
async function inCache(folder: string): Promise<string | undefined> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.endsWith(`-${process.arch}`)).sort()) {
    const binary = join(folder, name, "nats-server");
    if (await isExecutable(binary)) return binary;
  }
  return undefined;
}

/** Workers may fetch side by side, each in a folder of its own; the first rename wins and the others use its result. */
async function fetchIntoCache(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, ".fetch-"));
  try {
    const packageFile = await downloadPackage(work);
    await run("dpkg-deb", ["-x", packageFile, join(work, "unpacked")]);
    const unpacked = await findBinary(join(work, "unpacked"));
    const name = `${await versionOf(unpacked)}-${process.arch}`;
    const ready = join(work, name);
    await mkdir(ready);
    await rename(unpacked, join(ready, "nats-server"));
    const target = join(folder, name);
    await rename(ready, target).catch(async (cause: unknown) => {
      if (!(await isExecutable(join(target, "nats-server")))) throw cause;
    });
    return join(target, "nats-server");
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function findBinary(unpacked: string): Promise<string> {
  for (const place of ["usr/sbin/nats-server", "usr/bin/nats-server"]) {
    if (await isExecutable(join(unpacked, place))) return join(unpacked, place);
  }
  throw new Error("the package holds no nats-server");
}

/** Tries the machine's package lists first, then lists of our own: an ordinary user may not refresh the machine's. */
async function downloadPackage(work: string): Promise<string> {
  await run("apt-get", ["download", "nats-server"], { cwd: work }).catch(async () => {
    const options = await privateAptOptions(work);
    await run("apt-get", [...options, "update"], { cwd: work });
    await run("apt-get", [...options, "download", "nats-server"], { cwd: work });
  });
  const name = (await readdir(work)).find((each) => each.startsWith("nats-server_") && each.endsWith(".deb"));
  if (name === undefined) throw new Error("apt-get downloaded nothing");
  return join(work, name);
}

async function privateAptOptions(work: string): Promise<readonly string[]> {
  const state = join(work, "apt-state");
  const cache = join(work, "apt-cache");
  await mkdir(join(state, "lists", "partial"), { recursive: true });
  await mkdir(join(cache, "archives", "partial"), { recursive: true });
  const status = join(state, "status");
  await writeFile(status, await readFile("/var/lib/dpkg/status").catch(() => ""));
  const settings = [
    `Dir::State=${state}`,
    `Dir::State::status=${status}`,
    `Dir::Cache=${cache}`,
    "APT::Sandbox::User=",
  ];
  return settings.flatMap((setting) => ["-o", setting]);
}
