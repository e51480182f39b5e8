// Tests stand beside the code, on three floors (docs/testing.md): `*.test.ts` is what everybody waits for, `*.ci.test.ts` is run by `.ci/run`
// after it, with the files whose properties have more inputs than the first floor takes, and all of them with `*.long.test.ts` by `npm run test:long`.
// scripts/test.js says by PORTCULLIS_TEST_FLOOR which is run.
import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { fullCountFiles } from "./scripts/full-count-files.js";
import { orderOf } from "./scripts/test-order.js";
import { readCommitted } from "./scripts/test-times.js";
import { cacheFolder } from "./scripts/transform-cache.js";
import { expectUsers } from "./testkit/shared/end-shared.ts";

const floor = process.env["PORTCULLIS_TEST_FLOOR"] ?? "unit";
const floors: Readonly<Record<string, { readonly include: string[]; readonly exclude: string[] }>> = {
  unit: { include: ["**/*.test.ts"], exclude: ["**/*.ci.test.ts", "**/*.long.test.ts"] },
  ci: { include: ["**/*.ci.test.ts", ...(floor === "ci" ? fullCountFiles() : [])], exclude: [] },
  long: { include: ["**/*.test.ts"], exclude: [] },
};
const chosen = floors[floor];
if (chosen === undefined) throw new Error(`PORTCULLIS_TEST_FLOOR is ${floor}: say ${Object.keys(floors).join(", ")}`);
const long = floor === "long";
/** A file that is named is meant, whichever floor it stands on. */
const named = process.argv.some((argument) => /\.(ci|long)\.test\.ts$/.test(argument));

/** By what each took when it was last measured (testkit/test-times.json). */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const root = `${this.ctx.config.root}/`;
    const names = (await super.sort(files)).map(({ moduleId }) => moduleId.replace(root, ""));
    const users = new Set(names.filter((name) => readFileSync(`${root}${name}`, "utf8").includes("= sharedPlatform(")));
    expectUsers(users.size);
    const order = orderOf(names, readCommitted(), (name) => users.has(name));
    const rank = new Map(order.map((name, index) => [`${root}${name}`, index]));
    return [...files].sort((one, other) => (rank.get(one.moduleId) ?? 0) - (rank.get(other.moduleId) ?? 0));
  }
}

export default defineConfig({
  test: {
    include: chosen.include,
    exclude: ["**/node_modules/**", "dist/**", ".cache/**", ...(named ? [] : chosen.exclude)],
    globalSetup: ["testkit/global-setup.ts"],
    setupFiles: ["testkit/times/file-times.ts"],
    testTimeout: long ? 900_000 : 60_000,
    hookTimeout: 60_000,
    // What is waited for comes soon, or late on a busy machine; only what never comes is a failure.
    expect: { poll: { timeout: 40_000, interval: 20 } },
    pool: "forks",
    // Nothing keeps state in modules, so files may share a process: a quarter of the time went into loading the same code again.
    isolate: false,
    // Most tests wait for processes and timers, so more of them fit than there are cores.
    maxWorkers: Number(process.env["PORTCULLIS_TEST_WORKERS"] ?? 3),
    sequence: { sequencer: LongestFirst },
    experimental: { fsModuleCache: true, fsModuleCachePath: cacheFolder() },
  },
});
