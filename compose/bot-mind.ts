// A mind: the process in which a thread's text is read and a plan is made of it. It gets one document on its first pipe, says questions and its plan on its
// second, and has nothing else. Told of a socket and a file instead, it tries to reach them and says whether it could.
import { readFileSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import { createInterface } from "node:readline";
import { similarTexts } from "../adapters/search/similar-texts.ts";
import { parseJson } from "../contracts/src/parse-json.ts";
import type { Material } from "../core/bots/material.ts";
import { think } from "../core/bots/mind/think.ts";

interface Probe {
  readonly tcp: number;
  readonly unix: string;
  readonly file: string;
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const first = (await nextLine()) as { readonly probe?: Probe; readonly material?: Material };
if (first.probe !== undefined) await say(await reached(first.probe));
else if (first.material !== undefined) await say({ said: await plan(first.material) });
process.exit(0);

async function plan(material: Material): Promise<unknown> {
  const thinking = think(material, similarTexts);
  let step = thinking.next();
  while (step.done !== true) {
    await say({ ask: step.value });
    const { answer } = (await nextLine()) as { readonly answer?: unknown };
    step = thinking.next(answer);
  }
  return step.value;
}

/** Whoever started it is gone when there is no next line. */
async function nextLine(): Promise<unknown> {
  const line = await lines.next();
  if (line.done === true) process.exit(1);
  return parseJson(line.value);
}

function say(message: object): Promise<void> {
  return new Promise((resolve) => process.stdout.write(`${JSON.stringify(message)}\n`, () => resolve()));
}

async function reached({ tcp, unix, file }: Probe): Promise<object> {
  return {
    tcp: await connects({ host: "127.0.0.1", port: tcp }),
    unix: await connects({ path: unix }),
    file: reads(file),
  };
}

function connects(where: NetConnectOpts): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const socket = connect(where);
      socket.once("connect", () => resolve(true));
      socket.once("error", () => resolve(false));
    } catch {
      // Where permissions cover the network, asking is refused already.
      resolve(false);
    }
  });
}

function reads(file: string): boolean {
  try {
    readFileSync(file);
    return true;
  } catch {
    return false;
  }
}
