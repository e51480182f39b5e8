// 25.7: restrictions are listed with who opened them and why; a risk officer ends one, which is recorded, and its episode does not open it again.
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse as d } from "../../contracts/src/decimal.ts";
import type { Instant } from "../../contracts/src/instant.ts";
import type { NewRestriction } from "../../contracts/src/records/restriction.ts";
import { subjects } from "../../contracts/src/subjects.ts";
import type { RpcCall } from "../../ports/rpc.ts";
import { rejection } from "../../testkit/conformance/waiting.ts";
import { type ServiceFixture, serviceFixture } from "../../testkit/virtual/service-fixture.ts";
import { restrictionHandlers } from "./restrictions.ts";

let fixture: ServiceFixture;
let handlers: ReturnType<typeof restrictionHandlers>;
const call = { identity: { kind: "operator", actor: "operator:duty" } } as RpcCall;

const gross: NewRestriction = {
  restrictionId: "r-1",
  kind: "GROSS",
  fundId: "alpha",
  factor: d("0.5"),
  base: d("1000000.5"),
  watchdog: "portfolio_vol_dd",
  episodeId: "e-1",
  since: 1_000_000 as Instant,
};

beforeEach(() => {
  fixture = serviceFixture(257);
  handlers = restrictionHandlers(fixture.portsOf("operations"));
  fixture.tables.restrictions.set("r-1", gross);
});
afterEach(() => fixture.close());

test("25.7: what is in force is listed, and what has ended when it is asked for", async () => {
  const { restrictions } = await handlers.ListRestrictions({ include_ended: false, count_max: 0 });
  expect(restrictions).toEqual([
    {
      restriction_id: "r-1",
      kind: "GROSS",
      fund_id: "alpha",
      factor: "0.5",
      base: "1000000.5",
      watchdog: "portfolio_vol_dd",
      episode_id: "e-1",
      since: "1970-01-01T00:00:01.000000Z",
    },
  ]);
  await handlers.EndRestriction({ restriction_id: "r-1", reason: "seen" }, call);
  expect(await handlers.ListRestrictions({ include_ended: false, count_max: 0 })).toEqual({ restrictions: [] });
  const all = await handlers.ListRestrictions({ include_ended: true, count_max: 0 });
  expect(all.restrictions).toMatchObject([{ restriction_id: "r-1", ended_by: "operator:duty", end_reason: "seen" }]);
});

test("25.7: an end is recorded once, needs a reason, and is of a restriction that there is", async () => {
  expect(await handlers.EndRestriction({ restriction_id: "r-1", reason: " " }, call)).toMatchObject({
    denial: { code: "REASON_MISSING" },
  });
  const unknown = handlers.EndRestriction({ restriction_id: "r-9", reason: "seen" }, call);
  expect(await rejection(unknown, "an unknown one")).toMatchObject({ code: "NOT_FOUND" });
  expect(fixture.reported(subjects.restrictionEnded)).toEqual([]);
  const first = await handlers.EndRestriction({ restriction_id: "r-1", reason: "seen" }, call);
  expect(await handlers.EndRestriction({ restriction_id: "r-1", reason: "again" }, call)).toEqual(first);
  expect(fixture.reported(subjects.restrictionEnded)).toMatchObject([
    {
      restriction_id: "r-1",
      watchdog: "portfolio_vol_dd",
      episode_id: "e-1",
      ended_by: "operator:duty",
      reason: "seen",
    },
  ]);
  expect(fixture.reported(subjects.operatorAttempted)).toMatchObject([{ verb: "EndRestriction", target: "r-1" }]);
});
