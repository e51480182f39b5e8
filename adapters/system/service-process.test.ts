// A child process and whether it hangs: one that is still loading is its supervisor's to wait for, one that was ready and falls silent is killed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PartProcess, spawnService } from "./service-process.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-service-process-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A look without a beat is this long here, and twenty-one of them are too many. */
const lookMs = 10;

function spawned(script: string): PartProcess {
  const entry = join(folder, `${script.length}.js`);
  writeFileSync(entry, script);
  const grant = async (): Promise<void> => undefined;
  return spawnService({ node: process.execPath, entry, name: "test", input: {}, grant }, lookMs);
}

it("leaves a child alone that takes long to become ready, and beats for nobody meanwhile", async () => {
  const child = spawned(`setTimeout(() => process.send({ type: "ready", addresses: {} }), ${lookMs * 100});`);
  expect(await child.outcome).toEqual({ type: "ready", addresses: {} });
  await child.stop(0);
});

it("kills a child that was ready and says nothing any more", async () => {
  const child = spawned(`process.send({ type: "ready", addresses: {} }); process.on("message", () => undefined);`);
  expect((await child.outcome).type).toBe("ready");
  expect(await child.exited).toEqual({ code: null, signal: "SIGKILL" });
});
