// The whole table of who may halt, resume and co-sign, through gRPC (both services), REST and ctl: what is answered, what is in force afterwards, and
// the entry that every attempt leaves in the audit log. Here each row takes one of the surfaces in turn; all of them take all in the long form.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forwarded } from "../edges/gateway/declared/route.ts";
import type { GatewayParts } from "../edges/gateway/parts.ts";
import { haltRequest, haltResume, haltStatus } from "../edges/gateway/routes/halts.ts";
import { runFake, virtualTime } from "../testkit/ctl/fakes.ts";
import { allOr } from "../testkit/full-count.ts";
import { type MemoryHaltTableFixture, memoryHaltTableFixture } from "../testkit/halt-table/memory-fixture.ts";
import { rows, rowText } from "../testkit/halt-table/rows.ts";
import { runRow } from "../testkit/halt-table/run-row.ts";
import { ctlSurface, grpcSurface, type RunCtl, restSurface, type Surface } from "../testkit/halt-table/surfaces.ts";

const haltsList = (parts: Pick<GatewayParts, "services">) => forwarded("listHalts", parts);

let folder = "";
let fixture: MemoryHaltTableFixture;
let surfaces: readonly Surface[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "portcullis-halts-table-"));
  const routes = [haltRequest, haltResume, haltStatus, haltsList] as const;
  fixture = await memoryHaltTableFixture({ seed: 13, routes: (parts) => routes.map((route) => route(parts)) });
  const run: RunCtl = (words, environment) =>
    runFake(words, { environment: { XDG_CONFIG_HOME: folder, ...environment }, ...virtualTime(0), folder });
  surfaces = [
    grpcSurface(fixture, "Operations"),
    grpcSurface(fixture, "RiskEngine"),
    restSurface(fixture),
    ctlSurface(fixture, run),
  ];
});

afterAll(async () => {
  for (const surface of surfaces ?? []) surface.close();
  await fixture?.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("22.5: everybody who carries responsibility may stop, and only operators lift", () => {
  test.each(rows.map((row, place) => [rowText(row), row, place] as const))("%s", async (_text, row, place) => {
    const inTurn = surfaces.map((_, turn) => surfaces[(place + turn) % surfaces.length] as Surface);
    const wanted = allOr(inTurn, inTurn.slice(0, 1)).length;
    let asked = 0;
    for (const surface of inTurn) {
      if (asked < wanted && (await runRow(fixture, surface, row))) asked += 1;
    }
    // Only ctl has no words for some of them.
    expect(asked).toBeGreaterThanOrEqual(Math.min(wanted, 3));
  });
});
