// A whole platform with people at terminals: each has a login of their own and a pane of tmux in which they type as anybody would.
import { execFile } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TOTP } from "otpauth";
import { createClient } from "../../edges/client/src/client.ts";
import type { Client } from "../../edges/client/src/types.ts";
import { developmentOperator, logInAs, operatorUrl } from "../login.ts";
import { type Platform, type StartOptions, startPlatform, temporaryFolder } from "../platform.ts";
import { type Pane, startTmux } from "./tmux.ts";

const root = join(import.meta.dirname, "../..");
export const ctlPath = join(root, "node_modules/.bin/ctl");

export interface TerminalPlatform {
  readonly platform: Platform;
  readonly folder: string;
  pane(columns: number, rows: number, more?: Readonly<Record<string, string>>): Promise<Pane>;
  /** ctl without a terminal, under a profile. */
  ctl(words: readonly string[]): Promise<{ readonly exit: number; readonly output: string }>;
  clientOf(name: string): Promise<Client>;
  tokenOf(name: string): Promise<string>;
  /** A one-time code of that person. */
  codeOf(name: string): string;
  end(): Promise<void>;
}

export async function startTerminalPlatform(options: StartOptions): Promise<TerminalPlatform> {
  const folder = temporaryFolder("terminal");
  mkdirSync(join(folder, "home"));
  const platform = startPlatform(options);
  const tmux = await startTmux(folder);
  await platform.ready();
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(folder, "home"),
    PORTCULLIS_DATA_DIR: platform.dataFolder,
    PORTCULLIS_URL: operatorUrl(platform),
  };
  const ctl = (words: readonly string[]) =>
    new Promise<{ exit: number; output: string }>((resolve) => {
      const settings = { cwd: root, env: environment, maxBuffer: 50_000_000 };
      execFile(ctlPath, [...words], settings, (error, out, err) =>
        resolve({ exit: error === null ? 0 : Number(error.code), output: error === null ? out : `${out}${err}` }),
      );
    });
  for (const name of ["duty", "relief"]) {
    const { exit, output } = await ctl([
      "auth",
      "login",
      "--dev",
      name,
      ...(name === "duty" ? [] : ["--profile", name]),
    ]);
    if (exit !== 0) throw new Error(`the login of ${name} failed: ${output}`);
  }
  const tokenOf = async (name: string): Promise<string> => (await logInAs(platform, name)).access_token;
  return {
    platform,
    folder,
    ctl,
    pane: (columns, rows, more = {}) => tmux.pane({ columns, rows }, { ...environment, ...more }),
    tokenOf,
    clientOf: async (name) => createClient({ baseUrl: operatorUrl(platform), token: await tokenOf(name) }),
    codeOf: (name) => new TOTP({ secret: developmentOperator(platform.dataFolder, name).totp_secret }).generate(),
    async end() {
      await tmux.end();
      await platform.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the desk and waits until its first list stands there. */
export async function openTui(pane: Pane, command = `${ctlPath} tui`): Promise<void> {
  await pane.type(command);
  await pane.press("Enter");
  await pane.until("the desk is live", isLive, 120_000);
}

export function isLive([first = "", , title = ""]: readonly string[]): boolean {
  return /^Portcullis {2}.*\blive \d+ s$/.test(first) && !title.includes("NOT FRESH");
}
