// The test Vault itself keeps to the documented protocol: what is asserted here is what the API documentation states, request
// by request, so that the adapter is not merely tested against its own idea of Vault.
import { afterEach, beforeEach, expect, it } from "vitest";
import { systemRandom } from "../adapters/system/random.ts";
import type { Instant } from "../contracts/src/instant.ts";
import { fetchOnNewConnection } from "./http/fetch-on-new-connection.ts";
import { startVaultServer, type VaultServer } from "./vault-server.ts";

let server: VaultServer;
let nowS = 1_700_000_000;
beforeEach(async () => {
  server = await startVaultServer({
    clock: { now: () => (nowS * 1e6) as Instant },
    random: systemRandom(),
    leaseS: 60,
    leaseMaxS: 100,
  });
});
afterEach(() => server.stop());

async function ask(method: string, path: string, body?: unknown, token = server.rootToken) {
  const response = await fetchOnNewConnection(`${server.address}/v1/${path}`, {
    method,
    headers: { "x-vault-token": token },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

it("writes versions with and without check-and-set", async () => {
  const data = { value: "a" };
  expect((await ask("POST", "secret/data/a", { data, options: { cas: 0 } })).body.data.version).toBe(1);
  expect(await ask("POST", "secret/data/a", { data, options: { cas: 0 } })).toEqual({
    status: 400,
    body: { errors: ["check-and-set parameter did not match the current version"] },
  });
  expect((await ask("PUT", "secret/data/a", { data, options: { cas: 1 } })).body.data.version).toBe(2);
  expect((await ask("POST", "secret/data/a", { data: { value: "c" } })).body.data.version).toBe(3);
  expect((await ask("GET", "secret/data/a")).body.data.data).toEqual({ value: "c" });
  expect((await ask("GET", "secret/data/a?version=1")).body.data.metadata.version).toBe(1);
  expect((await ask("POST", "secret/data/a", {})).status).toBe(400);
});

it("answers a deleted version with 404 and its metadata, an unknown path with 404 and no errors", async () => {
  await ask("POST", "secret/data/a", { data: { value: "a" } });
  expect((await ask("DELETE", "secret/data/a")).status).toBe(204);
  const deleted = await ask("GET", "secret/data/a");
  expect([deleted.status, deleted.body.data.data, deleted.body.data.metadata.version]).toEqual([404, null, 1]);
  expect((await ask("POST", "secret/data/a", { data: {}, options: { cas: 0 } })).status).toBe(400);
  await ask("POST", "secret/undelete/a", { versions: [1] });
  expect((await ask("GET", "secret/data/a")).status).toBe(200);
  expect(await ask("GET", "secret/data/b")).toEqual({ status: 404, body: { errors: [] } });
  expect((await ask("GET", "kv/data/b")).body.errors).toHaveLength(1);
});

it("lists one level, folders with a slash", async () => {
  for (const key of ["foo", "foo/bar", "foo/baz/deep"])
    await ask("POST", `secret/data/${key}`, { data: { value: "v" } });
  expect((await ask("GET", "secret/metadata/?list=true")).body.data.keys).toEqual(["foo", "foo/"]);
  expect((await ask("GET", "secret/metadata/foo?list=true")).body.data.keys).toEqual(["bar", "baz/"]);
  expect(await ask("GET", "secret/metadata/none?list=true")).toEqual({ status: 404, body: { errors: [] } });
});

it("lets leases run out, renews them up to the greatest age, and refuses what it does not know", async () => {
  const credentials = { role_id: server.roleId, secret_id: server.secretId };
  expect((await ask("POST", "auth/approle/login", { ...credentials, secret_id: "x" })).status).toBe(400);
  const { auth } = (await ask("POST", "auth/approle/login", credentials)).body;
  expect([auth.lease_duration, auth.renewable]).toEqual([60, true]);
  const token = auth.client_token;
  nowS += 50;
  expect((await ask("GET", "auth/token/lookup-self", undefined, token)).body.data.ttl).toBe(10);
  expect((await ask("POST", "auth/token/renew-self", {}, token)).body.auth.lease_duration).toBe(50);
  nowS += 49;
  expect((await ask("POST", "auth/token/renew-self", {}, token)).body.auth.lease_duration).toBe(1);
  nowS += 1;
  expect((await ask("GET", "auth/token/lookup-self", undefined, token)).status).toBe(403);
  expect((await ask("POST", "auth/token/renew-self", {})).status).toBe(400);
  const fixed = server.issueToken({ leaseS: 60, renewable: false });
  expect(await ask("POST", "auth/token/renew-self", {}, fixed)).toEqual({
    status: 400,
    body: { errors: ["lease is not renewable"] },
  });
});

it("answers 503 while sealed and 429 while limited", async () => {
  server.seal();
  expect(await ask("GET", "secret/data/a")).toEqual({ status: 503, body: { errors: ["Vault is sealed"] } });
  server.unseal();
  server.limitRate(1);
  expect((await ask("GET", "secret/data/a")).status).toBe(429);
  expect((await ask("GET", "secret/data/a")).status).toBe(404);
});
