// The whole table of who may halt, resume and co-sign on the real thing: every row through every surface of a running platform on PostgreSQL, with real tokens
// and authenticators, against its audit log as it stands in the database.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runFake, virtualTime } from "../testkit/ctl/fakes.ts";
import type { HaltTableFixture } from "../testkit/halt-table/fixture.ts";
import { platformFixture } from "../testkit/halt-table/platform-fixture.ts";
import { rows, rowText } from "../testkit/halt-table/rows.ts";
import { runRow } from "../testkit/halt-table/run-row.ts";
import { ctlSurface, grpcSurface, type RunCtl, restSurface, type Surface } from "../testkit/halt-table/surfaces.ts";

let folder = "";
let fixture: HaltTableFixture;
let surfaces: readonly Surface[];
const asked = new Map<string, number>();

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-halts-table-"));
  fixture = await platformFixture();
  const run: RunCtl = (words, environment) =>
    runFake(words, { environment: { XDG_CONFIG_HOME: folder, ...environment }, ...virtualTime(Date.now()), folder });
  surfaces = [
    grpcSurface(fixture, "Operations"),
    grpcSurface(fixture, "RiskEngine"),
    restSurface(fixture),
    ctlSurface(fixture, run),
  ];
}, 180_000);

afterAll(async () => {
  for (const surface of surfaces ?? []) surface.close();
  await fixture?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe("who may halt, resume and co-sign, on a running platform", () => {
  test.each(rows.map((row) => [rowText(row), row] as const))("%s", async (_text, row) => {
    for (const surface of surfaces) {
      if (await runRow(fixture, surface, row)) asked.set(surface.name, (asked.get(surface.name) ?? 0) + 1);
    }
  });

  test.each([0, 1, 2])(
    "a resume with rebase writes new baselines, and one without writes none (surface %i)",
    async (place) => {
      const surface = surfaces[place] as Surface;
      const lift = { verb: "resume", level: "FUND_HALT", target: "alpha", word: "RESUME", reason: "agreed" } as const;
      for (const rebase of [undefined, true] as const) {
        await fixture.stand();
        const by = await (rebase ? fixture.caller("operator and risk_officer") : fixture.caller("operator", "none"));
        const anew = rebase && { rebase, code: await fixture.codeOf(by, "right") };
        const answer = await surface.ask(by, { ...lift, ...anew });
        expect([answer?.code, answer?.body["baseline"]]).toEqual(["", rebase ? "rebased" : "kept"]);
        const setters = await fixture.baselinesSetBy("alpha");
        expect(setters.length).toBeGreaterThan(0);
        expect(setters.includes(by.actor)).toBe(rebase === true);
      }
    },
  );

  test("every surface was asked everything that it has words for", () => {
    expect(Object.fromEntries(asked)).toEqual({
      Operations: rows.length,
      RiskEngine: rows.length,
      REST: rows.length,
      ctl: rows.filter(({ cosignedBy, haltIds }) => cosignedBy === "not said" && haltIds === "not said").length,
    });
  });
});
