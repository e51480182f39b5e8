// A process for one piece of work: it is ended when it takes too long or too much memory, and however it dies only its own work is lost.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runLimited, runPiped, type WorkLimits } from "./limited-process.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "limited-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const plenty: WorkLimits = { timeMsMax: 60_000, memoryBytesMax: 2_000_000_000 };

async function ran(name: string, source: string, limits: WorkLimits = plenty, signal = new AbortController().signal) {
  const entry = join(folder, `${name}.mjs`);
  writeFileSync(entry, source);
  const heard: unknown[] = [];
  const end = await runLimited({
    entry,
    input: { word: "secret" },
    environment: {},
    limits,
    signal,
    heard: (message, answer) => {
      heard.push(message);
      if ((message as { asks?: unknown }).asks !== undefined) answer({ answered: 42 });
    },
  });
  return { end, heard };
}

describe("a process with limits", () => {
  it("is handed its work over the channel, is answered what it asks, and ends well", async () => {
    const source = `
      process.once("message", async ({ input }) => {
        const answer = new Promise((resolve) => process.once("message", resolve));
        process.send({ asks: input.word, said: process.argv.join(" ").includes("secret") });
        process.send({ answer: await answer });
        process.disconnect();
      });`;
    const { end, heard } = await ran("well", source);
    expect(end).toEqual({ kind: "done" });
    expect(heard).toEqual([{ asks: "secret", said: false }, { answer: { answered: 42 } }]);
  });
  it("lets others go first", async () => {
    const source = `
      import { getPriority } from "node:os";
      process.once("message", () => process.send(getPriority(), () => process.exit(0)));`;
    expect((await ran("priority", source)).heard).toEqual([Math.max(getPriority(), 10)]);
  });
  it("is killed when its time is up", async () => {
    const { end } = await ran("slow", "setInterval(() => {}, 1_000);", { ...plenty, timeMsMax: 1_000 });
    expect(end).toEqual({ kind: "died", why: "it took longer than 1 s" });
  });
  it("is killed when it takes more memory than it may, also outside of its heap", async () => {
    const source = "const kept = []; setInterval(() => kept.push(Buffer.alloc(20_000_000, 1)), 20);";
    const { end } = await ran("large", source, { ...plenty, memoryBytesMax: 300_000_000 });
    expect(end).toEqual({ kind: "died", why: "it took more than 0.3 GB of memory" });
  });
  it("that throws, is killed or is not wanted any more has died, with why", async () => {
    expect((await ran("throws", "process.exit(3);")).end).toEqual({ kind: "died", why: "its process ended with 3" });
    const killed = await ran("killed", "process.kill(process.pid, 'SIGKILL');");
    expect(killed.end).toEqual({ kind: "died", why: "its process ended with SIGKILL" });
    const unwanted = await ran("unwanted", "setInterval(() => {}, 1_000);", plenty, AbortSignal.timeout(500));
    expect(unwanted.end).toEqual({ kind: "died", why: "it was ended" });
  });
});

describe("a process with three pipes", () => {
  const piped = (source: string, lineBytesMax = 1_000) => {
    const heard: string[] = [];
    const end = runPiped({
      command: [process.execPath, "-e", source],
      limits: plenty,
      signal: new AbortController().signal,
      input: "first",
      lineBytesMax,
      heard: (line, answer) => {
        heard.push(line);
        answer("second");
      },
    });
    return end.then((ended) => ({ ended, heard }));
  };

  it("has no environment and no channel, and is handed lines", async () => {
    const source = `
      const lines = [];
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        lines.push(line);
        console.log(JSON.stringify([lines, Object.keys(process.env), typeof process.send, process.cwd()]));
        if (lines.length === 2) process.exit(0);
      });`;
    expect(await piped(source)).toEqual({
      ended: { kind: "done" },
      heard: ['[["first"],[],"undefined","/"]', '[["first","second"],[],"undefined","/"]'],
    });
  });

  it("is ended where it says a longer line than it may", async () => {
    const { ended, heard } = await piped('setInterval(() => process.stdout.write("x".repeat(600)), 1)');
    expect(ended).toEqual({ kind: "died", why: "it said more than it may" });
    expect(heard).toEqual([]);
  });
});
