// The idle bench in small: it must keep running and keep its keys. Its figures mean nothing at this size, so none is judged here.
import { expect, test } from "vitest";
import { runIdle } from "./idle.ts";

test("the idle bench measures processes and statements of a platform that trades", { timeout: 300_000 }, async () => {
  const { figures } = await runIdle({ settleMs: 1_000, windows: 1, windowMs: 3_000 }, () => undefined);
  expect(figures).toMatchObject({
    cpu_ms_per_s: expect.any(Number),
    statements_per_s: expect.any(Number),
    by_process: { riskengine: expect.any(Number), "postgres: portcullis riskengine": expect.any(Number) },
    statements_by_login: { riskengine: expect.any(Number), oms: expect.any(Number) },
    empty_postgres_cpu_ms_per_s: expect.any(Number),
  });
  expect((figures as { readonly statements_per_s: number }).statements_per_s).toBeGreaterThan(0);
  expect(process.listenerCount("SIGHUP")).toBe(0);
});
