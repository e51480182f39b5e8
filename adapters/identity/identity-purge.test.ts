// Forgetting what ran out, and nothing else.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type IdentityFixture, openIdentityFixture, quiet, testStart } from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import { systemTimers } from "../system/timers.ts";
import { startIdentityPurge } from "./identity-purge.ts";

const dayUs = 86_400_000_000;
let database: TestDatabase;
let fixture: IdentityFixture;

beforeAll(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
});

afterAll(async () => {
  await fixture.close();
  await database.drop();
});

const purgeOf = (everyMs: number) =>
  startIdentityPurge({ ...fixture, timers: systemTimers(), log: quiet, everyMs, portionRows: 4 });
const epoch = async () => (await fixture.rows("select epoch from identity_epoch"))[0]?.["epoch"];
const names = async (text: string) => (await fixture.rows(text)).map((row) => row["n"]);

it("removes what ran out in portions, keeps the rest, and does not wake anybody when there is nothing", async () => {
  const [past, soon] = [testStart - 61_000_000, testStart - 1];
  await fixture.rows(
    "insert into oidc_state (model, id_hash, payload_sealed, expires_us) select 'S', n, '', $1 from generate_series(1, 11) n",
    [past],
  );
  const state = "insert into oidc_state (model, id_hash, payload_sealed, expires_us) values ($1, $2, '', $3)";
  await fixture.rows(state, ["S", "alive", soon]);
  // A device whose code expired is told so for an hour.
  await fixture.rows(state, ["DeviceCode", "late", past]);
  await fixture.rows(state, ["DeviceCode", "forgotten", testStart - 3_600_000_001]);
  await fixture.rows(
    "insert into step_up_proof (proof_hash, subject, action, parameters_hash, issued_us, expires_us) values ('old', '', '', '', 0, $1), ('new', '', '', '', 0, $2)",
    [past, soon],
  );
  await fixture.rows(
    "insert into identity_revocation (kind, id, revoked_us, until_us, actor) values ('token', 'old', 0, $1, ''), ('token', 'new', 0, $2, '')",
    [past, soon],
  );
  const token = `insert into service_token (id, name, secret_hash, operations, development, created_by, created_us, expires_us, revoked_us)
                 values ($1, '', $1, '{}', $2, $5, 0, $3, $4)`;
  const month = testStart - 30 * dayUs - 1;
  await fixture.rows(token, ["expired", false, month, null, "operator:duty"]);
  await fixture.rows(token, ["revoked", false, testStart + dayUs, month, "operator:duty"]);
  await fixture.rows(token, ["lately revoked", false, testStart + dayUs, month + 2, "operator:duty"]);
  // The file could bring back what the start itself made from it, and nothing else.
  await fixture.rows(token, ["development", true, month, month, "service:gateway"]);
  await fixture.rows(token, ["made by a development operator", true, month, month, "operator:duty"]);
  await fixture.rows(token, ["alive", false, testStart + dayUs, null, "operator:duty"]);
  await fixture.rows(
    "insert into second_factor (subject, actor, secret_sealed, pending_sealed, pending_us, last_step) values ('old', '', 'x', 'y', $1, 5), ('new', '', 'x', 'y', $2, 5)",
    [testStart - 661_000_000, testStart - 599_000_000],
  );
  const purge = purgeOf(3_600_000);
  expect(await purge.round()).toBe(11 + 1 + 1 + 1 + 3 + 1);
  expect(await names("select id_hash as n from oidc_state order by 1")).toEqual(["alive", "late"]);
  expect(await names("select proof_hash as n from step_up_proof")).toEqual(["new"]);
  expect(await names("select id as n from identity_revocation")).toEqual(["new"]);
  expect(await names("select id as n from service_token order by 1")).toEqual([
    "alive",
    "development",
    "lately revoked",
  ]);
  expect(await names("select subject as n from second_factor where pending_sealed is not null")).toEqual(["new"]);
  expect(await names("select last_step as n from second_factor where subject = 'old'")).toEqual(["5"]);
  const before = await epoch();
  expect(await purge.round()).toBe(0);
  expect(await epoch()).toBe(before);
  await purge.close();
});

it("does so by itself, and ends when told to", async () => {
  await fixture.rows("insert into oidc_state (model, id_hash, payload_sealed, expires_us) values ('S', 'dead', '', 0)");
  const purge = purgeOf(5);
  await expect.poll(() => names("select id_hash as n from oidc_state order by 1")).toEqual(["alive", "late"]);
  await purge.close();
});
