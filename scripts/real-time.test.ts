// Which files use real time, on small trees of planted files.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { realTimeFiles, realTimeOf } from "./real-time.js";

const root = mkdtempSync(join(tmpdir(), "portcullis-real-time-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function plant(path: string, text: string): string {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  return path;
}

describe("a test file uses real time", () => {
  test.each([
    ["a child process", 'import { spawn } from "node:child_process";'],
    ["a socket", 'import {\n  connect,\n  createServer,\n} from "node:net";'],
    ["a timer without an import", "await new Promise((resolve) => setTimeout(resolve, 5));"],
    ["the system's timers", 'import { systemTimers } from "../adapters/system/timers.ts";'],
    ["something that is loaded later", 'const net = await import("node:net");'],
  ])("that has %s", (name, text) => {
    expect(realTimeOf(root)(plant(`edges/${name.replaceAll(/\W/g, "-")}.test.ts`, text))).toBe(true);
  });

  test("that reaches it through the testkit, over files that import each other", () => {
    plant("testkit/one.ts", 'import { two } from "./two.ts";\nimport { spawn } from "node:child_process";');
    plant("testkit/two.ts", 'import { one } from "./one.ts";');
    expect(realTimeOf(root)(plant("edges/through.test.ts", 'import { two } from "../testkit/two.ts";'))).toBe(true);
  });

  test("not through the product, nor for a type, nor with timers that are virtual", () => {
    plant("adapters/http/server.ts", 'import { createServer } from "node:http";');
    const text = 'import { start } from "../adapters/http/server.ts";\nimport type { Server } from "node:net";\n';
    expect(realTimeOf(root)(plant("edges/product.test.ts", text))).toBe(false);
    expect(realTimeOf(root)(plant("edges/virtual.test.ts", "vi.useFakeTimers();\nsetTimeout(tick, 5);"))).toBe(false);
  });

  test("in this repository: sockets and platforms do, the simulator and the core do not", () => {
    const files = realTimeFiles();
    expect(files).toEqual(expect.arrayContaining(["acceptance/main.test.ts", "adapters/http/server.test.ts"]));
    expect(files.filter((file) => /^(core|sim)\//.test(file))).toEqual([]);
  });
});
