// Which Node the parts run on: the one that npm brought, if it runs here at all.
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { findNodeRuntime } from "./node-runtime.ts";

const folder = mkdtempSync(join(tmpdir(), "portcullis-node-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const silent = { warn: expect.fail };
const root = join(import.meta.dirname, "../..");
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly optionalDependencies: Readonly<Record<string, string>>;
};

function program(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}

it("parts run on the Node that npm brought, in the version that is pinned", () => {
  const versions = new Set(Object.values(manifest.optionalDependencies));
  expect(versions.size).toBe(1);
  const found = findNodeRuntime(silent, "/somewhere/else/node");
  const said = spawnSync(found, ["--version"], { encoding: "utf8" });
  expect(said.stdout.trim()).toBe(`v${[...versions][0]}`);
});

it("where npm brought none, parts run on the Node that runs this", () => {
  expect(findNodeRuntime(silent, "/own/node", () => undefined)).toBe("/own/node");
});

it.each([
  ["is not there", () => join(folder, "missing")],
  ["is for another machine", () => program("foreign", "\u007fELF and nothing behind it")],
  ["fails when it starts", () => program("failing", "#!/bin/sh\nexit 127\n")],
])("a brought Node that %s is not used, and that is reported", (_name, make) => {
  const path = make();
  const warn = vi.fn();
  expect(findNodeRuntime({ warn }, "/own/node", () => path)).toBe("/own/node");
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.any(String), {
    brought: path,
    own: "/own/node",
    why: expect.any(String),
  });
});

it("the Node that runs this is not tried again", () => {
  const path = join(folder, "missing");
  expect(findNodeRuntime(silent, path, () => path)).toBe(path);
});
