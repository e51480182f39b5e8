// A password that is typed into the wrong field of a log-in form: whichever form and field it is, no row, no event and no line of the log keeps it.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openProviderFixture, type ProviderFixture } from "../../../testkit/identity/embedded-provider.ts";
import { type IdentityFixture, openIdentityFixture, putOperator } from "../../../testkit/identity/operators.ts";
import type { Shown, TestBrowser } from "../../../testkit/identity/test-browser.ts";
import { type TestDatabase, testDatabase } from "../../../testkit/postgres.ts";
import { systemRandom } from "../../system/random.ts";
import { systemTimers } from "../../system/timers.ts";
import { createOperators } from "../operators.ts";
import { createPasswordHashing } from "../password-hashing.ts";

const right = "correct horse";
const secret = "Tr0ub4dor-and-3";

let database: TestDatabase;
let rows: IdentityFixture;
let fixture: ProviderFixture;

beforeAll(async () => {
  database = await testDatabase();
  rows = openIdentityFixture(database.address);
  const hashing = createPasswordHashing(systemTimers());
  await putOperator(rows, { name: "duty", passwordHash: await hashing.hash(right), roles: ["operator"] });
  const people = createOperators({ ...rows, timers: systemTimers(), random: systemRandom(), hashing });
  fixture = await openProviderFixture(rows.store, { people });
});

afterAll(async () => {
  await fixture?.close();
  await rows?.close();
  await database?.drop();
});

async function atDevice(browser: TestBrowser): Promise<Shown> {
  return browser.open(`${fixture.issuer}/device`);
}

async function atLogIn(browser: TestBrowser): Promise<Shown> {
  const { body } = await fixture.post("/device/auth", { client_id: "portcullis-cli", scope: "openid" });
  const confirm = await browser.submit(await atDevice(browser), { user_code: body["user_code"] ?? "" });
  return browser.submit(confirm, {}, "confirm=yes");
}

async function atApproval(browser: TestBrowser): Promise<Shown> {
  return browser.submit(await atLogIn(browser), { name: "duty", password: right }, "decision=login");
}

describe("a password in the wrong field", () => {
  test.each([
    ["the code of a device", atDevice, { user_code: secret }, ""],
    ["the name", atLogIn, { name: secret, password: right }, "decision=login"],
    [
      "the name, with a space before it and something after it",
      atLogIn,
      { name: ` ${secret}\u0000`, password: "x" },
      "decision=login",
    ],
    ["the password of somebody else", atLogIn, { name: "duty", password: secret }, "decision=login"],
    ["a field that is not there", atLogIn, { name: "duty", password: "x", more: secret }, "decision=login"],
    ["the password at the approval of a device", atApproval, { password: secret, code: secret }, "decision=approve"],
  ] as const)("%s", async (_field, at, fields, button) => {
    const browser = fixture.browser();
    await browser.submit(await at(browser), fields, ...(button === "" ? [] : ([button] as const)));
    expect(await rows.dump()).not.toContain(secret);
    expect(fixture.lines.join("\n")).not.toContain(secret);
  });

  test("a name that nobody has is a pseudonym in the record, the same for the same name", async () => {
    const refused = (await rows.events())
      .filter(({ subject }) => subject === "svc.v1.identity.session.refused")
      .map(({ payload }) => payload["principal"]);
    const [unknown, ...others] = refused.filter((principal) => principal !== "operator:duty");
    expect(unknown).toMatch(/^operator:unknown-[0-9a-f]{12}$/);
    expect(others).toHaveLength(1);
    expect(others).not.toContain(unknown);
  });
});
