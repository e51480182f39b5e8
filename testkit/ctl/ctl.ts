// The real command line for tests: `node_modules/.bin/ctl` as a process of its own, with a home, profiles and state of its own, nothing
// of the developer's environment, and what it printed and how it ended at hand. And the person with a browser whom its login waits for.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTestBrowser, type Shown } from "../identity/test-browser.ts";
import { eventually } from "../platform.ts";

export interface CtlAnswer {
  readonly exit: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunningCtl {
  readonly pid: number;
  readonly ended: Promise<CtlAnswer>;
  stdout(): string;
  stderr(): string;
  kill(signal: NodeJS.Signals): void;
}

export interface DeviceLogin extends RunningCtl {
  /** Carries the code. */
  readonly url: string;
  /** Where one types the code. */
  readonly plainUrl: string;
  readonly userCode: string;
}

/** A person at the pages of the embedded provider, one step after another; each throws when another page comes than it should. */
export interface Person {
  /** Opens the address that ctl showed and confirms its code. */
  confirm(login: Pick<DeviceLogin, "url" | "userCode">): Promise<void>;
  logIn(name: string, password: string): Promise<void>;
  /** With a code of the second factor, where one is set up. */
  approve(code?: string): Promise<void>;
}

export interface Ctl {
  /** Runs it to its end. */
  run(...words: readonly string[]): Promise<CtlAnswer>;
  /** Runs it with `--json` and gives its document; throws with everything it said when the exit is another than expected. */
  json(exit: number, ...words: readonly string[]): Promise<Record<string, unknown>>;
  start(...words: readonly string[]): RunningCtl;
  /** Starts `auth login` and comes back when it has shown its address and code. */
  logIn(...words: readonly string[]): Promise<DeviceLogin>;
  profilePath(profile?: string): string;
  /** What ctl remembers of a login. */
  profile(profile?: string): Record<string, string>;
  /** The same ctl with more or other variables; undefined takes one away. */
  with(environment: Readonly<Record<string, string | undefined>>): Ctl;
  /** Kills what still runs. */
  end(): Promise<void>;
}

const program = join(import.meta.dirname, "../..", "node_modules", ".bin", "ctl");

/** Everything that it keeps is below the folder; the environment is this and nothing else. */
export function ctlIn(folder: string, environment: Readonly<Record<string, string | undefined>>): Ctl {
  mkdirSync(folder, { recursive: true });
  const own = {
    PATH: process.env["PATH"],
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_STATE_HOME: join(folder, "state"),
  };
  return ctlWith(folder, { ...own, ...environment }, new Set());
}

function ctlWith(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  running: Set<RunningCtl>,
): Ctl {
  const start = (...words: readonly string[]): RunningCtl => {
    const started = startCtl(folder, environment, words);
    running.add(started);
    void started.ended.then(() => running.delete(started));
    return started;
  };
  const profilePath = (profile = "default"): string =>
    join(folder, "config", "portcullis", "profiles", `${profile}.json`);
  return {
    start,
    run: (...words) => start(...words).ended,
    async json(exit, ...words) {
      const answer = await start(...words, "--json").ended;
      if (answer.exit !== exit) throw new Error(`ctl ${words.join(" ")} did not exit ${exit}: ${described(answer)}`);
      // A failure has its document as the last line of stderr.
      const text = answer.stdout === "" ? (answer.stderr.trimEnd().split("\n").at(-1) ?? "") : answer.stdout;
      return JSON.parse(text) as Record<string, unknown>;
    },
    logIn: (...words) => shown(start("auth", "login", ...words)),
    profilePath,
    profile: (name) => JSON.parse(readFileSync(profilePath(name), "utf8")) as Record<string, string>,
    with: (more) => ctlWith(folder, { ...environment, ...more }, running),
    async end() {
      for (const each of running) each.kill("SIGKILL");
      await Promise.all([...running].map(({ ended }) => ended));
    },
  };
}

function startCtl(
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
  words: readonly string[],
): RunningCtl {
  const given = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const child: ChildProcess = spawn(process.execPath, [program, ...words], {
    cwd: folder,
    env: Object.fromEntries(given),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (text: string) => {
      output[name] += text;
    });
  }
  const ended = new Promise<CtlAnswer>((resolve, reject) => {
    child.once("error", reject);
    // Not "exit": a platform that was started in the background must not hold these pipes, and what was said must be complete.
    child.once("close", (exit, signal) => resolve({ exit, signal, ...output }));
  });
  return {
    pid: child.pid ?? 0,
    ended,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    kill: (signal) => void child.kill(signal),
  };
}

async function shown(started: RunningCtl): Promise<DeviceLogin> {
  let over: CtlAnswer | undefined;
  void started.ended.then((answer) => {
    over = answer;
  });
  const code = () => /^Code {4}(\S+)$/m.exec(started.stderr())?.[1];
  await eventually("ctl shows a code", () => code() !== undefined || over !== undefined);
  const url = /^Open {4}(\S+)$/m.exec(started.stderr())?.[1];
  const plainUrl = /^ {3}or {3}(\S+)$/m.exec(started.stderr())?.[1] ?? url;
  const userCode = code();
  if (userCode === undefined || url === undefined || plainUrl === undefined) {
    throw new Error(`ctl showed no code: ${over === undefined ? started.stderr() : described(over)}`);
  }
  return { ...started, url, plainUrl, userCode };
}

function described({ exit, signal, stdout, stderr }: CtlAnswer): string {
  return `exit ${exit ?? signal}\n${stdout}\n${stderr}`;
}

export function personAt(issuer: string): Person {
  const browser = createTestBrowser(issuer);
  let page: Shown | undefined;
  async function turn(next: Promise<Shown>, title: string): Promise<void> {
    page = await next;
    if (!page.text.includes(`<h1>${title}</h1>`)) throw new Error(`not the page "${title}": ${page.text.slice(-600)}`);
  }
  const onPage = (): Shown => {
    if (page === undefined) throw new Error("no page is open");
    return page;
  };
  return {
    async confirm({ url, userCode }) {
      // The address that carries the code has a form that sends itself.
      await turn(
        browser.open(url).then((hop) => browser.submit(hop, {})),
        "Is this you?",
      );
      if (!onPage().text.includes(userCode)) throw new Error("the page shows another code than ctl");
      await turn(browser.submit(onPage(), {}, "confirm=yes"), "Log in");
    },
    logIn: (name, password) =>
      turn(browser.submit(onPage(), { name, password }, "decision=login"), "Let Portcullis command line in?"),
    approve: (code) =>
      turn(browser.submit(onPage(), code === undefined ? {} : { code }, "decision=approve"), "You are logged in"),
  };
}
