// Starts the attackers of `siege-main.ts`, which share nothing with whoever measures, and tells how they fare.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export const attackNames = [
  "idle riskengine",
  "idle operations",
  "idle gateway",
  "frames riskengine",
  "frames operations",
  "reflection riskengine",
  "reflection operations",
  "resets riskengine",
  "resets operations",
  "paths",
  "documents",
  "widest bodies",
  "devices",
  "log-ins",
  "beginnings",
] as const;

export type AttackName = (typeof attackNames)[number];

export interface SiegeTargets {
  /** host:port of each listener. */
  readonly riskengine: string;
  readonly operations: string;
  readonly gateway: string;
  /** A viewer's token, for what readers do. */
  readonly viewer: string;
  /** The attacks that are wanted; all without it. */
  readonly kinds?: readonly AttackName[];
}

export interface RunningSiege {
  /** How often each attack was cut or answered, by its name. */
  counts(): Readonly<Record<string, number>>;
  end(): Promise<void>;
}

export function startSiege(targets: SiegeTargets): RunningSiege {
  const words = ["--import", "tsx", "testkit/hostile/siege-main.ts", JSON.stringify(targets)];
  const child = spawn(process.execPath, words, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  let counts: Readonly<Record<string, number>> = {};
  createInterface(child.stdout).on("line", (line) => {
    counts = (JSON.parse(line) as { readonly counts: Readonly<Record<string, number>> }).counts;
  });
  return {
    counts: () => counts,
    end: async () => {
      child.stdin.end();
      await exited;
    },
  };
}
