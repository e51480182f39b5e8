// Whatever a report is gathered with stands in what the platform's own process for reports may ask: whoever reads something new adds it there, or every
// report that the platform makes is refused it.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { operations, platformOperations } from "../../../contracts/src/authority.ts";
import { declaredRoutes } from "../../../contracts/src/generated/routes.ts";

const operationOf = new Map<string, string>([
  ...Object.values(declaredRoutes).map(({ id, operation }) => [id, operation] as const),
  ...Object.entries(operations).flatMap(([operation, rule]) =>
    Object.keys("routes" in rule ? rule.routes : {}).map((id) => [id, operation] as const),
  ),
]);

/** The routes that are called anywhere in a file. */
async function calledIn(path: string): Promise<readonly string[]> {
  const text = await readFile(path, "utf8");
  return [...text.matchAll(/\bclient(?:\(\)\))?\s*\.(\w+)\(/g)].map(([, method = ""]) => method);
}

it("the process that makes reports may read all that reports are gathered from", async () => {
  const here = import.meta.dirname;
  const gathering = (await readdir(here)).filter((name) => /^gather-.*(?<!\.test)\.ts$/.test(name));
  const paths = [...gathering.map((name) => join(here, name)), join(here, "../verbs/report-alpha-decay.ts")];
  const called = new Set((await Promise.all(paths.map(calledIn))).flat());
  expect(called.size).toBeGreaterThan(10);
  const needed = [...called].map((method) => operationOf.get(method) ?? `no route is called ${method}`);
  expect(platformOperations.reports).toEqual(expect.arrayContaining(needed));
});
