// One order and one halt with an example's desk on a running platform: the order trades and is booked, another one rests, a halt waits for it and is proven by
// its cancellation. With Python where its packages can be had, else with TypeScript, and it says which.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { expect } from "vitest";
import { debianGrpc } from "../debian-grpc.ts";
import { eventually, type Platform } from "../platform.ts";
import { openPythonExample } from "./python-example.ts";
import { askAs, seedForeignFund } from "./seed.ts";

export type Language = "Python" | "TypeScript";

interface ShortExample {
  /** One order has traded, one rests. */
  isWorking(): Promise<boolean>;
  isCancelled(): Promise<boolean>;
  said(): string;
  end(): Promise<void>;
}

export async function availableLanguage(): Promise<Language> {
  try {
    await debianGrpc();
    return "Python";
  } catch (thrown) {
    process.stderr.write(`The desk in TypeScript is used, Python's packages cannot be had: ${String(thrown)}\n`);
    return "TypeScript";
  }
}

async function pythonExample(platform: Platform, folder: string): Promise<ShortExample> {
  const desk = await openPythonExample(platform, folder, await debianGrpc());
  desk.start("--orders", "2");
  return {
    isWorking: async () => {
      const { orders, waiting } = await desk.status();
      return orders["WORKING"] === 1 && orders["FILLED"] === 1 && waiting === 0;
    },
    isCancelled: async () => (await desk.venue()).orders["CANCELLED"] === 1,
    said: desk.said,
    end: desk.end,
  };
}

function typescriptExample(platform: Platform, folder: string): ShortExample {
  const root = join(import.meta.dirname, "..", "..");
  const words = ["--import", "tsx", join(root, "examples", "typescript", "desk.ts"), join(folder, "books.json")];
  const env = { ...process.env, PORTCULLIS_DATA_DIR: platform.dataFolder };
  const child = spawn(process.execPath, words, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
  return {
    isWorking: async () => /FILLED [\s\S]*WORKING [^\n]*\n$/.test(said),
    isCancelled: async () => /CANCELLED /.test(said),
    said: () => said,
    end: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, "exit");
      child.kill("SIGKILL");
      await exit;
    },
  };
}

export async function oneOrderOneHalt(platform: Platform, folder: string, language: Language): Promise<void> {
  await seedForeignFund(platform);
  const desk = language === "Python" ? await pythonExample(platform, folder) : typescriptExample(platform, folder);
  try {
    await eventually("one order has traded, one rests", desk.isWorking).catch((thrown: unknown) => {
      throw new Error(`${String(thrown)}\n${desk.said()}`);
    });
    const halt = { id: "harbor", reason: "a test", confirmation: "HALT" };
    expect((await askAs(platform, "POST", "/v1/halts", halt)).status).toBe(201);
    await eventually("the desk cancels", desk.isCancelled);
    type Step = { readonly step: string; readonly proven: boolean };
    type Status = { readonly progress: readonly { readonly steps: readonly Step[] }[] };
    await eventually("the halt is proven", async () => {
      const { body } = await askAs(platform, "GET", "/v1/halts/status?id=harbor");
      const found = (body as unknown as Status).progress
        ?.flatMap(({ steps }) => steps)
        .find(({ step }) => step === "CANCELLED");
      return found?.proven === true;
    });
  } finally {
    await desk.end();
  }
}
