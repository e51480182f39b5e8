// The development operators: file and rows agree after every start, whatever happened in between.
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret, TOTP } from "otpauth";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { plusMilliseconds, toUnixMs } from "../../contracts/src/instant.ts";
import { developmentTokenOperations } from "../../testkit/identity/development-token.ts";
import {
  type IdentityFixture,
  openIdentityFixture,
  person,
  putOperator,
  quiet,
} from "../../testkit/identity/operators.ts";
import { type TestDatabase, testDatabase } from "../../testkit/postgres.ts";
import type { PostgresStore } from "../postgres/store.ts";
import { systemRandom } from "../system/random.ts";
import { systemTimers } from "../system/timers.ts";
import { type CredentialsFile, type DevelopmentCredentials, openCredentialsFile } from "./development-file.ts";
import { ensureDevelopmentOperators } from "./development-operators.ts";
import { isSubjectRevoked } from "./logins/revocation-rows.ts";
import { createOperators } from "./operators.ts";
import type { PasswordHashing } from "./password-hashing.ts";
import { removeDevelopmentOperators } from "./remove-development-operators.ts";
import { createSealing, hashOf } from "./sealing.ts";
import { createSecondFactors } from "./second-factors.ts";
import { createServiceTokens, createTokenChanges } from "./service-tokens.ts";
import { makeProof } from "./step-up-proofs.ts";

const issuer = "http://127.0.0.1:8080/oidc";
const random = systemRandom();
/** Quick, because these tests start the platform many times; the real one has its own test. */
const hashing: PasswordHashing = {
  hash: async (password) => `quick ${hashOf(password)}`,
  verify: async (hash, password) => hash === `quick ${hashOf(password)}`,
};

let database: TestDatabase;
let fixture: IdentityFixture;
let folder: string;
let path: string;

beforeEach(async () => {
  database = await testDatabase();
  fixture = openIdentityFixture(database.address);
  folder = await mkdtemp(join(tmpdir(), "portcullis-development-"));
  path = join(folder, "dev-credentials.json");
});

afterEach(async () => {
  await fixture.close();
  await database.drop();
  await rm(folder, { recursive: true, force: true });
});

interface Changed {
  readonly store?: PostgresStore;
  readonly issuer?: string;
  readonly file?: CredentialsFile;
}

const tokensOf = () =>
  createServiceTokens({
    ...options(),
    changes: createTokenChanges({ random }),
    isProduction: false,
    people: async () => "external",
  });

const options = (changed: Changed = {}) => ({
  dataFolder: folder,
  issuer,
  store: fixture.store,
  sealing: fixture.sealing,
  hashing,
  clock: fixture.clock,
  timers: systemTimers(),
  random,
  log: quiet,
  sessionS: 43_200,
  ...changed,
});

const ensure = (changed?: Changed) => ensureDevelopmentOperators(options(changed));
const remove = (changed?: Changed) => removeDevelopmentOperators(options(changed));
const read = async (): Promise<DevelopmentCredentials> => JSON.parse(await readFile(path, "utf8"));
const factors = () => createSecondFactors({ ...options() });

async function secretOf(name: string): Promise<string> {
  return (await read()).operators.find((one) => one.name === name)?.totp_secret ?? "";
}

const codeOf = (secret: string): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: toUnixMs(fixture.clock.now()) });

const halt = { action: "ResumeHalt", parameters: {} } as const;
const stepUp = async (name: string, at = issuer) =>
  factors().stepUp(person(name, at), halt, { kind: "totp", code: codeOf(await secretOf(name)) });

/** Everything that the file says is true in the rows, and nothing else of the kind is. */
async function expectAgreement(at = issuer): Promise<void> {
  const { operators: named, service_token } = await read();
  const operators = createOperators(options());
  for (const { name, password, roles } of named) {
    const answer = await operators.authenticate(name, password, "");
    expect(answer, name).toEqual({ ok: true, name, roles });
    fixture.clock.pass(60_000);
    expect(await stepUp(name, at), name).toMatchObject({ ok: true });
  }
  expect(await fixture.rows("select subject from second_factor order by subject")).toEqual(
    named
      .map(({ name }) => ({ subject: `${at}|${name}` }))
      .sort((left, right) => (left.subject < right.subject ? -1 : 1)),
  );
  const live = await fixture.rows(
    "select name, operations, secret_hash from service_token where development and revoked_us is null and expires_us > $1",
    [fixture.clock.now()],
  );
  expect(live).toEqual([
    { name: "order-management", operations: expect.any(Array), secret_hash: hashOf(service_token) },
  ]);
  expect([live[0]?.["operations"]].flat().sort()).toEqual([...developmentTokenOperations()].sort());
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["dev-credentials.json"]);
}

describe("a start in development", () => {
  it("makes three people and a machine, whose credentials lie in the file and nowhere else", async () => {
    await ensure();
    const credentials = await read();
    expect(credentials.operators.map(({ name, roles }) => [name, roles])).toEqual([
      ["duty", ["operator", "risk_officer", "admin"]],
      ["relief", ["operator", "risk_officer"]],
      ["viewer", ["viewer"]],
    ]);
    expect(Object.keys(credentials)).toEqual(["operators", "service_token"]);
    await expectAgreement();
    const everything = await fixture.dump();
    for (const { password, totp_secret } of credentials.operators) {
      expect(everything).not.toContain(password);
      expect(everything).not.toContain(totp_secret);
    }
    expect(everything).not.toContain(credentials.service_token.slice(-43));
    expect(await fixture.rows("select * from identity_revocation"), "nobody was there before").toEqual([]);
  });

  it("changes nothing the second time, and a used code stays used", async () => {
    await ensure();
    expect(await stepUp("duty")).toMatchObject({ ok: true });
    const [file, rows] = [await readFile(path, "utf8"), await fixture.dump()];
    const epoch = await fixture.rows("select epoch from identity_epoch");
    await ensure();
    expect(await readFile(path, "utf8")).toBe(file);
    expect(await fixture.dump()).toBe(rows);
    expect(await fixture.rows("select epoch from identity_epoch")).toEqual(epoch);
    expect(await stepUp("duty"), "replayed").toMatchObject({ denial: { code: "SECOND_FACTOR_WRONG" } });
  });

  it("moves the factors when the issuer has another address, and a used code stays used", async () => {
    await ensure();
    expect(await stepUp("duty")).toMatchObject({ ok: true });
    const moved = "http://127.0.0.1:9999/oidc";
    await ensure({ issuer: moved });
    expect(await stepUp("duty", moved)).toMatchObject({ denial: { code: "SECOND_FACTOR_WRONG" } });
    await expectAgreement(moved);
  });

  it.each([
    ["missing", async () => rm(path)],
    ["empty", async () => writeFile(path, "")],
    ["cut off", async () => writeFile(path, (await readFile(path, "utf8")).slice(0, 200))],
    [
      "without a person",
      async () => writeFile(path, JSON.stringify({ ...(await read()), operators: (await read()).operators.slice(1) })),
    ],
    [
      "with a weak password",
      async () => writeFile(path, (await readFile(path, "utf8")).replace(/"password": "[^"]+"/, '"password": "a"')),
    ],
  ])("makes new credentials when the file is %s, and ends what the old ones opened", async (_what, damage) => {
    await ensure();
    const before = await read();
    await damage();
    fixture.clock.pass(10_500);
    await ensure();
    const after = await read();
    for (const [index, operator] of after.operators.entries()) {
      expect(operator.password).not.toBe(before.operators[index]?.password);
      expect(operator.totp_secret).not.toBe(before.operators[index]?.totp_secret);
    }
    expect(after.service_token).not.toBe(before.service_token);
    const issuedAt = (who: string, ms: number) =>
      fixture.store.transactSql("test", (_unit, sql) =>
        isSubjectRevoked(sql, who, plusMilliseconds(fixture.clock.now(), ms)),
      );
    for (const who of [`${issuer}|duty`, "operator:duty"]) {
      expect(await issuedAt(who, -1_000), who).toBe(true);
      expect(await issuedAt(who, -500), "the whole second in which the new life begins").toBe(false);
    }
    await expectAgreement();
  });

  it("replaces a token that was revoked instead of bringing it back", async () => {
    await ensure();
    const before = await read();
    const tokens = tokensOf();
    const [token] = await tokens.list();
    expect(await tokens.revoke(person("duty"), token?.id ?? "")).toMatchObject({ ok: true });
    await ensure();
    const after = await read();
    expect(after.service_token).not.toBe(before.service_token);
    expect(after.operators).toEqual(before.operators);
    await expectAgreement();
  });

  it("mends rows that differ from the file, also those sealed under a lost key", async () => {
    await ensure();
    await fixture.rows(
      "update operator set roles = '{viewer}', password_hash = (select password_hash from operator where name = 'viewer')",
    );
    await fixture.rows("delete from operator where name = 'relief'");
    await fixture.rows("update second_factor set secret_sealed = '\\x00' where subject like '%duty'");
    const strange = createSealing(random.bytes(32), random);
    await fixture.rows("update second_factor set secret_sealed = $1 where subject like '%viewer'", [
      strange.seal("X", "y"),
    ]);
    await fixture.rows("delete from service_token");
    await ensure();
    await expectAgreement();
  });

  it("shuts a file that others could read", async () => {
    await ensure();
    await chmod(path, 0o644);
    await ensure();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("leaves a real person of the same name alone", async () => {
    const real = { name: "duty", roles: ["viewer"] } as const;
    await putOperator(fixture, { ...real, passwordHash: "theirs" });
    await ensure();
    expect(await createOperators(options()).find("duty")).toEqual(real);
    expect(await fixture.rows("select 1 from second_factor where actor = 'operator:duty'")).toEqual([]);
    await remove();
    expect(await createOperators(options()).find("duty")).toEqual(real);
  });
});

/** A store whose nth transaction fails, before or after it became durable. */
function failing(store: PostgresStore, count: number, when: "before" | "after"): PostgresStore {
  let left = count;
  return {
    ...store,
    async transactSql(name, work) {
      left -= 1;
      if (left === 0 && when === "before") throw new Error("planned");
      const result = await store.transactSql(name, work);
      if (left === 0) throw new Error("planned");
      return result;
    },
  };
}

/** A file that fails before or after its nth act. */
function failingFile(count: number, when: "before" | "after"): CredentialsFile {
  const file = openCredentialsFile(folder, quiet);
  let left = count;
  async function act<T>(work: () => Promise<T>): Promise<T> {
    left -= 1;
    if (left === 0 && when === "before") throw new Error("planned");
    const result = await work();
    if (left === 0) throw new Error("planned");
    return result;
  }
  return {
    path: file.path,
    read: () => act(file.read),
    write: (credentials) => act(() => file.write(credentials)),
    remove: () => act(file.remove),
  };
}

const interruptions = ([1, 2, 3, 4] as const).flatMap((count) =>
  (["before", "after"] as const).map((when) => ({ count, when })),
);
const planned = (thrown: unknown): string => {
  expect(thrown).toMatchObject({ message: "planned" });
  return "interrupted";
};

describe("a crash", () => {
  it("anywhere in a start is mended by the next", { timeout: 90_000 }, async () => {
    let interrupted = 0;
    for (const { count, when } of interruptions) {
      for (const changed of [{ store: failing(fixture.store, count, when) }, { file: failingFile(count, when) }]) {
        await rm(path, { force: true });
        const end = await ensure(changed).then(() => "done", planned);
        if (end === "interrupted") interrupted += 1;
        await ensure();
        await expectAgreement();
      }
    }
    expect(interrupted).toBeGreaterThanOrEqual(8);
  });

  it("leaves a temporary file that the next start clears away", async () => {
    await writeFile(`${path}.tmp`, "half a fi", { mode: 0o600 });
    await ensure();
    await expectAgreement();
  });

  it("anywhere in a removal is mended by the next", { timeout: 90_000 }, async () => {
    let interrupted = 0;
    await fixture.rows("insert into identity_issuer (issuer, updated_us) values ($1, 0)", [issuer]);
    for (const { count, when } of interruptions.slice(0, 4)) {
      for (const changed of [{ store: failing(fixture.store, count, when) }, { file: failingFile(count, when) }]) {
        await ensure();
        const end = await remove(changed).then(() => "done", planned);
        if (end === "interrupted") interrupted += 1;
        await remove();
        await expectNothingLeft();
      }
    }
    expect(interrupted).toBeGreaterThanOrEqual(5);
  });
});

async function expectNothingLeft(): Promise<void> {
  for (const table of ["operator", "second_factor", "service_token", "step_up_proof"]) {
    expect(await fixture.rows(`select * from ${table}`), table).toEqual([]);
  }
  expect(await readdir(folder)).toEqual([]);
}

describe("a start in production", () => {
  it("removes people, factors, sessions, machine and file, says so once, and leaves others alone", async () => {
    await fixture.rows("insert into identity_issuer (issuer, updated_us) values ($1, 0)", [issuer]);
    await ensure();
    expect(await stepUp("relief")).toMatchObject({ ok: true });
    const elsewhere = person("duty", "https://login.example");
    expect(await factors().begin(elsewhere, undefined)).toMatchObject({ ok: true });
    const said: string[] = [];
    const log = { ...quiet, info: (message: string) => void said.push(message) };
    await removeDevelopmentOperators({ ...options(), log });
    await removeDevelopmentOperators({ ...options(), log });
    expect(said).toHaveLength(1);
    expect(await fixture.rows("select subject from second_factor")).toEqual([{ subject: elsewhere.subject }]);
    await fixture.rows("delete from second_factor");
    await expectNothingLeft();
    const ended = await fixture.rows("select id from identity_revocation where kind = 'subject' order by id");
    expect(ended.map(({ id }) => id)).toEqual(
      [`${issuer}|`, "operator:"].flatMap((prefix) => ["duty", "relief", "viewer"].map((name) => `${prefix}${name}`)),
    );
  });

  it("takes the machines' tokens along that these people made, and no others", async () => {
    await fixture.rows("insert into identity_issuer (issuer, updated_us) values ($1, 0)", [issuer]);
    await ensure();
    const tokens = tokensOf();
    const request = { name: "acme", operations: ["CheckOrder"], expiresInS: 3_600 } as const;
    const named = {
      action: "IssueServiceToken",
      parameters: { name: "acme", operations: ["CheckOrder"], expires_in_s: 3_600 },
    } as const;
    for (const identity of [person("duty"), person("duty", "https://login.example"), person("erika")]) {
      const { proof } = await fixture.store.transactSql("test", (_unit, sql) =>
        makeProof(sql, random, { identity, named, at: fixture.clock.now() }),
      );
      expect(await tokens.issue(identity, request, proof)).toMatchObject({ ok: true });
    }
    const [real] = (await tokens.list()).filter(({ createdBy }) => createdBy === "operator:erika");
    const rotation = { id: real?.id ?? "", overlap_s: 600, expires_in_s: 3_600 };
    const { proof } = await fixture.store.transactSql("test", (_unit, sql) =>
      makeProof(sql, random, {
        identity: person("duty"),
        named: { action: "RotateServiceToken", parameters: rotation },
        at: fixture.clock.now(),
      }),
    );
    const rotated = { id: rotation.id, overlapS: 600, expiresInS: 3_600 };
    expect(await tokens.rotate(person("duty"), rotated, proof)).toMatchObject({ ok: true });
    expect(await fixture.rows("select created_by from service_token where development order by 1")).toEqual(
      ["operator:duty", "operator:duty", "service:gateway"].map((created_by) => ({ created_by })),
    );
    await remove();
    expect(await fixture.rows("select created_by from service_token order by 1")).toEqual(
      ["operator:duty", "operator:erika"].map((created_by) => ({ created_by })),
    );
  });

  it("writes nothing where there was nothing", async () => {
    const epoch = await fixture.rows("select epoch from identity_epoch");
    await remove();
    expect(await fixture.events()).toEqual([]);
    expect(await fixture.rows("select epoch from identity_epoch")).toEqual(epoch);
  });
});
